"""Who used what: cost, electricity and carbon of every team."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_COLUMNS = (
    c.TEAM,
    c.REQUESTS,
    c.TASKS,
    Column("input_tokens", "Input", "tokens", "tokens", "Input tokens, cached ones included."),
    Column("output_tokens", "Output", "tokens", "tokens", "Output tokens, reasoning included."),
    c.COST,
    Column("cost_frac", "Share of cost", "frac", meaning="Share of the priced cost."),
    c.LIST_COST,
    c.CONTRACTED_COST,
    c.EFFECTIVE_COST,
    c.BILLED_COST,
    c.HOSTING_COST,
    c.HOSTING_ENERGY_COST,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    Column("energy_frac", "Share of electricity", "frac", meaning="Share of the month's."),
    c.CARBON,
    c.ENERGY_COST,
    c.GRADE,
    c.UNPRICED,
    c.NO_GPU_BILL,
    c.UNMEASURED,
)
_SUMMED = (
    "request_count",
    "task_count",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "list_cost_usd",
    "contracted_cost_usd",
    "effective_cost_usd",
    "billed_cost_usd",
    "hosting_cost_usd",
    "hosting_energy_cost_usd",
    "facility_energy_kwh",
    "facility_energy_low_kwh",
    "facility_energy_high_kwh",
    "carbon_kgco2e",
    "energy_cost_usd",
    "unpriced_request_count",
    "no_gpu_bill_request_count",
    "unmeasured_request_count",
)


def section(mart: pl.DataFrame, cost_mart: pl.DataFrame) -> Section:
    """Return the charge-back of one month.

    Args:
        mart: mart_team_chargeback of the month.
        cost_mart: mart_cost_per_task of the month, whose cost the teams' must equal.
    """
    in_kg = mart.with_columns(r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"))
    ordered = r.sorted_by(in_kg, "cost_usd", "facility_energy_kwh", "team")
    is_empty = ordered.is_empty()
    return Section(
        name="teams",
        title="Teams",
        sheet="Teams",
        question="Which team used what, and how much of it belongs to no team?",
        statements=() if is_empty else _statements(ordered, cost_mart),
        tables=() if is_empty else (_table(ordered),),
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _table(mart: pl.DataFrame) -> Table:
    return Table(
        "team_chargeback",
        "Cost, electricity and carbon by team",
        _COLUMNS,
        r.table_rows(mart, _COLUMNS),
        r.total_row(mart, _COLUMNS, _SUMMED),
        f"Unpriced requests: {r.count_sum(mart, 'unpriced_request_count'):,}; "
        f"unmeasured: {r.count_sum(mart, 'unmeasured_request_count'):,}.",
    )


def _statements(mart: pl.DataFrame, cost_mart: pl.DataFrame) -> tuple[str, ...]:
    sentences = (_largest(mart), _unattributed(mart), _tie(mart, cost_mart))
    return tuple(sentence for sentence in sentences if sentence)


def _largest(mart: pl.DataFrame) -> str:
    named = mart.filter(pl.col("team").is_not_null() & pl.col("cost_usd").is_not_null())
    if named.is_empty():
        return ""
    row = named.row(0, named=True)
    part = show(r.share(row["cost_usd"], r.known_sum(mart, "cost_usd")), "frac")
    return (
        f"Most money: {show(row['team'], 'text')}, {show(row['cost_usd'], 'usd')} USD, "
        f"{part} of the priced cost."
    )


def _unattributed(mart: pl.DataFrame) -> str:
    nobody = mart.filter(pl.col("team").is_null())
    if nobody.is_empty():
        return "Every request belongs to a team."
    requests = r.count_sum(nobody, "request_count")
    part = show(r.share(requests, r.count_sum(mart, "request_count")), "frac")
    cost = show(r.known_sum(nobody, "cost_usd"), "usd", "an unpriced amount of")
    return f"Requests without a team: {requests:,} ({part}), {cost} USD."


def _tie(mart: pl.DataFrame, cost_mart: pl.DataFrame) -> str:
    teams, cells = r.known_sum(mart, "cost_usd"), r.known_sum(cost_mart, "cost_usd")
    if teams == cells:
        return "The teams' costs add up to the month's cost exactly."
    return (
        f"The teams' costs add up to {show(teams, 'usd', 'nothing')} USD, the month's cost is "
        f"{show(cells, 'usd', 'unknown')} USD."
    )
