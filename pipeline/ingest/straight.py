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
from pipeline.ingest.unknown_columns import UnknownColumn

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
    stage.view_straight(con, found)
    head_count = int(found.file_kind == "csv")
    con.execute("begin transaction")
    try:
        is_clean = insert() == found.line_count - head_count
    except duckdb.Error:
        is_clean = False
    con.execute("commit" if is_clean else "rollback")
    con.execute("drop view source_rows")
    if not is_clean:
        return None
    con.execute(
        "update raw_usage set source_line = raw_usage.rowid - first.row_id + 1 + $head_count "
        "from (select min(rowid) as row_id from raw_usage where input_id = $input_id) as first "
        "where input_id = $input_id",
        {"input_id": input_id, "head_count": head_count},
    )
    if found.file_kind == "csv":
        return []
    return unknown_columns.in_some_lines(con, found, stage.lines_sql(found))
