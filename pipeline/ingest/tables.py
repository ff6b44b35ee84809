"""The tables that log files are loaded into, and the columns that they store only where filled."""

import duckdb

from pipeline.ingest import contract, unknown_columns
from pipeline.ingest.macros import MACROS

# Counts are whole by then, or their row is set aside: 64-bit integers store far better.
STORED = {name: "bigint" if name in contract.COUNTS else kind for name, kind in contract.RECORD}


def create_tables(con: duckdb.DuckDBPyConnection, computed: tuple[str, ...] = ()) -> None:
    """Create raw_usage and raw_inputs, empty, and the macros that read cells.

    The computed columns of raw_usage are null and take no place.
    """
    for macro in MACROS:
        con.execute(macro)
    _create_usage(con, {*computed, "duplicate_reason"} if computed else set())
    unknown_columns.create_table(con)
    con.execute("""
        create or replace table raw_inputs (
            input_id integer, source_file varchar, source_format varchar, content_sha256 varchar,
            size_bytes bigint,
            row_count bigint, first_at timestamp, last_at timestamp,
            assumed_model varchar, assumed_provider varchar, assumed_class varchar,
            assumed_team varchar, assumed_start varchar, assumed_batch varchar,
            assumed_gpu varchar, assumed_stack varchar
        )
    """)


def make_room(con: duckdb.DuckDBPyConnection, filled: set[str]) -> None:
    """Let raw_usage store, no longer compute, the columns that a file fills."""
    columns = con.execute(
        # What a column is computed by stands as its default; no other has one.
        "select column_name from duckdb_columns() "
        "where table_name = 'raw_usage' and column_default is not null"
    ).fetchall()
    computed = {name for (name,) in columns}
    if not computed & filled:
        return
    if not con.execute("from raw_usage limit 1").fetchall():  # once is faster than column by column
        _create_usage(con, computed - filled)
        return
    for name in sorted(computed & filled):
        con.execute(f"alter table raw_usage drop column {name}")
        con.execute(f"alter table raw_usage add column {name} {STORED.get(name, 'varchar')}")


def _create_usage(con: duckdb.DuckDBPyConnection, computed: set[str]) -> None:
    columns = {
        **{"input_id": "integer", "source_line": "bigint", **STORED, "month": "varchar"},
        **{"reject_reasons": "varchar", "is_duplicate": "boolean", "duplicate_reason": "varchar"},
        "identities_checked": "utinyint",
    }
    declared = ", ".join(
        f"{name} {kind}" + (f" as (null::{kind}) virtual" if name in computed else "")
        for name, kind in columns.items()
    )
    con.execute(f"create or replace table raw_usage ({declared})")


def null_out(con: duckdb.DuckDBPyConnection, column: str, value: str) -> int:
    """Empty a column of raw_usage where it holds a value; return in how many rows it did.

    A column that no file fills is computed, not stored: there is nothing to empty then.
    """
    held = con.execute(
        f"select count(*) from raw_usage where {column} = $value", {"value": value}
    ).fetchall()[0][0]
    if held:
        con.execute(
            f"update raw_usage set {column} = null where {column} = $value", {"value": value}
        )
    return int(held)
