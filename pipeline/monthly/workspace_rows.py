"""Put the raw rows that the report of a month needs from a workspace into its own warehouse.

A month is compared with the one before, and its outlook looks back 8 weeks, which are the two; so
it rests on its own rows and those of the month before, never on what comes later. Each month more
would take an eighth more time.

The rows of the month before are only summed, so a report reads them where they lie: to copy them
would take a tenth of its time. They are copied where something must be written to them, and for
readers that look single rows up.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipeline.errors import IncompleteInputError
from pipeline.ingest import contract, duplicates, fx, overlaps
from pipeline.ingest.columns import literal
from pipeline.ingest.tables import STORED, create_tables, make_room
from pipeline.monthly.workspace_faults import damaged, lost, reading
from pipeline.settings import ASSUME_KEYS, Frozen

MONTHS_BEFORE = 1


def last_month(con: duckdb.DuckDBPyConnection, schema: str = "") -> str:
    """Return the last month of a warehouse with usage.

    Raises:
        IncompleteInputError: Where the workspace has none.
    """
    rows = con.execute(
        f"select max(month) from {schema}raw_usage inner join {schema}raw_inputs using (file_id) "
        "where replaced_by is null and reject_reasons is null"
    ).fetchall()
    if rows[0][0] is None:
        raise IncompleteInputError(
            "workspace: expected usage rows, found none. Load logs with `joulebook ingest PATH … "
            "--load`."
        )
    return str(rows[0][0])


def months_back(month: str, count: int) -> str:
    """Return the month so many months before; after it where the count is below zero."""
    number = int(month[:4]) * 12 + int(month[5:]) - 1 - count
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def fill(
    con: duckdb.DuckDBPyConnection,
    warehouse: Path,
    month: str | None,
    frozen: Frozen | None,
    *,
    copies_all: bool,
) -> list[str]:
    """Fill raw_usage, raw_inputs, raw_unknown_columns and raw_corrections; return the notes.

    Where it need not copy all, raw_usage may become a view that reads the month before out of the
    warehouse, which stays attached as `book` until the connection is closed.
    """
    with _attached(con, warehouse):
        first, last = _choose(con, month, frozen)
        if frozen is None:
            _require_rows(con, last)
        create_tables(con, computed=contract.RARE)
        _fill_inputs(con)
        con.execute("update raw_reported set first_month = $month", {"month": last})
        if not copies_all and _can_lie(con, first, last):
            _fill_beside(con, first, last)
            return []
        _fill_rows(con, first, last)
    con.execute("detach book")
    to_convert = con.execute("select input_id from chosen_inputs where is_to_convert").fetchall()
    fx.convert(con, [row[0] for row in to_convert])
    duplicates.mark_repeated(con)
    return overlaps.set_coarser_aside(con)


def _require_rows(con: duckdb.DuckDBPyConnection, month: str) -> None:
    """Refuse a month without rows, and say which have some.

    Raises:
        IncompleteInputError: Where the workspace holds no accepted row of the month.
    """
    held = (
        "from book.raw_usage inner join book.raw_inputs using (file_id) where replaced_by is null"
    )
    if con.execute(
        f"select 1 {held} and month = $month and reject_reasons is null limit 1", {"month": month}
    ).fetchall():
        return
    rows = con.execute(
        f"select distinct month {held} and reject_reasons is null order by month"
    ).fetchall()
    months = [row[0] for row in rows]
    named = ", ".join(months[-12:]) + (f" and {len(months) - 12} before" if months[12:] else "")
    raise IncompleteInputError(
        f"month {month}: expected usage rows, found none. The workspace holds {named or 'none'}. "
        "Load the logs of the month with `joulebook ingest PATH … --load`."
    )


def chosen_keys(
    con: duckdb.DuckDBPyConnection, warehouse: Path, month: str, frozen: Frozen | None
) -> tuple[str, ...]:
    """Return the keys of the files that a month rests on, and fill raw_corrections alone."""
    with _attached(con, warehouse):
        _choose(con, month, frozen)
    con.execute("detach book")
    rows = con.execute("select input_key from chosen_inputs order by input_id").fetchall()
    return tuple(row[0] for row in rows)


@contextmanager
def _attached(con: duckdb.DuckDBPyConnection, warehouse: Path) -> Iterator[None]:
    if not warehouse.exists():
        raise lost(warehouse)
    try:
        con.execute(f"attach {literal(str(warehouse))} as book (read_only)")
    except duckdb.Error as error:
        raise damaged(warehouse, error) from None
    with reading(warehouse):
        yield


def _choose(
    con: duckdb.DuckDBPyConnection, month: str | None, frozen: Frozen | None
) -> tuple[str, str]:
    """Choose the files and corrections of a month; return its first and last month of rows."""
    last = month or last_month(con, "book.")
    first = months_back(last, MONTHS_BEFORE)
    _choose_inputs(con, first, last, frozen)
    _fill_corrections(con, first, last, frozen)
    return first, last


def _choose_inputs(
    con: duckdb.DuckDBPyConnection, first: str, last: str, frozen: Frozen | None
) -> None:
    """Choose the files with rows in these months, in an order that loading does not decide."""
    chosen = (
        "replaced_by is null"
        if frozen is None
        else "input_key in (select unnest($keys::varchar[]))"
    )
    values: dict[str, object] = {"first": first, "last": last}
    if frozen is not None:
        values["keys"] = list(frozen.input_keys)
    assumed = ", ".join(f"assumed_{name}" for name in ASSUME_KEYS)
    con.execute(
        f"""
        create or replace table chosen_inputs as
        with
        counted as (
            select
                file_id, count(*) as row_count,
                min(occurred_at) filter (where reject_reasons is null) as first_at,
                max(occurred_at) filter (where reject_reasons is null) as last_at
            from book.raw_usage where book_month between $first and $last
            group by file_id
        )
        select
            row_number() over (order by source_file, content_sha256, input_key, file_id)::integer
                as input_id,
            file_id, input_key, source_file, source_format, content_sha256, size_bytes,
            counted.row_count, first_at, last_at, {assumed}, filled_columns,
            is_as_billed and list_contains(filled_columns, 'billed_currency') as is_to_convert
        from book.raw_inputs inner join counted using (file_id)
        where {chosen}
        """,
        values,
    )


def _fill_inputs(con: duckdb.DuckDBPyConnection) -> None:
    con.execute(
        "insert into raw_inputs by name "
        "select * exclude (file_id, input_key, filled_columns, is_to_convert) from chosen_inputs "
        "order by input_id"
    )
    con.execute(
        "insert into raw_unknown_columns by name select input_id, unknown.* exclude (file_id) "
        "from book.raw_unknown_columns as unknown inner join chosen_inputs using (file_id) "
        "order by all"
    )


def _fill_rows(
    con: duckdb.DuckDBPyConnection, first: str, last: str, is_duplicate: str = "false"
) -> None:
    columns = _columns(con)
    make_room(con, set(columns))
    con.execute(f"insert into raw_usage by name {_rows_sql(columns, first, last, is_duplicate)}")


def _can_lie(con: duckdb.DuckDBPyConnection, first: str, last: str) -> bool:
    """Tell whether there is a month before, and nothing but repeated requests to be marked."""
    found = con.execute(
        "select bool_or(book_month = $first), "
        "bool_or(is_to_convert or bucket_end_at > occurred_at) is not true "
        f"{_chosen_rows(first, last)}",
        {"first": first},
    ).fetchall()
    return all(found[0])


def _fill_beside(con: duckdb.DuckDBPyConnection, first: str, last: str) -> None:
    """Copy the month alone, and make raw_usage a view of it and of the months before it."""
    told = (
        f"select rows.rowid as row_id, input_id, rows.*, source_format {_chosen_rows(first, last)}"
    )
    con.execute(f"create table repeated_rows as {duplicates.repeated_sql(told)}")
    is_duplicate = "rows.rowid in (select row_id from repeated_rows)"
    if not con.execute("from repeated_rows limit 1").fetchall():
        is_duplicate = "false"
    _fill_rows(con, last, last, is_duplicate)
    con.execute("alter table raw_usage rename to copied_usage")
    before = _rows_sql(_columns(con), first, months_back(last, 1), is_duplicate)
    con.execute(f"create view raw_usage as from copied_usage union all by name {before}")


def _columns(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the columns to read: those that any of the chosen files fills, and all usual ones."""
    rows = con.execute("select distinct unnest(filled_columns) from chosen_inputs").fetchall()
    filled = {row[0] for row in rows}
    return [name for name in STORED if name in filled or name not in contract.RARE]


def _rows_sql(columns: Iterable[str], first: str, last: str, is_duplicate: str) -> str:
    """Return the select of the chosen rows of some months."""
    return (
        f"select input_id, source_line, {', '.join(columns)}, month, reject_reasons, "
        f"{is_duplicate} as is_duplicate, identities_checked {_chosen_rows(first, last)}"
    )


def _chosen_rows(first: str, last: str) -> str:
    """Return the clauses of a select that read the chosen rows of some months."""
    return (
        "from book.raw_usage as rows inner join chosen_inputs using (file_id) "
        f"where book_month between {literal(first)} and {literal(last)}"
    )


def _fill_corrections(
    con: duckdb.DuckDBPyConnection, first: str, last: str, frozen: Frozen | None
) -> None:
    source = "book.corrections" if frozen is None else "read_parquet($path)"
    values = {"first": first, "last": last}
    if frozen is not None:
        values["path"] = str(frozen.folder / "corrections.parquet")
    con.execute(
        f"insert into raw_corrections by name select * from {source} "
        "where month between $first and $last order by all",
        values,
    )
