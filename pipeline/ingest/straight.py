"""Read a clean log in one pass: its lines go straight into raw_usage, nothing is held in between.

Most logs are clean: every line is one record of the declared shape. That is known afterwards, when
as many rows have arrived as the file has lines. Any fault undoes the pass, and the file is read
again with care, which names each bad line.
"""

import re
from collections.abc import Callable

import duckdb

from pipeline.ingest import stage, unknown_columns
from pipeline.ingest.detect import Recognised
from pipeline.ingest.relations import lines_sql
from pipeline.ingest.unknown_columns import UnknownColumn

# A select without these gives one row for each record, in the order of the file.
_UNREADABLE_CELL = "Error when converting column"  # DuckDB's words
_REARRANGING = re.compile(r"\b(join|where|union|unnest|group by|qualify|order by|distinct)\b")


def is_possible(found: Recognised, select: str) -> bool:
    """Say whether a file can be read in one pass, if it is clean.

    Args:
        found: The file.
        select: The SQL of its form; the place of a row tells its line only if that keeps all rows.
    """
    if _REARRANGING.search(re.sub(r"--.*", "", select)):
        return False
    if found.file_kind == "csv":
        # Rates of currencies are joined, and the signs of unknown columns are held beside.
        return "billed_currency" not in found.columns and not unknown_columns.in_header(found)
    is_text = found.file_kind == "json" and not found.is_gzip
    return is_text and found.source.is_flat and "billed_currency" not in select


def read(
    con: duckdb.DuckDBPyConnection,
    found: Recognised,
    input_id: int,
    insert: Callable[[], int],
) -> list[UnknownColumn] | None:
    """Load a file in one pass; return its columns that no select reads, or None if it is not clean.

    Args:
        con: Is left as it was where the file is not clean.
        found: The file; is_possible holds.
        input_id: Its number in raw_usage.
        insert: Inserts source_rows into raw_usage and returns how many rows it has inserted.
    """
    head_count = int(found.file_kind == "csv")
    is_clean, is_typed = False, found.file_kind == "csv"
    while not is_clean:
        fault = _fault_of_pass(con, found, found.line_count - head_count, insert, is_typed=is_typed)
        is_clean = fault == ""
        if not is_clean and not (is_typed and _UNREADABLE_CELL in fault):
            return None
        is_typed = False  # as text, a cell that is no number or time is told of its row
    (first_row_id,) = con.execute(
        "select min(rowid) from raw_usage where input_id = $id", {"id": input_id}
    ).fetchall()[0]
    con.execute(
        "update raw_usage set source_line = rowid + $shift where input_id = $id",
        {"id": input_id, "shift": 1 + head_count - (first_row_id or 0)},
    )
    if found.file_kind == "csv":
        return []
    return unknown_columns.in_some_lines(con, found, lines_sql(found))


def _fault_of_pass(
    con: duckdb.DuckDBPyConnection,
    found: Recognised,
    row_count: int,
    insert: Callable[[], int],
    *,
    is_typed: bool,
) -> str:
    """Insert a file's rows; undo it and say why where not every line is a row, else return ''."""
    stage.view_straight(con, found, is_typed=is_typed)
    con.execute("begin transaction")
    try:
        fault = "" if insert() == row_count else "lines that are no rows"
    except duckdb.Error as error:
        fault = str(error)
    con.execute("rollback" if fault else "commit")
    con.execute("drop view source_rows")
    return fault
