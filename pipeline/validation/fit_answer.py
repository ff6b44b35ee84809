"""What `joulebook law fit` answers: coefficients, how sure they are, and the row to paste."""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.reference import reference_rows
from pipeline.validation.fit import FORMS, Fit
from pipeline.validation.measured_work import Measurement
from pipeline.validation.measurements import Reading


def answer(reading: Reading, fitted: Fit) -> dict[str, Any]:
    """Return the fit as plain values, ready for JSON."""
    row = coefficient_row(reading.rows, fitted)
    return {
        "row_count": fitted.row_count,
        "architecture_count": len(fitted.architectures),
        "architectures": list(fitted.architectures),
        "form": fitted.form,
        "coefficients": _coefficients(fitted),
        "mape_in_sample_frac": fitted.errors.mape_in_sample_frac,
        "mape_leave_one_architecture_out_frac": (
            fitted.errors.mape_leave_one_architecture_out_frac
        ),
        "forms": [
            {
                "form": each.form,
                "mape_in_sample_frac": each.mape_in_sample_frac,
                "mape_leave_one_architecture_out_frac": each.mape_leave_one_architecture_out_frac,
            }
            for each in fitted.forms
        ],
        "condition_index": fitted.condition_index,
        "left_out": dict(sorted(reading.left_out.items())),
        "unknown_models": sorted(reading.unknown_models),
        "notes": _notes(reading.rows, fitted),
        "coefficient_row": row,
        "coefficient_csv": row and csv_line(row),
    }


def coefficient_row(rows: Sequence[Measurement], fitted: Fit) -> dict[str, str] | None:
    """Return a row for `data/reference/law_coefficients.csv`; None where it has several owners."""
    gpus, stacks = {row.gpu for row in rows}, {row.stack for row in rows}
    if len(gpus) > 1 or len(stacks) > 1:
        return None
    [gpu], [stack] = gpus, stacks
    unseen = fitted.errors.mape_leave_one_architecture_out_frac
    prices = {name: f"{value:.4g}" for name, value in fitted.coefficients._asdict().items()}
    return {
        "coefficient_set_id": re.sub(r"[^a-z0-9]+", "-", f"{gpu}-{stack}-fit".lower()),
        "gpu": gpu,
        "stack": stack,
        **prices,
        "architecture_count": str(len(fitted.architectures)),
        "mape_in_sample_frac": f"{fitted.errors.mape_in_sample_frac:.4f}",
        "mape_leave_one_architecture_out_frac": "" if unseen is None else f"{unseen:.4f}",
        **_domain(rows),
        "is_default": "false",
        "source": _source(rows, fitted),
        "source_date": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def csv_line(row: Mapping[str, str]) -> str:
    """Return a row as a line of CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(row.values())
    return text.getvalue()


def as_text(found: Mapping[str, Any]) -> str:
    """Return an answer for a terminal."""
    lines = [
        f"{found['row_count']} rows, {found['architecture_count']} architectures, "
        f"step cost per {found['form'].replace('both', 'layer and step')}"
    ]
    for name, each in found["coefficients"].items():
        span = "" if each["low"] is None else f"  ({each['low']:.4g} to {each['high']:.4g})"
        doubt = "" if each["is_identified"] else f"  not identified: {each['reason']}"
        lines.append(f"  {name:<20} {each['value']:<10.4g}{span}{doubt}")
    for each in found["forms"]:
        unseen = each["mape_leave_one_architecture_out_frac"]
        lines.append(
            f"  step cost per {each['form']:<6} error {each['mape_in_sample_frac']:.2%} on these "
            "rows, "
            + ("unknown" if unseen is None else f"{unseen:.2%}")
            + " on an architecture left out"
        )
    if found["coefficient_csv"]:
        lines.append(f"Row for data/reference/law_coefficients.csv:\n{found['coefficient_csv']}")
    return "\n".join(lines) + "\n"


def _coefficients(fitted: Fit) -> dict[str, dict[str, Any]]:
    return {
        name: {
            "value": value,
            "low": fitted.intervals.get(name, (None, None))[0],
            "high": fitted.intervals.get(name, (None, None))[1],
            "is_identified": name not in fitted.unidentified,
            "reason": fitted.unidentified.get(name),
        }
        for name, value in fitted.coefficients._asdict().items()
        if name in FORMS[fitted.form]
    }


def _domain(rows: Sequence[Measurement]) -> dict[str, str]:
    lengths: dict[str, Callable[[Measurement], float]] = {
        "input_tokens": lambda row: row.input_tokens,
        "output_tokens": lambda row: row.output_tokens,
        "batch": lambda row: row.batch,
    }
    return {
        f"{name}_{end}": f"{edge(map(value, rows)):.0f}"
        for name, value in lengths.items()
        for end, edge in (("low", min), ("high", max))
    }


def _source(rows: Sequence[Measurement], fitted: Fit) -> str:
    datasets = ", ".join(sorted({row.dataset for row in rows}))
    loose = ", ".join(name.split("_")[0] for name in fitted.unidentified)
    return (
        f"fit by us to {fitted.row_count} rows of {datasets}, "
        f"{len(fitted.architectures)} architectures"
        + (f"; {loose} not identified by these data" if loose else "")
    )


def _notes(rows: Sequence[Measurement], fitted: Fit) -> list[str]:
    notes = []
    gpus, stacks = {row.gpu for row in rows}, {row.stack for row in rows}
    if len(gpus) > 1 or len(stacks) > 1:
        notes.append(
            f"coefficients belong to one GPU and stack, these rows have {len(gpus)} GPUs and "
            f"{len(stacks)} stacks: no row to paste; narrow with --gpu and --stack"
        )
    unknown = sorted(gpus - {row["gpu"] for row in reference_rows("gpus")})
    if unknown:
        notes.append(
            f"GPU {', '.join(unknown)} has no row in data/reference/gpus.csv: overflow of its "
            "cache could not be judged, and a coefficient row needs one"
        )
    if not fitted.intervals:
        notes.append(
            f"{len(fitted.architectures)} architectures: no intervals and no leave-one-out error; "
            "three are needed"
        )
    return notes
