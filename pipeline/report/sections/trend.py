"""The months that the logs hold, one line each: what moved and by how much."""

import datetime as dt
from typing import Any

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_COLUMNS = (
    Column("month", "Month", "month", meaning="First day of the month."),
    c.REQUESTS,
    c.TASKS,
    Column("output_tokens", "Output", "tokens", "tokens", "Output tokens, reasoning included."),
    c.COST,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    c.CARBON,
    Column("cost_usd_per_task", "Cost per task", "usd_small", "USD", "Cost over the tasks."),
    c.GRADE,
    c.BATCH,
    Column("method_version", "Method", "text", meaning="Method that the month was computed by."),
    c.UNPRICED,
    c.UNMEASURED,
)
_SUMMED = (
    *("request_count", "output_tokens", "cost_usd", "facility_energy_kwh"),
    *("unpriced_request_count", "unmeasured_request_count"),
)


def section(mart: pl.DataFrame, totals: pl.DataFrame, month: str) -> Section:
    """Return a month and the twelve before it.

    Args:
        mart: mart_cost_per_task of all months.
        totals: mart_month_total of all months, where a task counts once.
        month: The last month to show, as YYYY-MM.
    """
    same_of_last_year = f"{int(month[:4]) - 1:04d}{month[4:]}"
    shown = mart.filter(
        pl.col("month")
        .cast(pl.String)
        .str.slice(0, 7)
        .is_between(pl.lit(same_of_last_year), pl.lit(month))
    )
    months = sorted(set(shown.get_column("month").cast(pl.String).to_list()))
    lines = [_line(shown, totals, name) for name in months]
    rows = tuple(tuple(line[column.name] for column in _COLUMNS) for line in lines)
    is_short = len(lines) < 2
    table = Table(
        "months",
        "The months of the logs",
        _COLUMNS,
        rows,
        note="A month of few requests is the edge of a log, not a month of little use.",
    )
    return Section(
        name="trend",
        title="Months",
        sheet="Trend",
        question="How did use, cost, electricity and carbon move from month to month?",
        statements=() if is_short else _statements(lines),
        tables=() if is_short else (table,),
        empty_reason="The logs hold one month; a second one would show a trend."
        if is_short
        else "",
    )


def _line(mart: pl.DataFrame, totals: pl.DataFrame, month: str) -> dict[str, Any]:
    rows, whole = (
        frame.filter(pl.col("month").cast(pl.String) == month) for frame in (mart, totals)
    )
    sums = {name: r.known_sum(rows, name) for name in _SUMMED}
    total = r.total(whole)
    told = ("task_count", "facility_energy_low_kwh", "facility_energy_high_kwh", "batch")
    sums |= {name: total[name] for name in told}
    carbon = r.known_sum(rows, "carbon_gco2e")
    return sums | {
        "month": dt.date(int(month[:4]), int(month[5:7]), 1),
        "carbon_kgco2e": None if carbon is None else float(carbon) / r.GRAMS_PER_KG,
        "cost_usd_per_task": r.share(sums["cost_usd"], sums["task_count"]),
        "evidence_grade": r.overall_grade(rows, "facility_energy_kwh"),
        "method_version": r.words(rows, "method_version"),
    }


def _statements(lines: list[dict[str, Any]]) -> tuple[str, ...]:
    before, now = lines[-2:]
    told = []
    for name, word, kind, unit in (
        ("cost_usd", "Cost", "usd", "USD"),
        ("facility_energy_kwh", "Electricity", "kwh", "kWh"),
    ):
        old, new = before[name], now[name]
        if old and new is not None:
            change = float(new) / float(old) - 1
            sign = "+" if change > 0 else ""
            told.append(
                f"{word}: {show(old, kind)} to {show(new, kind)} {unit} "  # type: ignore[arg-type]
                f"({sign}{show(change, 'frac')}) from {before['month']:%Y-%m} to "
                f"{now['month']:%Y-%m}."
            )
    return tuple(told)
