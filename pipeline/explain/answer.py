"""Build the month in a temporary warehouse and explain one of its numbers; nothing is kept."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb

from pipeline import job, warehouse
from pipeline.explain import find, wording
from pipeline.explain.cell import explain_cell
from pipeline.explain.lines import Explanation, Fact, Part
from pipeline.explain.record import kept_for
from pipeline.explain.request import explain_request
from pipeline.explain.warehouse_rows import Row
from pipeline.frames.sections import frames
from pipeline.report import workbook
from pipeline.report.assemble import build_report
from pipeline.settings import Settings
from pipeline.warehouse import CheckResult


def explain(
    settings: Settings, asked: str, month: str | None, tell: Callable[[str], None]
) -> Explanation:
    """Return how one number of the report comes about.

    Args:
        settings: What the report would be built under.
        asked: A request id, `file:line`, a cell such as `Energy!F10`, or an anchor of the page.
        month: The month; of cells the last one where none is named.
        tell: Takes notes and progress.

    Raises:
        WrongUseError: Where nothing or several things have that name.
    """
    with tempfile.TemporaryDirectory() as aside:
        con = warehouse.connect(Path(aside) / "warehouse.duckdb", settings.memory_limit_gb)
        try:
            checks = job.build_month_book(con, settings, tell, month)
            return explain_in(con, settings, checks, asked, month)
        finally:
            con.close()


def explain_in(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    checks: Sequence[CheckResult],
    asked: str,
    month: str | None,
) -> Explanation:
    """Return the same from a warehouse that is built."""
    if not find.is_cell(asked) or find.records(con, asked):
        if month is not None:
            job.choose_month(con, month)
        found = find.one_record(con, asked, month)
        if found["reject_reasons"] or found["is_duplicate"]:
            return _left_out(con, found)
        return explain_request(con, found["row_id"])
    chosen = job.choose_month(con, month)
    report = build_report(frames(con, checks), chosen, job.facts(con, settings, chosen))
    return explain_cell(con, find.find_cell(asked, report, workbook.render(report)), chosen)


def _left_out(con: duckdb.DuckDBPyConnection, found: Row) -> Explanation:
    """Return why a row is in no figure: what is wrong with it, or which row it repeats."""
    place = f"{found['source_file']} line {found['source_line']:,}"
    lines = [
        Fact("source_file", "file", found["source_file"]),
        Fact("source_line", "line", found["source_line"]),
        Fact("request_id", "request id", found["request_id"]),
    ]
    if found["reject_reasons"]:
        reasons = found["reject_reasons"]
        lines.append(Fact("reason", "set aside", reasons, note=wording.reject_note(reasons)))
        title = f"{place} is set aside and in no figure"
    else:
        kept = kept_for(con, found)
        lines.append(Fact("kept", "the same request as", kept, note="the line that is kept"))
        title = f"{place} repeats a request and is in no figure"
    facts = {each.name: each.value for each in lines}
    return Explanation("left_out", title, facts, (Part("record", "Record", tuple(lines)),))
