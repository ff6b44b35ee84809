"""Read a clean log in one pass: its lines go straight into raw_usage, nothing is held in between.

Most logs are clean: every line is one record of the declared shape. That is known afterwards, when
as many rows have arrived as the file has lines. Any fault undoes the pass, and the file is read
again with care, which names each bad line.
"""

import functools
import re
from collections.abc import Callable, Collection

import duckdb

from pipeline.ingest import contract, stage, unknown_columns
from pipeline.ingest.detect import Recognised
from pipeline.ingest.relations import absent_columns, is_general, lines_sql
from pipeline.ingest.unknown_columns import UnknownColumn

_CURRENCY = "billed_currency"
_UNREADABLE_CELL = "Error when converting column"  # DuckDB's words
# A select without these gives one row for each record, in the order of the file.
_REARRANGING = re.compile(r"\b(join|where|union|unnest|group by|qualify|order by|distinct)\b")


def is_possible(found: Recognised, select: str) -> bool:
    """Say whether a file can be read in one pass, if it is clean.

    Args:
        found: The file.
        select: The SQL of its form; the place of a row tells its line only if that keeps all rows.
    """
    if _REARRANGING.search(re.sub(r"--.*", "", select)):
        return False
    # Rates of currencies are joined, and the signs of unknown columns are held beside.
    if found.file_kind == "csv":
        return _CURRENCY not in found.columns and not unknown_columns.in_header(found)
    is_text = found.file_kind == "json" and not found.is_gzip
    has_currency = _CURRENCY in (found.head_keys if is_general(found) else select)
    return is_text and found.source.is_flat and not has_currency


def read(
    con: duckdb.DuckDBPyConnection,
    found: Recognised,
    input_id: int,
    insert: Callable[[Collection[str]], int],
) -> list[UnknownColumn] | None:
    """Load a file in one pass; return its columns that no select reads, or None if it is not clean.

    Args:
        con: Is left as it was where the file is not clean.
        found: The file; is_possible holds.
        input_id: Its number in raw_usage.
        insert: Inserts source_rows into raw_usage and returns how many rows it has inserted; it is
            given the columns that are certain to be null.
    """
    head_count = int(found.file_kind == "csv")
    row_count = found.line_count - head_count
    for lay_out, absent in _ways(con, found):
        lay_out()
        fault = _fault_of_pass(con, row_count, functools.partial(insert, absent))
        if fault == "":
            break
        if _UNREADABLE_CELL not in fault and stage.MORE_KEYS not in fault:
            return None
    else:
        return None
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


def _ways(
    con: duckdb.DuckDBPyConnection, found: Recognised
) -> list[tuple[Callable[[], None], frozenset[str]]]:
    """Return what makes source_rows, the fastest first, and the columns that are null by it."""
    if found.file_kind == "csv":
        # As text, a cell that is no number or time is told of its row.
        absent = absent_columns(found)
        return [
            (functools.partial(stage.view_straight_csv, con, found, is_typed=is_typed), absent)
            for is_typed in (True, False)
        ]
    missing = [frozenset[str]()]
    if is_general(found):
        rare = frozenset(contract.RARE).intersection(found.source.columns)
        missing = [rare - found.head_keys, frozenset({_CURRENCY})]
    return [
        (functools.partial(stage.view_straight_json, con, found, absent), absent)
        for absent in missing
    ]


def _fault_of_pass(
    con: duckdb.DuckDBPyConnection, row_count: int, insert: Callable[[], int]
) -> str:
    """Insert a file's rows; undo it and say why where not every line is a row, else return ''."""
    con.execute("begin transaction")
    try:
        fault = "" if insert() == row_count else "lines that are no rows"
    except duckdb.Error as error:
        fault = str(error)
    con.execute("rollback" if fault else "commit")
    con.execute("drop view source_rows")
    return fault
