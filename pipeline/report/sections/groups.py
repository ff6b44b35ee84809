"""The month by one key, such as class of work or model: what each line used and its share."""

from typing import Any

import polars as pl

from pipeline.report.section import Column, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_PER_TASK = Column(
    "cost_usd_per_task",
    "Cost per task",
    "usd_small",
    "USD",
    meaning="Cost over the tasks, less the share of them whose requests have no price.",
    unknown="unpriced",
)
_TAIL = (
    c.REQUESTS,
    c.TASKS,
    c.COST,
    Column("cost_frac", "Share of cost", "frac", meaning="Share of the month's cost."),
    _PER_TASK,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    Column("batch", "Batch", "text", meaning=c.BATCH.meaning),
    c.GRADE,
    Column("energy_frac", "Share of electricity", "frac", meaning="Share of the month's."),
    c.CARBON,
)
_SUMMED = (
    "request_count",
    "task_count",
    "cost_usd",
    "facility_energy_kwh",
    "facility_energy_low_kwh",
    "facility_energy_high_kwh",
    "carbon_kgco2e",
)
_NOTE = (
    "Rows are rounded for show; the total is the exact sum, rounded once. A task that used several "
    "models or classes counts once with each. Ranges add the low ends and the high ends."
)


def group_table(mart: pl.DataFrame, key: Column, name: str, caption: str) -> Table:
    """Return mart_cost_per_task of one month by one of its keys, most expensive line first."""
    columns = (key, *_TAIL)
    in_kg = mart.with_columns(
        r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"),
    )
    lines = [
        {key.name: value} | _line(group, in_kg)
        for (value,), group in in_kg.group_by(key.name, maintain_order=True)
    ]
    lines.sort(key=lambda line: _order(line, key.name))
    rows = tuple(tuple(line[column.name] for column in columns) for line in lines)
    return Table(name, caption, columns, rows, r.total_row(in_kg, columns, _SUMMED), _NOTE)


def _line(group: pl.DataFrame, mart: pl.DataFrame) -> dict[str, Any]:
    sums = {name: r.known_sum(group, name) for name in _SUMMED}
    priced = group.filter(pl.col("cost_usd").is_not_null()).with_columns(
        (
            pl.col("task_count").cast(pl.Float64)
            * (pl.col("request_count") - pl.col("unpriced_request_count")).cast(pl.Float64)
            / pl.col("request_count").cast(pl.Float64)
        ).alias("priced_task_count")
    )
    return sums | {
        "cost_frac": r.share(sums["cost_usd"], r.known_sum(mart, "cost_usd")),
        "cost_usd_per_task": r.share(sums["cost_usd"], r.known_sum(priced, "priced_task_count")),
        "energy_frac": r.share(
            sums["facility_energy_kwh"], r.known_sum(mart, "facility_energy_kwh")
        ),
        "batch": r.spread_text(group, "batch"),
        "evidence_grade": r.overall_grade(group, "facility_energy_kwh"),
    }


def _order(line: dict[str, Any], key: str) -> tuple[bool, Any, bool, str]:
    cost, name = line["cost_usd"], line[key]
    return (cost is None, -(cost or 0), name is None, name or "")
