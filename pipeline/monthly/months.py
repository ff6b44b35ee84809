"""Close, reopen and restate months; every step is written down with who, when and why."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import duckdb

from pipeline import job
from pipeline.errors import (
    ClosedMonthError,
    IncompleteInputError,
    JoulebookError,
    WrongUseError,
)
from pipeline.monthly import closed_month, closed_report, corrections, workspace, workspace_rows
from pipeline.monthly.closed_record import closed_folders, note_reopened
from pipeline.monthly.issued_before import with_issued_before
from pipeline.monthly.months_state import MonthState, state_of
from pipeline.monthly.restate import bridge
from pipeline.monthly.workspace_faults import DamagedWarehouseError, LostWarehouseError
from pipeline.settings import Settings

Tell = Callable[[str], None]
Bridge = tuple[Mapping[str, str], ...]


def report(settings: Settings, month: str | None, out: Path, tell: Tell) -> job.Finished:
    """Make the report of a month of a workspace: of a closed one what was issued, to the byte.

    Raises:
        ClosedMonthError: Where a closed month would not be the same, though nothing has moved.
    """
    if month is None:
        with workspace.opened(workspace.require_workspace(settings), settings) as con:
            month = workspace_rows.last_month(con)
    try:
        state = state_of(settings, month)
    except (DamagedWarehouseError, LostWarehouseError) as error:
        return _without_warehouse(settings, month, out, tell, error)
    if not state.is_closed:
        return job.make_report(with_issued_before(settings, month), month, out, tell)
    tell(f"note: {month} is closed: this is {state.issue}, and what came since is not in it")
    return closed_report.report(settings, state, out, tell)


def _without_warehouse(
    settings: Settings, month: str, out: Path, tell: Tell, error: JoulebookError
) -> job.Finished:
    """Serve a closed month from its own folder, where the warehouse is lost or damaged."""
    folder = closed_folders(settings.folder).get(month)
    if folder is None:
        raise error
    closed_report.require_issued(folder)
    tell(f"note: {month} is served as issued, from {folder}: {error}")
    return closed_report.put_issued(folder, MonthState(month, folder.name), out, settings)


def close(settings: Settings, month: str, out: Path, tell: Tell) -> job.Finished:
    """Issue the report of a month and freeze all it rests on.

    Raises:
        ClosedMonthError: Where it is closed already.
    """
    state = state_of(settings, month)
    if state.is_closed:
        raise ClosedMonthError(
            f"{month}: closed already, as {state.issue} on {state.happened_at} UTC by "
            f"{state.done_by}. `joulebook restate {month}` issues it anew."
        )
    return _issue(settings, state, out, tell, "close", "")


def restate(
    settings: Settings, month: str, out: Path, tell: Tell, reason: str
) -> tuple[job.Finished, Bridge]:
    """Issue a closed month anew from what the workspace holds today, with the bridge to before.

    Raises:
        WrongUseError: Where it is not closed.
        IncompleteInputError: Where files that it rests on are not loaded any more.
    """
    state = _require_closed(settings, month)
    before = closed_month.frozen_of(closed_month.thawed(settings, month, state.issue))
    with workspace.opened(workspace.require_workspace(settings), settings) as con:
        lost = closed_month.lost_inputs(con, settings, before)
    if lost:
        raise IncompleteInputError(
            f"{month}: {len(lost)} of the files that {state.issue} rests on are not loaded, first "
            f"{lost[0]}, so a restatement would lose their usage. Load them, then restate; or, "
            f"where they are gone for good, `joulebook reopen {month} --reason …` and close it."
        )
    made = _issue(settings, state, out, tell, "restate", reason)
    issued = closed_month.thawed(settings, month, made.issue)
    return made, closed_month.frozen_of(issued).bridge


def reopen(settings: Settings, month: str, reason: str) -> MonthState:
    """Open a closed month, so that its report follows logs, prices and method again.

    Raises:
        WrongUseError: Where it is not closed, or no reason is given.
    """
    if not reason.strip():
        raise WrongUseError("--reason: expected why the month is opened, found nothing.")
    state = _require_closed(settings, month)
    with workspace.opened(workspace.require_workspace(settings), settings) as con:
        row = workspace.note_event(con, month, "reopen", state.issue, reason, "")
    note_reopened(closed_month.folder_of(settings, month, state.issue), row)
    corrections.settle(settings, month)
    return state_of(settings, month)


def _require_closed(settings: Settings, month: str) -> MonthState:
    state = state_of(settings, month)
    if not state.is_closed:
        raise WrongUseError(f"{month}: not closed. `joulebook status` shows what is.")
    return state


def _issue(
    settings: Settings, state: MonthState, out: Path, tell: Tell, event: str, reason: str
) -> job.Finished:
    settings = with_issued_before(settings, state.month)
    issue = f"R{int(state.issue[1:]) + 1}" if state.issue else "R0"
    target = closed_month.folder_of(settings, state.month, issue)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building-") as aside:
        folder = Path(aside) / issue
        folder.mkdir()
        frozen = closed_month.freeze_month(settings, state.month, issue, folder)
        if state.issue:
            before = closed_month.thawed(settings, state.month, state.issue)
            steps = bridge(before, frozen, state.month)
            kept = replace(closed_month.frozen_of(frozen), bridge=steps)
            frozen = replace(frozen, frozen=kept)
        totals: list[closed_month.Totals] = []

        def approve(con: duckdb.DuckDBPyConnection, report: Path) -> None:
            totals.append(closed_month.totals_of(con, state.month))
            corrections.write_costs(con, state.month, folder / "costs.parquet")
            shutil.copytree(report, folder / "report")

        made = job.make_report(frozen, state.month, out, tell, approve)
        with workspace.opened(workspace.require_workspace(settings), settings) as con:
            con.execute("begin")
            row = workspace.note_event(con, state.month, event, issue, reason, made.run_id)
            closed_month.write_record(frozen, state.month, row, totals[0])
            shutil.rmtree(target, ignore_errors=True)  # of a run that was killed just here
            folder.rename(target)
            con.execute("commit")
    corrections.settle(settings, state.month)
    return made
