"""What is written down of the months of a workspace: which are closed, as which issue, by whom."""

from dataclasses import dataclass

import duckdb

from pipeline.monthly import workspace
from pipeline.settings import Settings


@dataclass(frozen=True)
class MonthState:
    """What became of a month: its last issue, and whether that one holds."""

    month: str
    issue: str = ""  # the last one; '' where there was none
    is_closed: bool = False
    happened_at: str = ""
    done_by: str = ""
    reason: str = ""
    run_id: str = ""
    has_forgotten: bool = False  # since then a user was taken out of its rows


def states(con: duckdb.DuckDBPyConnection) -> dict[str, MonthState]:
    """Return the state of every month of which anything is written down."""
    rows = con.execute("""
        select
            month, event, happened_at::varchar, done_by, reason, run_id, issue,
            coalesce(event_id < forgotten_id, false) as has_forgotten
        from month_events
        left join (
            select month, max(event_id) as forgotten_id
            from month_events where event = 'forget' group by month
        ) as forgotten using (month)
        where event <> 'forget'
        qualify row_number() over (partition by month order by event_id desc) = 1
    """).fetchall()
    return {
        month: MonthState(month, issue, event != "reopen", at, by, reason, run_id, forgot)
        for month, event, at, by, reason, run_id, issue, forgot in rows
    }


def state_of(settings: Settings, month: str) -> MonthState:
    """Return the state of one month."""
    with workspace.opened(workspace.require_workspace(settings), settings) as con:
        return states(con).get(month, MonthState(month))
