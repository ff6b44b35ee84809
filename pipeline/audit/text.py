"""An audit as lines for a terminal: what was measured, what it says, and how sure that is."""

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from pipeline.audit.answer import Audit, claims
from pipeline.audit.effects import WORDS
from pipeline.audit.order import chance_of_agreement
from pipeline.audit.readings import FORMULAS, QUANTITIES, TOKENS
from pipeline.audit.rules import rules


def text_of(found: Audit) -> str:
    """Return an audit as a lab report in plain text."""
    parts = (
        ("Log", log_lines(found)),
        ("Baselines", _baselines(found)),
        ("Tokens against energy", _cells(found)),
        ("What the law says of these lengths", _law(found)),
        ("Models of the energy of a run", _models(found)),
        ("Order", _order(found)),
        ("Uncertainty of one run, and of a ratio of two", _budget(found)),
        ("Findings", _findings(found)),
        ("Told elsewhere, not reproduced here", _claims()),
    )
    told = ((title, list(lines) or ["nothing to tell"]) for title, lines in parts)
    return "\n".join(
        line for title, lines in told for line in (title, *(f"  {each}" for each in lines), "")
    )


def share(value: float | None, *, is_signed: bool = False) -> str:
    """Return a share as a percentage, `unknown` where it is null."""
    if value is None:
        return "unknown"
    return f"{value:+.1%}" if is_signed else f"{value:.1%}"


def _number(value: float | None, unit: str = "") -> str:
    return "unknown" if value is None else f"{value:.4g}{f' {unit}' if unit else ''}"


def log_lines(found: Audit) -> Iterator[str]:
    """Yield what the log and the runs are like."""
    for row in found.quality.rows(named=True):
        yield (
            f"GPU {row['gpu']}{f' ({name})' if (name := row['gpu_name']) else ''}: "
            f"{row['sample_count']:,} readings, {row['first_at']:%Y-%m-%d %H:%M:%S} to "
            f"{row['last_at']:%H:%M:%S} UTC, a step of {_number(row['usual_step_s'], 's')}, power "
            f"moves every {_number(row['update_step_s'], 's')}, {row['gap_count']} gaps"
        )
    seen = _number(found.window_seen_s, "s") if found.window_seen_s else "not seen"
    yield f"averaging window: {seen} from rises; runs are held against {found.window_s:.3g} s"
    clocks = found.clocks
    yield (
        f"clocks: log minus runs {_number(clocks.offset_s, 's')}, drift "
        f"{_number(clocks.drift_s_per_hour, 's an hour')}"
    )
    runs = found.measured
    counter = runs.get_column("difference_frac").drop_nulls()
    middle = counter.median()
    yield (
        f"runs: {runs.height} of {found.runs_file.row_count} rows, "
        f"{runs.get_column('energy_j').count()} with an energy by "
        f"{runs.item(0, 'energy_basis')}"
        + (
            f"; counter over trapezoid: {share(float(middle), is_signed=True)} (median)"
            if isinstance(middle, int | float)
            else ""
        )
    )
    looped = found.looped
    if looped.height:
        yield (
            f"{looped.height} looped runs never ended by themselves: censored, in no multiplier: "
            + ", ".join(looped.get_column("run_id").to_list()[:8])
        )


def _baselines(found: Audit) -> Iterator[str]:
    for row in found.baselines.rows(named=True):
        yield (
            f"{row['baseline']:<13} {_number(row['power_w'], 'W'):>10}  ({row['basis']}, "
            f"read {row['time_count']} ×, spread {_number(row['spread_w'], 'W')})"
        )


def _cells(found: Audit) -> Iterator[str]:
    reading = found.reading
    band = rules().band_frac if reading.band_frac is None else reading.band_frac
    yield (
        f"T: {TOKENS[reading.tokens][1]} of a category over those of '{found.reference}'; "
        f"E: the same of {QUANTITIES[reading.quantity][1]}; geometric means"
    )
    yield (
        f"divergence = {FORMULAS[reading.formula]}; band ±{band:.0%}; "
        f"{rules().confidence_frac:.0%} intervals; verdicts by Holm over all cells"
    )
    head = ("model", "category", "runs", "T", "E", "divergence", "low", "high", "watts", "verdict")
    yield _line(head)
    for row in found.cells.rows(named=True):
        yield _line(
            (
                row["model"],
                row["category"],
                f"{row['run_count']}/{row['reference_run_count']}",
                _number(row["token_multiplier_ratio"]),
                _number(row["energy_multiplier_ratio"]),
                share(row["divergence_frac"]),
                share(row["divergence_low_frac"]),
                share(row["divergence_high_frac"]),
                f"{row['mean_power_w']:.1f}",
                row["verdict"],
            )
        )
    for row in found.by_model.rows(named=True):
        yield (
            f"{row['model']}: mean {share(row['mean_divergence_frac'])}, largest "
            f"{share(row['largest_divergence_frac'])} (the largest of several uncertain numbers "
            "lies above the largest of the true ones)"
        )


def _line(cells: Iterable[Any]) -> str:
    widths = (28, 20, 6, 7, 7, 10, 8, 8, 7, 0)
    fitted = (
        f"{str(each)[: width or 40]:<{width}}" for each, width in zip(cells, widths, strict=True)
    )
    return " ".join(fitted).rstrip()


def _law(found: Audit) -> Iterator[str]:
    scale = found.measured.get_column("law_scale_ratio").drop_nulls()
    if found.served.has_coefficients:
        yield f"coefficients of {found.served.gpu}, {found.served.stack}"
    elif scale.len():
        yield (
            f"{found.served.gpu or 'this GPU'} has no coefficients: the law is scaled by "
            f"{float(scale[0]):.3g} for all runs alike, and its shape alone is judged"
        )
    for row in found.cells.rows(named=True):
        if row["law_multiplier_ratio"] is None:
            yield f"{row['model']}, {row['category']}: the law knows no such model"
            continue
        explained = (
            "nothing to explain"
            if row["explained_frac"] is None
            else f"explains {share(row['explained_frac'])} of the divergence"
        )
        yield (
            f"{row['model']}, {row['category']}: E {row['law_multiplier_ratio']:.3g} by the law; "
            f"{explained}; remains {share(row['remaining_frac'], is_signed=True)} "
            f"({share(row['remaining_low_frac'], is_signed=True)} to "
            f"{share(row['remaining_high_frac'], is_signed=True)})"
        )


def _models(found: Audit) -> Iterator[str]:
    for row in found.models.fits.rows(named=True):
        yield (
            f"{row['model']} ~ {row['form']}: spread {share(row['residual_frac'])}, of a run left "
            f"out {share(row['left_out_frac'])}, R² {_number(row['r_squared_frac'])}"
        )
    for row in found.effects.rows(named=True):
        yield (
            f"{row['model']}, {WORDS[row['effect']]}: {_number(row['estimate'])} "
            f"({_number(row['low'])} to {_number(row['high'])}), Holm p {_number(row['p_holm'])}"
        )
    inseparable = found.models.coefficients.filter(
        pl.col("is_inseparable"), pl.col("term").is_in(list(WORDS))
    )
    for row in inseparable.select("model", "form", "term", "vif_ratio").rows(named=True):
        yield (
            f"{row['model']} ~ {row['form']}: {WORDS[row['term']]} cannot be told apart (variance "
            f"inflation {_number(row['vif_ratio'])})"
        )


def _order(found: Audit) -> Iterator[str]:
    for row in found.blocks.rows(named=True):
        yield (
            f"{row['model']}, block {row['block']}: first {row['first_category']}; "
            f"{row['category_counts']}; {_number(row['energy_j'], 'J')}; left after it "
            f"{_number(row['residual_power_w'], 'W')}"
        )
    if found.confounded.height:
        named, either = chance_of_agreement(found.confounded.height)
        yield (
            "order and dose change together in these blocks. That "
            f"{found.confounded.height} models go one named way by chance has {share(named)}, one "
            f"way at all {share(either)}. `joulebook audit --plan` gives randomised blocks."
        )
    elif not found.blocks.height:
        yield "no blocks told"


def _budget(found: Audit) -> Iterator[str]:
    for row in found.budget.rows(named=True):
        shown = " (in the repeats)" if row["is_in_repeats"] and row["kind"] == "B" else ""
        yield (
            f"{row['component']:<22} {row['kind']:<8} {share(row['standard_frac']):>8} "
            f"{share(row['ratio_frac']):>8}  {row['meaning']}{shown}"
        )


def _findings(found: Audit) -> Iterator[str]:
    for row in found.findings.rows(named=True):
        yield f"{row['subject']}: {row['text']}"
    if found.findings.is_empty():
        yield "none"


def _claims() -> Iterator[str]:
    for row in claims():
        shown = share(row["value"]) if row["unit"] == "share" else f"{row['value']:g} {row['unit']}"
        yield (
            f"{row['model']}, {row['category']}: {row['quantity']} {shown} ({row['told_by']}; "
            f"{row['meaning']})"
        )
