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
_SUMMED = ("request_count", "cost_usd", "facility_energy_kwh", "carbon_kgco2e")
_NOTE = (
    "Rows are rounded for show; the total is the exact sum, rounded once. A task that used several "
    "models or classes counts once with each, and once in the total. Low and high are the 5 % and "
    "95 % of the joint draws of all that a line sums."
)
_KINDS = {c.MODEL.name: "model", c.QUERY_CLASS.name: "query_class"}


def group_table(
    mart: pl.DataFrame, totals: pl.DataFrame, key: Column, name: str, caption: str
) -> Table:
    """Return mart_cost_per_task of one month by one of its keys, most expensive line first.

    Args:
        mart: mart_cost_per_task of the month.
        totals: mart_month_total of the month.
        key: The model or the class.
        name: Name of the table.
        caption: Caption of the table.
    """
    columns = (key, *_TAIL)
    in_kg = mart.with_columns(
        r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"),
    )
    lines = [
        {key.name: value} | _line(group, in_kg, r.not_additive(totals, _KINDS[key.name], value))
        for (value,), group in in_kg.group_by(key.name, maintain_order=True)
    ]
    lines.sort(key=lambda line: _order(line, key.name))
    rows = tuple(tuple(line[column.name] for column in columns) for line in lines)
    whole = r.total_row(in_kg, columns, _SUMMED, r.not_additive(totals))
    return Table(name, caption, columns, rows, whole, _NOTE)


def _line(group: pl.DataFrame, mart: pl.DataFrame, known: dict[str, Any]) -> dict[str, Any]:
    sums = {name: r.known_sum(group, name) for name in _SUMMED} | known
    return sums | {
        "cost_frac": r.share(sums["cost_usd"], r.known_sum(mart, "cost_usd")),
        "cost_usd_per_task": r.share(sums["cost_usd"], _priced_tasks(group, sums["task_count"])),
        "energy_frac": r.share(
            sums["facility_energy_kwh"], r.known_sum(mart, "facility_energy_kwh")
        ),
        "batch": r.spread_text(group, "batch"),
        "evidence_grade": r.overall_grade(group, "facility_energy_kwh"),
    }


def _priced_tasks(group: pl.DataFrame, task_count: int | None) -> float | None:
    """Return the tasks less the share of them whose requests have no price."""
    counted = group.select(
        pl.col("task_count").cast(pl.Float64),
        (
            pl.col("task_count").cast(pl.Float64)
            * (pl.col("request_count") - pl.col("unpriced_request_count")).cast(pl.Float64)
            / pl.col("request_count").cast(pl.Float64)
        ).alias("priced_task_count"),
        pl.col("cost_usd"),
    )
    priced = r.known_sum(counted.filter(pl.col("cost_usd").is_not_null()), "priced_task_count")
    share = r.share(priced, r.known_sum(counted, "task_count"))
    return None if share is None or task_count is None else task_count * share


def _order(line: dict[str, Any], key: str) -> tuple[bool, Any, bool, str]:
    cost, name = line["cost_usd"], line[key]
    return (cost is None, -(cost or 0), name is None, name or "")
