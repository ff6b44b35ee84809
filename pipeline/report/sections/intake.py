"""What was read: every row of every file was accepted, a duplicate, or rejected for a reason."""

import polars as pl

from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import reading as r

_FILE = Column("source_file", "File", "text", meaning="File as it was given.")
_FORMAT = Column("source_format", "Format", "text", meaning="Form the file was recognised as.")
_FILE_COLUMNS = (
    _FILE,
    _FORMAT,
    Column("rows_read", "Read", "count", meaning="Records of the source."),
    Column("accepted", "Accepted", "count", meaning="Records in the figures."),
    Column("duplicate", "Duplicate", "count", meaning="Records seen before, left out."),
    Column("rejected", "Rejected", "count", meaning="Records set aside with a reason."),
    Column("accepted_frac", "Accepted share", "frac", meaning="Accepted over read."),
)
_REASON_COLUMNS = (
    _FILE,
    Column("outcome", "Outcome", "text", meaning="duplicate or rejected."),
    Column("reason", "Reason", "text", meaning="Why the records were left out."),
    Column("row_count", "Rows", "count", meaning="Records left out for this reason."),
)
_UNKNOWN_COLUMNS = (
    _FILE,
    Column("column_name", "Column", "text", meaning="Column or key that this version reads not."),
    Column("filled_row_count", "Filled rows", "count", meaning="Rows in which it says something."),
    Column("number_row_count", "Rows with numbers", "count", meaning="Rows with a number but 0."),
    Column("note", "Note", "text", meaning="Whether it may carry tokens or money.", unknown=""),
)
_OUTCOMES = ("accepted", "duplicate", "rejected")


def section(mart: pl.DataFrame, unknown: pl.DataFrame) -> Section:
    """Return the intake of the run, which spans all its months.

    Args:
        mart: mart_intake.
        unknown: Columns that no select reads, by file, with how many rows fill them.
    """
    is_empty = mart.is_empty()
    files = _files(mart)
    return Section(
        name="intake",
        title="Intake",
        sheet="Intake",
        question="Which files were read, and what became of every row?",
        statements=() if is_empty else (_statement(files), *_unknown_statement(unknown)),
        tables=()
        if is_empty
        else (_file_table(files), *_reason_tables(mart), *_unknown_tables(unknown)),
        empty_reason="No file was read." if is_empty else "",
    )


def _files(mart: pl.DataFrame) -> pl.DataFrame:
    counts = [
        pl.col("row_count").filter(pl.col("outcome") == outcome).sum().cast(pl.Int64).alias(outcome)
        for outcome in _OUTCOMES
    ]
    files = mart.group_by("source_file", "source_format").agg(*counts)
    return (
        files.with_columns(pl.sum_horizontal(_OUTCOMES).alias("rows_read"))
        .with_columns(r.ratio("accepted", "rows_read").alias("accepted_frac"))
        .sort("source_file", "source_format", nulls_last=True)
    )


def _file_table(files: pl.DataFrame) -> Table:
    return Table(
        "intake",
        "Rows of each file: read = accepted + duplicate + rejected",
        _FILE_COLUMNS,
        r.table_rows(files, _FILE_COLUMNS),
        r.total_row(files, _FILE_COLUMNS, ("rows_read", *_OUTCOMES)),
        "All months of the run's files.",
    )


def _reason_tables(mart: pl.DataFrame) -> tuple[Table, ...]:
    left_out = mart.filter(pl.col("outcome") != "accepted")
    if left_out.is_empty():
        return ()
    ordered = r.sorted_by(left_out, "row_count", "source_file", "outcome", "reason")
    rows = r.table_rows(ordered, _REASON_COLUMNS)
    return (Table("intake_reasons", "Why rows were left out", _REASON_COLUMNS, rows),)


def _unknown_statement(unknown: pl.DataFrame) -> tuple[str, ...]:
    loud = unknown.filter(pl.col("is_token_like"))
    if loud.is_empty():
        return ()
    names = sorted(set(loud.get_column("column_name")))
    return (
        f"Columns that may hold tokens or money and that no figure counts: {', '.join(names)}.",
    )


def _unknown_tables(unknown: pl.DataFrame) -> tuple[Table, ...]:
    if unknown.is_empty():
        return ()
    noted = unknown.with_columns(
        pl.when("is_token_like")
        .then(pl.lit("may be tokens or money that no figure counts"))
        .alias("note")
    )
    ordered = noted.sort(
        "is_token_like", "source_file", "column_name", descending=[True, False, False]
    )
    rows = r.table_rows(ordered, _UNKNOWN_COLUMNS)
    return (
        Table(
            "unknown_columns",
            "Columns of the files that are not read",
            _UNKNOWN_COLUMNS,
            rows,
            note="Newer exports add columns. Their values are kept nowhere.",
        ),
    )


def _statement(files: pl.DataFrame) -> str:
    read, accepted, duplicate, rejected = (
        r.count_sum(files, name) for name in ("rows_read", *_OUTCOMES)
    )
    return (
        f"Rows read: {read:,} = {accepted:,} accepted + {duplicate:,} duplicate + "
        f"{rejected:,} rejected; files: {files.height:,}."
    )
