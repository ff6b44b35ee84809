"""Which claims about the figures were tested, and which of them failed."""

import polars as pl

from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import reading as r

_COLUMNS = (
    Column("check_name", "Check", "text", meaning="The claim, as a sentence."),
    Column("severity", "Severity", "text", meaning="An error stops the run, a warning is told."),
    Column("status", "Status", "status", meaning="pass, warn or fail."),
    Column("violation_count", "Rows against it", "count", meaning="Rows that contradict it."),
    Column("meaning", "Meaning", "text", meaning="What it means for the figures."),
)
_STATUS_ORDER = {"fail": 0, "warn": 1}  # all others pass


def section(checks: pl.DataFrame) -> Section:
    """Return the checks of the run, those that failed first."""
    status = pl.col("status").replace_strict(_STATUS_ORDER, default=2, return_dtype=pl.Int8)
    ordered = checks.sort(status, "check_name").with_columns(
        pl.col("check_name").str.replace_all("_", " ").str.replace_all(r"\bgpu", "GPU")
    )
    rows = r.table_rows(ordered, _COLUMNS)
    return Section(
        name="checks",
        title="Checks",
        sheet="Checks",
        question="Do the figures hold together?",
        statements=(_statement(checks),) if rows else (),
        tables=(Table("checks", "Checks of the run", _COLUMNS, rows),) if rows else (),
        empty_reason="" if rows else "No check has run.",
    )


def _statement(checks: pl.DataFrame) -> str:
    status = checks.get_column("status").to_list()
    passed, warned, failed = (status.count(word) for word in ("pass", "warn", "fail"))
    return f"Passed: {passed:,}; warned: {warned:,}; failed: {failed:,}."
