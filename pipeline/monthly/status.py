"""What a workspace holds: its months, their issues, who and when, and the last run of each."""

import datetime as dt
import re
from typing import Any

from pipeline.errors import IncompleteInputError, WrongUseError
from pipeline.monthly import workspace
from pipeline.monthly.closed_month import folder_of
from pipeline.monthly.closed_report import moved_on, require_issued
from pipeline.monthly.months_state import MonthState, states
from pipeline.monthly.workspace_lock import locked
from pipeline.monthly.workspace_run import read_runs
from pipeline.settings import Settings

_REPORTING = ("report", "close", "restate")

_MONTHS_SQL = """
    select
        book_month, count(distinct file_id) as file_count, count(*) as row_count,
        count(*) filter (where reject_reasons is null) as usable_row_count,
        max(loaded_at)::varchar as loaded_at,
        max_by(loaded_by, loaded_at) as loaded_by
    from raw_usage inner join raw_inputs using (file_id)
    where replaced_by is null
    group by book_month
    order by book_month
"""


def rows_of(settings: Settings) -> list[dict[str, Any]]:
    """Return a row for every month, with its rows, its state and its last run."""
    path = workspace.require_workspace(settings)
    with locked(settings.folder), workspace.opened(path, settings) as con:
        held = con.execute(_MONTHS_SQL).fetchall()
        known = states(con)
        carried = dict(
            con.execute(
                "select corrected_month, count(*) from corrections group by corrected_month"
            ).fetchall()
        )
    runs = read_runs(settings.folder)
    return [
        {
            **_row(month, counts, known.get(month, MonthState(month)), carried.get(month, 0), runs),
            "moved_on": _moved_on(settings, known.get(month, MonthState(month))),
        }
        for month, *counts in held
    ]


def text_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the months as lines for people."""
    return [_line(row) for row in rows] or ["no rows loaded"]


def require_recent(settings: Settings, max_age: str) -> None:
    """Stop where no month was reported for longer than `max_age`, such as 35d or 12h.

    Raises:
        WrongUseError: Where that is no time.
        IncompleteInputError: Where the last report is older, or there is none.
    """
    found = re.fullmatch(r"(\d{1,5})([dh])", max_age)
    if found is None:
        raise WrongUseError(f"--max-age {max_age}: expected days or hours, such as 35d or 12h.")
    age = dt.timedelta(hours=int(found[1]) * (24 if found[2] == "d" else 1))
    done = [run for run in read_runs(settings.folder) if _is_report(run)]
    if not done:
        raise IncompleteInputError("status: expected a report, found none made yet.")
    last = dt.datetime.fromisoformat(str(done[-1]["ended_at"]))
    if workspace.utc_now() - last > age:
        raise IncompleteInputError(
            f"status: expected a report within {max_age}, the last one was made on {last} UTC "
            f"({done[-1]['month']}, by {done[-1]['done_by']})."
        )


def _moved_on(settings: Settings, state: MonthState) -> list[str]:
    """Return what of the program is not as it was when a closed month was issued, in words."""
    if not state.is_closed:
        return []
    return moved_on(require_issued(folder_of(settings, state.month, state.issue)))


def _row(
    month: str | None,
    counts: list[Any],
    state: MonthState,
    correction_count: int,
    runs: list[dict[str, object]],
) -> dict[str, Any]:
    names = ("file_count", "row_count", "usable_row_count", "loaded_at", "loaded_by")
    of_month = [run for run in runs if run["month"] == month and run["command"] in _REPORTING]
    last = of_month[-1] if of_month else {}
    return {
        "month": month,
        "state": "closed" if state.is_closed else "open",
        "issue": state.issue,
        "happened_at": state.happened_at,
        "done_by": state.done_by,
        "reason": state.reason,
        **dict(zip(names, counts, strict=True)),
        "correction_count": correction_count,
        "last_run": {
            name: last.get(name)
            for name in ("run_id", "command", "ended_at", "done_by", "exit_code", "warnings")
        },
    }


def _line(row: dict[str, Any]) -> str:
    parts = [
        f"{row['month'] or 'no month':<8} {row['state']:<7}{row['issue']:<4}",
        f"{row['usable_row_count']:,} of {row['row_count']:,} rows, {row['file_count']} files",
    ]
    if row["happened_at"]:
        word = "closed" if row["state"] == "closed" else "opened"
        why = f" ({row['reason']})" if row["reason"] else ""
        parts.append(f"{word} {row['happened_at']} UTC by {row['done_by']}{why}")
    if row["moved_on"]:
        names = " and ".join(word.partition(" ")[0] for word in row["moved_on"])
        parts.append(f"issued by another program ({names}); restate shows what that moves")
    if row["correction_count"]:
        parts.append(f"{row['correction_count']} corrections carried by later months")
    run = row["last_run"]
    if run["command"]:
        checks = f"{len(run['warnings'])} checks warn" if run["exit_code"] == 0 else "FAILED"
        parts.append(f"last {run['command']} {run['ended_at']} UTC: {checks}")
    return "; ".join(parts)


def _is_report(run: dict[str, object]) -> bool:
    return run["command"] in _REPORTING and run["exit_code"] == 0
