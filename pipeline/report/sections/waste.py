"""What failed requests and cut-off answers took of the month."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

ROWS_SHOWN = 30

_KEYS = ("provider", "model_id", "waste_kind")
KINDS = {"failed": "failed", "truncated": "cut off"}
_COLUMNS = (
    c.MODEL,
    c.PROVIDER,
    Column(
        "waste_kind",
        "What happened",
        "text",
        meaning="The request failed, or its answer was cut off at the longest one allowed.",
    ),
    c.REQUESTS,
    c.UNMEASURED,
    Column("input_tokens", "Input", "tokens", "tokens", "Cached tokens included."),
    Column("output_tokens", "Output", "tokens", "tokens", "Reasoning included."),
    c.COST,
    Column("gpu_energy_j", "GPU energy", "j", "J", "Own tokens at the rates of their class."),
    c.FACILITY,
    c.FACILITY_LOW,
    Column("facility_energy_p50_kwh", "Electricity, middle", "kwh", "kWh", "Median of the draws."),
    c.FACILITY_HIGH,
    c.CARBON,
    Column("energy_frac", "Of the month", "frac", meaning="Share of the month's GPU energy."),
    c.BATCH,
    c.GRADE,
)
_SUMMED = (
    "request_count",
    "unmeasured_request_count",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "gpu_energy_j",
    "facility_energy_kwh",
    "carbon_kgco2e",
    "energy_frac",
)


def section(waste: pl.DataFrame) -> Section:
    """Return what was wasted in one month.

    Args:
        waste: mart_waste of the month.
    """
    shown = r.sorted_by(
        waste.with_columns(r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e")),
        "gpu_energy_j",
        *_KEYS,
    )
    return Section(
        name="waste",
        title="Waste",
        sheet="Waste",
        question="What did failed requests and cut-off answers take of the month?",
        statements=tuple(
            _statement(shown.filter(pl.col("waste_kind") == kind), words)
            for kind, words in (("failed", "Failed requests"), ("truncated", "Cut-off answers"))
        )
        if shown.height
        else (),
        tables=(_table(shown),) if shown.height else (),
        empty_reason=""
        if shown.height
        else "No request is known to have failed or been cut off: logs with status and "
        "finish_reason would fill this.",
    )


def _table(waste: pl.DataFrame) -> Table:
    worded = waste.with_columns(pl.col("waste_kind").replace(KINDS))
    shown = worded.head(ROWS_SHOWN)
    left_out = waste.height - shown.height
    return Table(
        "waste",
        "Requests that failed and answers that were cut off, by model",
        _COLUMNS,
        r.table_rows(shown, _COLUMNS),
        total=r.total_row(waste, _COLUMNS, _SUMMED),
        note="Largest energy first"
        + (f"; {left_out} more lines in mart_waste, counted in the total" if left_out else "")
        + ". Part of the month's sums, not beside them. A cut-off answer may still be of use. Logs "
        "without status and finish_reason count nothing here.",
    )


def _statement(lines: pl.DataFrame, words: str) -> str:
    if lines.is_empty():
        return f"{words}: none that a log tells."
    energy, cost = r.known_sum(lines, "facility_energy_kwh"), r.known_sum(lines, "cost_usd")
    return (
        f"{words}: {r.count_sum(lines, 'request_count'):,}, "
        f"{show(energy, 'kwh', 'an unknown number of')} kWh "
        f"({show(r.known_sum(lines, 'energy_frac'), 'frac', 'an unknown share')} of the month's "
        f"GPU energy), {show(cost, 'usd', 'an unknown number of')} USD."
    )
