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
    c.BATCH,
    c.UNPRICED,
    c.NO_GPU_BILL,
    c.UNMEASURED,
)
_NAMED = (("api_key", "a key"), ("project", "a project"), ("user", "a user"), ("route", "a route"))
_NOTHING = "Their logs name no key, project, user or route; assume a team for their files."
_SUMMED = (
    "request_count",
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
    "carbon_kgco2e",
    "energy_cost_usd",
    "unpriced_request_count",
    "no_gpu_bill_request_count",
    "unmeasured_request_count",
)


_PROJECTS = (
    Column(
        "project", "Project", "text", meaning="By attribution.csv, else by the log.", unknown="none"
    ),
    c.TEAM,
    c.REQUESTS,
    c.COST,
    c.FACILITY,
    c.FACILITY_LOW,
    c.FACILITY_HIGH,
    c.CARBON,
    c.GRADE,
    c.BATCH,
    c.UNPRICED,
    c.UNMEASURED,
)


def section(
    mart: pl.DataFrame, projects: pl.DataFrame, cost_mart: pl.DataFrame, totals: pl.DataFrame
) -> Section:
    """Return the charge-back of one month.

    Args:
        mart: mart_team_chargeback of the month.
        projects: mart_project_chargeback of the month.
        cost_mart: mart_cost_per_task of the month, whose cost the teams' must equal.
        totals: mart_month_total of the month.
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
        tables=() if is_empty else (_table(ordered, totals), *_project_table(projects)),
        empty_reason="No accepted request falls in this month." if is_empty else "",
    )


def _table(mart: pl.DataFrame, totals: pl.DataFrame) -> Table:
    return Table(
        "team_chargeback",
        "Cost, electricity and carbon by team",
        _COLUMNS,
        r.table_rows(mart, _COLUMNS),
        r.total_row(mart, _COLUMNS, _SUMMED, r.not_additive(totals)),
        f"Unpriced requests: {r.count_sum(mart, 'unpriced_request_count'):,}; "
        f"unmeasured: {r.count_sum(mart, 'unmeasured_request_count'):,}.",
    )


def _project_table(mart: pl.DataFrame) -> tuple[Table, ...]:
    """Return the table of projects, none where nothing names one."""
    if mart.get_column("project").is_null().all():
        return ()
    in_kg = mart.with_columns(r.scaled("carbon_gco2e", r.GRAMS_PER_KG).alias("carbon_kgco2e"))
    ordered = r.sorted_by(in_kg, "cost_usd", "facility_energy_kwh", "team", "project")
    summed = [column.name for column in _PROJECTS if column.name in _SUMMED]
    return (
        Table(
            "project_chargeback",
            "Cost, electricity and carbon by project",
            _PROJECTS,
            r.table_rows(ordered, _PROJECTS),
            r.total_row(ordered, _PROJECTS, summed),
            "Projects of a team add up to the team, whose range and grade hold for them too.",
        ),
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
    named = [(r.count_sum(nobody, f"{what}_request_count"), words) for what, words in _NAMED]
    could = ", ".join(f"{count:,} name {words}" for count, words in named if count)
    hint = f"Of them {could}, so attribution.csv can give them a team." if could else _NOTHING
    return f"Not attributed: {requests:,} requests ({part}), {cost} USD. {hint}"


def _tie(mart: pl.DataFrame, cost_mart: pl.DataFrame) -> str:
    teams, cells = r.known_sum(mart, "cost_usd"), r.known_sum(cost_mart, "cost_usd")
    if teams == cells:
        return "The teams' costs add up to the month's cost exactly."
    return (
        f"The teams' costs add up to {show(teams, 'usd', 'nothing')} USD, the month's cost is "
        f"{show(cells, 'usd', 'unknown')} USD."
    )
