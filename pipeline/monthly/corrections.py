"""Late usage of closed months, carried as dated lines by the first month that is still open.

What is owed to a closed month is its cost on all rows known today, under the prices and factors it
was closed with, less what was issued and less what months closed since have carried already.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb

from pipeline import warehouse
from pipeline.ingest.columns import literal
from pipeline.monthly import closed_month, workspace, workspace_rows
from pipeline.monthly.frozen import create_corrections
from pipeline.monthly.months_state import MonthState, states
from pipeline.settings import Settings

# What requests and charges of a month cost, by who pays for which model.
_COSTS_SQL = """
    select
        provider, model_id, team, sum(request_count)::bigint as request_count,
        sum(cost_usd)::decimal(38, 15) as cost_usd,
        sum(energy_kwh)::decimal(38, 18) as facility_energy_kwh
    from (
        select provider, model_id, team, request_count, null as cost_usd, null as energy_kwh
        from int_usage_groups where month = $month
        union all
        select provider, model_id, team, null, cost_usd, null
        from int_group_costs where month = $month
        union all
        select provider, model_id, team, null, null,
            (prefill_energy_kwh + decode_energy_kwh)::decimal(38, 18)
        from int_group_energy where month = $month
        union all
        select provider, model_id, team, null, billed_cost_usd, null
        from int_charges where month = $month and is_counted
    )
    group by all
    order by all
"""

_OWED_SQL = """
    select
        provider, model_id, team,
        sum(request_count)::bigint as request_count,
        sum(cost_usd)::decimal(38, 15) as cost_usd,
        sum(facility_energy_kwh)::double as facility_energy_kwh
    from (
        select provider, model_id, team, request_count, cost_usd, facility_energy_kwh
        from read_parquet({today})
        union all
        select provider, model_id, team, -request_count, -cost_usd, -facility_energy_kwh
        from read_parquet({issued})
        union all
        select provider, model_id, team, -request_count, -cost_usd,
            -facility_energy_kwh::decimal(38, 18)
        from corrections where corrected_month = $month
    )
    group by all
    having sum(request_count) <> 0 or sum(cost_usd) <> 0
    order by all
"""


def write_costs(con: duckdb.DuckDBPyConnection, month: str, path: Path) -> None:
    """Write what a built month cost, by provider, model and team."""
    con.execute(f"copy ({_COSTS_SQL}) to {literal(str(path))} (format parquet)", {"month": month})


def settle_closed(settings: Settings, months: Iterable[str]) -> list[str]:
    """Work out what is owed to those of the months that are closed; return notes on it."""
    with workspace.opened(workspace.require_workspace(settings), settings) as con:
        known = states(con)
    closed = [month for month in months if month in known and known[month].is_closed]
    return [note for month in closed for note in settle(settings, month)]


def settle(settings: Settings, month: str) -> list[str]:
    """Work out anew what is owed to a month; nothing while it is open. Return a note on it."""
    path = workspace.require_workspace(settings)
    with workspace.opened(path, settings) as con:
        known = states(con)
        state = known.get(month, MonthState(month))
        if state.is_closed:
            frozen = closed_month.frozen_of(closed_month.thawed(settings, month, state.issue))
            if lost := closed_month.lost_inputs(con, settings, frozen):
                return [_waiting(month, lost)]
    carrier = _first_open(known, month)
    with tempfile.TemporaryDirectory(dir=settings.folder, prefix=".building-") as aside:
        today = Path(aside) / "costs.parquet"
        if state.is_closed:
            thawed = closed_month.thawed(settings, month, state.issue)
            keys = _keys_of_today(thawed, month)
            frozen = replace(closed_month.frozen_of(thawed), input_keys=keys)
            write = partial(write_costs, path=today)
            closed_month.build_totals(replace(thawed, frozen=frozen), month, write)
        with workspace.opened(path, settings) as con:
            con.execute("begin")
            closed = [each.month for each in known.values() if each.is_closed]
            con.execute(
                "delete from corrections where corrected_month = $month "
                "and month not in (select unnest($closed::varchar[]))",
                {"month": month, "closed": closed},
            )
            if state.is_closed:
                issued = closed_month.folder_of(settings, month, state.issue) / "costs.parquet"
                _insert_owed(con, month, carrier, today, issued)
            con.execute("commit")
            return _notes(con, month, carrier)


def _insert_owed(
    con: duckdb.DuckDBPyConnection, month: str, carrier: str, today: Path, issued: Path
) -> None:
    owed = _OWED_SQL.format(today=literal(str(today)), issued=literal(str(issued)))
    con.execute(
        "insert into corrections by name select $carrier as month, $month as corrected_month, "
        f"owed.* from ({owed}) as owed",
        {"month": month, "carrier": carrier},
    )


def _keys_of_today(thawed: Settings, month: str) -> tuple[str, ...]:
    con = warehouse.connect(None, thawed.memory_limit_gb)
    try:
        create_corrections(con)
        path = workspace.require_workspace(thawed)
        return workspace_rows.chosen_keys(con, path, month, None)
    finally:
        con.close()


def _first_open(known: dict[str, MonthState], month: str) -> str:
    later = workspace_rows.months_back(month, -1)
    while later in known and known[later].is_closed:
        later = workspace_rows.months_back(later, -1)
    return later


def _waiting(month: str, lost: list[str]) -> str:
    return (
        f"{month} is closed, and {len(lost)} of the files it rests on are not loaded, first "
        f"{lost[0]}: no corrections of it are worked out until they are"
    )


def _notes(con: duckdb.DuckDBPyConnection, month: str, carrier: str) -> list[str]:
    rows = con.execute(
        "select count(*), sum(request_count), sum(cost_usd) from corrections "
        "where corrected_month = $month and month = $carrier",
        {"month": month, "carrier": carrier},
    ).fetchall()
    line_count, requests, cost = rows[0]
    if not line_count:
        return []
    money = "no known cost" if cost is None else f"{cost:,.6f} USD"
    return [
        f"{month} is closed: {requests or 0:,} late requests, {money}, are carried by {carrier} as "
        "corrections"
    ]
