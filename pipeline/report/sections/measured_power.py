"""Measured power against tokens and law: what was done, what it says, and how sure that is."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.report.numbers import show, show_range
from pipeline.report.section import Points, Section, Table
from pipeline.report.sections import measured_notes as notes
from pipeline.report.sections import reading as r
from pipeline.report.sections.measured_columns import HOURS, LINEARITY

ROWS_SHOWN = 48  # hours; two days

_SUMMED = (
    *("measured_energy_kwh", "idle_energy_kwh", "law_energy_kwh", "unexplained_energy_kwh"),
    "covered_s",
)


def section(
    linearity: pl.DataFrame, hours: pl.DataFrame, frames: Mapping[str, pl.DataFrame]
) -> Section:
    """Return what power meters said.

    Args:
        linearity: mart_token_linearity.
        hours: mart_measured_hours of the month.
        frames: The tables of `pipeline.measured_tables`, and `linearity_claims`.
    """
    has_runs = linearity.height > 0 or frames["audit_log"].height > 0
    is_empty = not has_runs and hours.is_empty()
    cells = linearity.sort("run_set", "model", "category")
    return Section(
        name="measured_power",
        title="Measured power",
        sheet="Measured_power",
        question="What did power meters say, and does energy follow tokens and the law?",
        statements=(
            *(_statements(cells, frames) if has_runs else ()),
            *_fleet_statements(hours),
        ),
        tables=(
            *((_linearity_table(cells),) if cells.height else ()),
            *(notes.tables(frames) if has_runs else ()),
            *((_hours_table(hours),) if hours.height else ()),
            *(() if is_empty else (notes.claims_table(frames["linearity_claims"]),)),
        ),
        figures=(_figure(cells),) if cells.height else (),
        empty_reason="No power log is named: `telemetry` and `runs` of the settings would fill the "
        "comparison of tokens and energy, `fleet_telemetry` the one of hours and law."
        if is_empty
        else "",
    )


def _statements(cells: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    if cells.is_empty():
        return (
            "The runs give no comparison: fewer than two categories have an energy. What the log "
            "says of that stands below.",
        )
    first = cells.row(0, named=True)
    generated = (
        ("The power log and its runs are generated, not measured: they show what this section "
         "says of real ones, and are no evidence of anything.",)
        if first["is_generated"]
        else ()
    )  # fmt: skip
    return (
        *generated,
        f"Each category of prompts is held against '{show(first['reference_category'], 'text')}' "
        "of the same model: T is the ratio of output tokens, E that of energy, divergence is "
        f"{first['formula']}. Means are geometric, intervals come from repeats, and verdicts "
        f"against a band of ±{show(first['band_frac'], 'frac')} are corrected for "
        f"{cells.height} cells (Holm).",
        _verdicts(cells),
        _largest(cells),
        *_law_statements(cells),
        "If energy follows tokens, mean watts need not grow at all: a longer answer takes longer "
        "at the same power. So watts and joules have their own columns.",
        *notes.uncertainty_statements(frames["audit_budget"]),
        *notes.finding_statements(frames["audit_findings"]),
        "This is one log of one machine: another day, card or serving software is not in it, and "
        "it names no cause.",
    )


def _verdicts(cells: pl.DataFrame) -> str:
    counts = dict(cells.group_by("verdict").len().rows())
    parts = [
        f"{counts[words]} {words}"
        for words in ("within the band", "beyond the band", "not decided", "no repeats")
        if counts.get(words)
    ]
    return f"Of {cells.height} cells: {', '.join(parts)}."


def _largest(cells: pl.DataFrame) -> str:
    row = cells.sort(["divergence_frac", "model", "category"], descending=[True, False, False]).row(
        0, named=True
    )
    ends = show_range(row["divergence_low_frac"], row["divergence_high_frac"], "frac")
    return (
        f"Largest: {_name(row)} with {show(row['divergence_frac'], 'frac')}"
        f"{f' ({ends})' if ends else ''}. The largest of several uncertain numbers lies above the "
        "largest of the true ones."
    )


def _law_statements(cells: pl.DataFrame) -> tuple[str, ...]:
    known = cells.filter(pl.col("law_multiplier_ratio").is_not_null())
    if known.is_empty():
        return ("No model of the runs is in the catalog, so the law says nothing of them.",)
    row = known.sort(["divergence_frac", "model", "category"], descending=[True, False, False]).row(
        0, named=True
    )
    scale = row["law_scale_ratio"]
    how = (
        "The GPU has coefficients of its own"
        if scale == 1
        else f"The GPU has no coefficients: the law is scaled by {show(scale, 'ratio')} for all "
        "runs alike, and its shape alone is judged"
    )
    explained = row["explained_frac"]
    of_it = (
        f"In {_name(row)} there is nothing to explain"
        if explained is None
        else f"Of the divergence of {_name(row)} the law explains {show(explained, 'frac')}"
    )
    ends = show_range(row["remaining_low_frac"], row["remaining_high_frac"], "frac")
    return (
        f"{how}. {of_it}; "
        f"{show(row['remaining_frac'], 'frac')}{f' ({ends})' if ends else ''} remains between "
        "measured energy and law. At one request at a time the cache takes a small part of the "
        "energy, so lengths alone explain little.",
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{show(row['model'], 'text')}, {show(row['category'], 'text')}"


def _linearity_table(cells: pl.DataFrame) -> Table:
    return Table(
        "token_linearity",
        "Tokens against energy, by model and category",
        LINEARITY,
        r.table_rows(cells, LINEARITY),
        note="The reference category has no line: its multipliers are 1. Looped runs never ended "
        "by themselves, so their length is the limit's, not theirs.",
    )


def _figure(cells: pl.DataFrame) -> Points:
    series = tuple(
        (
            show(model, "text"),
            tuple(
                (
                    _name(row),
                    float(row["token_multiplier_ratio"]),
                    float(row["energy_multiplier_ratio"]),
                )
                for row in lines.rows(named=True)
            ),
        )
        for (model,), lines in sorted(
            cells.group_by("model"), key=lambda each: str(each[0][0])
        )
    )  # fmt: skip
    band = float(cells.item(0, "band_frac"))
    return Points(
        name="token_linearity",
        title="Energy against tokens, both over the reference category",
        unit="×",
        source="mart_token_linearity",
        alt="Each point is a category of prompts of one model. On the line energy grows as tokens "
        f"do; the band reaches {show(band, 'frac')} to either side.",
        x_label="Token multiplier",
        y_label="Energy multiplier",
        series=series[:7],
        band_frac=band,
        kind="ratio",
    )


def _fleet_statements(hours: pl.DataFrame) -> tuple[str, ...]:
    if hours.is_empty():
        return ()
    measured, idle, unexplained = (
        r.known_sum(hours, f"{name}_energy_kwh") for name in ("measured", "idle", "unexplained")
    )
    drift = hours.get_column("drift_frac").drop_nulls().to_list()
    said = (
        f"Power logs tell {_counted(hours, 'gpu', 'GPU')} and "
        f"{_counted(hours, 'hour_start_at', 'hour')}: {show(measured, 'kwh')} kWh, "
        f"{show(r.share(idle, measured), 'frac')} idle, "
        f"{show(r.share(unexplained, measured), 'frac')} that neither idling nor the law of the "
        "logged requests explains.",
    )
    if not drift:
        return (*said, "Too few hours have both a power log and requests to see a drift.")
    words = "a drift: look for other work or lost logs" if _alarms(hours) else "no drift"
    return (
        *said,
        f"Measured over law moved by {show(drift[0], 'frac')} from the first half of the hours to "
        f"the second: {words}.",
    )


def _counted(hours: pl.DataFrame, column: str, word: str) -> str:
    count = hours.get_column(column).n_unique()
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _alarms(hours: pl.DataFrame) -> bool:
    return bool(hours.get_column("is_drifting").fill_null(value=False).any())


def _hours_table(hours: pl.DataFrame) -> Table:
    ordered = hours.sort("hour_start_at", "gpu")
    left_out = ordered.height - ROWS_SHOWN
    return Table(
        "measured_hours",
        "Measured energy of own GPUs by hour, against the law of the requests logged then",
        HOURS,
        r.table_rows(ordered.head(ROWS_SHOWN), HOURS),
        total=r.total_row(ordered, HOURS, _SUMMED),
        note="GPU boards alone, without host and cooling. An hour's law falls on GPUs by what they "
        "drew above idle."
        + (f" {left_out} more lines in mart_measured_hours, in the total." if left_out > 0 else ""),
    )
