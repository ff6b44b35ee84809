"""Every law on every data set: how wrong it is, where, and by which bias.

`python -m pipeline.validate --measurements FILE` rewrites `data/reference/law_validation.csv`, from
which `joulebook law validate` answers without measurements. All laws are judged on the same rows of
a data set, GPU and stack; where a law has constants for some models only, every law is judged on
the rows of those models too (subset `covered_by`). A lost case stands beside a won one.
"""

import argparse
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.law_list import coefficient_set
from pipeline.reference import reference_rows
from pipeline.settings import bundled
from pipeline.validation.fit import Array, leave_one_out, mape_frac, solve
from pipeline.validation.known_data import (
    ASSUMED_INPUT_TOKENS,
    CAUTIONS,
    FITTED_TO,
    KNOWN_FAULT,
    is_sound,
)
from pipeline.validation.measured_work import Measurement
from pipeline.validation.measurements import Reading, Subset, is_of, read_measurements
from pipeline.validation.published_laws import Published, published
from pipeline.validation.refitted_laws import Refitted, Terms, refitted

TABLE = "law_validation"
SOURCE_DATE = "2026-11-30"  # of the reference tables and measurements that were judged
KEY = ("dataset", "gpu", "stack")
NUMBERS = ("mape_frac", "bias_ratio", "p90_frac", "leave_one_out_mape_frac")
COLUMNS = (
    *(*KEY, "law", "form", "subset_kind", "subset_value", "row_count"),
    *(*NUMBERS, "source", "source_date"),
)
LENGTH_EDGES = (512, 2048, 8192)
BATCH_EDGES = (1, 8, 64)
ALL = ("all", "all")

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """A law's energies of the rows of a group; NaN where it predicts none."""

    law: str
    form: str
    predicted_j: Array
    unseen_frac: Array | None  # relative errors on architectures that were left out
    note: str


def stored_rows() -> list[dict[str, Any]]:
    """Return the stored errors, numbers as numbers."""
    return [
        {
            **row,
            "row_count": int(row["row_count"]),
            **{name: float(row[name]) if row[name] else None for name in NUMBERS},
        }
        for row in reference_rows(TABLE)
    ]


def judged_reading(path: Path, models_path: Path | None = None) -> Reading:
    """Return the rows of a file that laws can be judged by.

    Raises:
        JoulebookError: As `read_measurements` does.
    """
    reading = read_measurements(path, Subset(), models_path, ASSUMED_INPUT_TOKENS)
    sound = [row for row in reading.rows if is_sound(row)]
    if len(sound) < len(reading.rows):
        reading.left_out[KNOWN_FAULT] += len(reading.rows) - len(sound)
    return replace(reading, rows=sound)


def judge(rows: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Return the errors of every law on every group and subset of measurements."""
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.gpu, row.stack), []).append(row)
    return [
        dict(zip(KEY, key, strict=True)) | errors
        for key, group in sorted(groups.items())
        for errors in _group_errors(group)
    ]


def as_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the errors on whole groups as lines for a terminal, the best law first."""
    lines, heading = [], None
    whole = [row for row in rows if (row["subset_kind"], row["subset_value"]) == ALL]
    for row in sorted(whole, key=lambda row: (*(row[name] for name in KEY), row["mape_frac"])):
        if heading != (heading := tuple(row[name] for name in KEY)):
            lines.append(" · ".join(heading))
            lines.append(f"  {'law':<36} {'rows':>5} {'error':>9} {'left out':>9} {'bias':>7}")
        unseen, bias = row["leave_one_out_mape_frac"], row["bias_ratio"]
        lines.append(
            f"  {row['law'] + ', ' + row['form']:<36} {row['row_count']:>5} "
            f"{row['mape_frac']:>9.1%} {'' if unseen is None else f'{unseen:.1%}':>9} "
            f"{'' if bias is None else f'{bias:.2f}':>7}  {row['source']}"
        )
    lines.append(
        "error: mean absolute relative error; left out: the same on architectures that the fit "
        "had not seen; bias: geometric mean of measured over predicted"
    )
    return "\n".join(lines) + "\n"


def judged_laws(rows: Sequence[Measurement]) -> Iterator[Judged]:
    """Yield every law with its energies of the rows of one group."""
    energies_j = np.array([row.energy_j for row in rows])
    for law in published():
        yield _as_published(law, rows)
    for each in refitted():
        found = (
            _per_model(each, rows, energies_j)
            if each.is_per_model
            else (_as_refitted(each, rows, energies_j))
        )
        if found is not None:
            yield found


def _group_errors(rows: Sequence[Measurement]) -> Iterator[dict[str, Any]]:
    energies_j = np.array([row.energy_j for row in rows])
    laws = list(judged_laws(rows))
    subsets = _subsets(rows, laws)
    for law in laws:
        for (kind, value), mask in subsets.items():
            covered = mask & ~np.isnan(law.predicted_j)
            if covered.any():
                errors = _errors(law, energies_j, covered)
                yield {
                    "law": law.law,
                    "form": law.form,
                    "subset_kind": kind,
                    "subset_value": value,
                    **errors,
                    "source": _source(law, rows),
                    "source_date": SOURCE_DATE,
                }


def _errors(law: Judged, energies_j: Array, mask: Mask) -> dict[str, Any]:
    predicted_j, measured_j = law.predicted_j[mask], energies_j[mask]
    off = np.abs(predicted_j / measured_j - 1)
    unseen = None if law.unseen_frac is None else law.unseen_frac[mask]
    return {
        "row_count": int(mask.sum()),
        "mape_frac": _rounded(mape_frac(predicted_j, measured_j)),
        # no geometric mean where a law gives energies of 0 or less
        "bias_ratio": _rounded(float(np.exp(np.mean(np.log(measured_j / predicted_j)))))
        if (predicted_j > 0).all()
        else None,
        "p90_frac": _rounded(float(np.quantile(off, 0.9))),
        "leave_one_out_mape_frac": None if unseen is None else _rounded(float(np.mean(unseen))),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


# Laws on a group ---------------------------------------------------------------------------------


def _as_published(law: Published, rows: Sequence[Measurement]) -> Judged:
    energies = [law.predict_j(row) for row in rows]
    predicted_j = np.array([np.nan if each is None else each for each in energies])
    return Judged(law.law, "published", predicted_j, None, law.note)


def _as_refitted(law: Refitted, rows: Sequence[Measurement], energies_j: Array) -> Judged | None:
    """Fit each variant to all rows and keep the one that predicts unseen architectures best."""
    groups = [row.shape.body_id for row in rows]
    found = []
    for name, variant in law.variants.items():
        features = np.array([variant(row) for row in rows])
        if len(rows) <= features.shape[1] or len(set(groups)) == 1:
            return None
        fitted_j = features @ solve(features, energies_j, is_signed=law.is_signed)
        unseen_j = leave_one_out(features, energies_j, groups, is_signed=law.is_signed)
        unseen = None if unseen_j is None else np.abs(unseen_j / energies_j - 1)
        error = mape_frac(fitted_j, energies_j) if unseen is None else float(unseen.mean())
        note = f"constants fitted to these rows: {features.shape[1]}; {name}"
        found.append((round(error, 9), Judged(law.law, "refit", fitted_j, unseen, note)))
    return min(found, key=lambda pair: pair[0])[1]


def _per_model(law: Refitted, rows: Sequence[Measurement], energies_j: Array) -> Judged | None:
    """Calibrate a law on each model: its error there, and carried over to the others."""
    groups = [row.shape.body_id for row in rows]
    found = [
        each
        for name, variant in law.variants.items()
        if (each := _calibrated(law.law, name, variant, rows, energies_j, groups))
    ]
    return min(found, key=lambda each: float(np.nanmean(_off(each, energies_j))), default=None)


def _off(law: Judged, energies_j: Array) -> Array:
    return np.abs(law.predicted_j / energies_j - 1)


def _calibrated(
    law: str,
    way: str,
    variant: Terms,
    rows: Sequence[Measurement],
    energies_j: Array,
    groups: Sequence[object],
) -> Judged | None:
    features = np.array([variant(row) for row in rows])
    predicted_j = np.full(len(rows), np.nan)
    carried = []
    for group in dict.fromkeys(groups):
        own = np.array([each == group for each in groups])
        if own.sum() <= features.shape[1]:
            continue  # as many constants as rows: it would repeat them and prove nothing
        energy = features @ solve(features[own], energies_j[own])
        predicted_j[own] = energy[own]
        carried.append(np.where(own, np.nan, np.abs(energy / energies_j - 1)))
    if not carried:
        return None
    note = f"constants calibrated on each model: {features.shape[1]}; {way}"
    unseen = None
    if len(carried) > 1:
        unseen = np.nanmean(np.array(carried), axis=0)
        note += "; left out: calibrated on one model, carried to the others"
    return Judged(law, "refit", predicted_j, unseen, note)


# Subsets -----------------------------------------------------------------------------------------


def _subsets(rows: Sequence[Measurement], laws: Sequence[Judged]) -> dict[tuple[str, str], Mask]:
    """Return the whole group and its parts: those by length always, others if not the whole."""
    kinds: dict[str, Callable[[Measurement], str]] = {
        "context_tokens": lambda row: _bin(row.input_tokens + row.output_tokens, LENGTH_EDGES),
        "batch": lambda row: _bin(row.batch, BATCH_EDGES),
        "architecture_class": lambda row: row.architecture_class,
        "precision": lambda row: "16 bit" if row.bytes_per_weight >= 2 else "below 16 bit",
    }
    found: dict[tuple[str, str], Mask] = {ALL: np.ones(len(rows), dtype=bool)}
    for kind, of in kinds.items():
        values = [of(row) for row in rows]
        for value in sorted(set(values)):
            found[kind, value] = np.array([each == value for each in values])
    for law in laws:
        if np.isnan(law.predicted_j).any():  # the same law refitted may cover everything
            found["covered_by", law.law] = ~np.isnan(law.predicted_j)
    # a group of one length says so: where rivals tie depends on it
    kept = ("context_tokens", ALL[0])
    return {key: mask for key, mask in found.items() if key[0] in kept or not mask.all()}


def _bin(value: float, edges: Sequence[int]) -> str:
    for low, edge in zip((0, *edges), edges, strict=False):
        if value < edge + 0.5:
            return f"{low + 1} to {edge}" if edge > low + 1 else str(edge)
    return f"above {edges[-1]}"


def _source(law: Judged, rows: Sequence[Measurement]) -> str:
    first = rows[0]
    parts = [law.note]
    if law.law.startswith("simple") and law.note.startswith("stored"):
        parts.append(_set_used(first))
    if first.dataset in CAUTIONS:
        parts.append(CAUTIONS[first.dataset])
    return "; ".join(parts)


def _set_used(row: Measurement) -> str:
    set_id, _ = coefficient_set(row.gpu, row.stack)
    subset = FITTED_TO.get(set_id)
    is_home = subset is not None and is_of(row, replace(subset, is_dense=False))
    return f"{set_id}, fitted to rows of this group" if is_home else set_id


def main() -> None:
    """Rewrite the stored errors from a file of measurements."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--measurements", type=Path, required=True)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--folder", type=Path, default=bundled("data/reference"))
    told = parser.parse_args()
    rows = judge(judged_reading(told.measurements, told.models).rows)
    with (told.folder / f"{TABLE}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
