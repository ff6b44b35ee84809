"""Open one log file as the view source_rows, and what cannot be a row as staged_rejects."""

import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from pipeline.ingest import open_quotes, prometheus, unknown_columns
from pipeline.ingest.columns import Columns, columns_of, quoted, values_name
from pipeline.ingest.detect import Recognised
from pipeline.ingest.records import document_records, file_text, page_records
from pipeline.ingest.relations import (
    LINES,
    compression_of,
    csv_columns,
    json_columns,
    json_value_columns,
    lines_sql,
    listed,
    read_csv,
    read_json_lines,
    read_parquet,
    taken,
)
from pipeline.ingest.unknown_columns import UnknownColumn

Answer = TypeVar("Answer")

MORE_KEYS = "a line has keys that the first ones lack"


def stage(
    con: duckdb.DuckDBPyConnection, found: Recognised, latest: dict[str, prometheus.Counters]
) -> list[UnknownColumn]:
    """Make the views that a source's SQL reads, and return the columns that it does not read.

    source_rows has source_line and every column that the source declares, null where the file has
    none, and the record itself as `document`, null for tables; staged_rejects has source_line and
    reject_reasons of lines that are no rows at all. `latest` hands the counters of metrics from
    one file to the next.
    """
    con.execute("drop view if exists source_rows")
    con.execute(
        "create or replace temp table staged_rejects (source_line bigint, reject_reasons varchar)"
    )
    if found.file_kind == "parquet":
        return _stage_parquet(con, found)
    if found.file_kind == "csv":
        return _stage_csv(con, found)
    if found.file_kind == "metrics":
        _stage_metrics(con, found, latest)
        return []  # a server has hundreds of counters
    return _stage_json(con, found)


def view_straight_csv(con: duckdb.DuckDBPyConnection, found: Recognised, *, is_typed: bool) -> None:
    """Make source_rows a view of a clean CSV file itself.

    Reading it fails at any line that is not of the file's shape, and at a declared count that is
    no number where it is typed. Its source_line is null: in one pass no line knows its number.
    """
    cells, cell_of, columns, shape = csv_columns(found)
    # Not times: the reader of CSV leaves out what zone they name.
    counts = [cell_of[name] for name in found.source.counts if name in cell_of and is_typed]
    types = dict.fromkeys(counts, "double")
    compression, errors = compression_of(found), "ignore_errors = false"
    lines = read_csv(found, found.path, compression, cells, shape, errors, types)
    _view_straight(con, columns, lines, "null")


def view_straight_json(
    con: duckdb.DuckDBPyConnection, found: Recognised, absent: Collection[str]
) -> None:
    """Make source_rows a view of a clean file of JSON lines itself, like that of CSV.

    Reading it fails at any line that is no JSON object, and at one that fills an absent key.
    """
    types, columns = json_value_columns(found)
    filled = f"coalesce({listed(quoted(name) for name in sorted(absent))}) is not null"
    line = f"case when {filled} then error('{MORE_KEYS}') end" if absent else "null"
    kept = [
        f"null::varchar as {quoted(name)}" if name in absent else value
        for name, value in zip(found.source.columns, columns.kept, strict=True)
    ]
    columns = replace(columns, kept=tuple(kept))
    _view_straight(con, columns, read_json_lines(found, types), line)


def _view_straight(
    con: duckdb.DuckDBPyConnection, columns: Columns, rows: str, source_line: str
) -> None:
    con.execute(
        "create or replace temp view source_rows as "
        f"select source_line, null::json as document, {listed(columns.shown)} "
        f"from (select {source_line}::bigint as source_line, {listed(columns.kept)} "
        f"from {taken(columns, rows)})"
    )


def clear(con: duckdb.DuckDBPyConnection) -> None:
    """Forget the staged file: its lines may hold prompts, and prompts are never kept."""
    for view in ("source_rows", "numbered_cells"):
        con.execute(f"drop view if exists {view}")
    for table in ("source_cells", "line_shifts", "staged_rejects"):
        con.execute(f"drop table if exists {table}")


def _stage_parquet(con: duckdb.DuckDBPyConnection, found: Recognised) -> list[UnknownColumn]:
    columns = columns_of(found.source.columns, {name: quoted(name) for name in found.columns})
    con.execute(
        "create or replace temp view source_rows as select source_line, null::json as document, "
        f"{listed(columns.shown)} from (select file_row_number + 1 as source_line, "
        f"{listed(columns.kept)} "
        f"from {taken(columns, read_parquet(found, 'file_row_number = true'))})"
    )
    unknown = {name: quoted(name) for name in unknown_columns.in_header(found)}
    signs = listed(unknown_columns.signs_kept(unknown))
    return unknown_columns.count_signs(
        con, list(unknown), f"(select {signs} from {read_parquet(found)})"
    )


def _stage_csv(con: duckdb.DuckDBPyConnection, found: Recognised) -> list[UnknownColumn]:
    """Read a CSV file as text; a line that is not of its shape keeps its number and reason."""
    cells, cell_of, columns, shape = csv_columns(found)
    unknown = {name: cell_of[name] for name in unknown_columns.in_header(found)}
    kept = [*columns.kept, *unknown_columns.signs_kept(unknown)]
    _read_text(con, found, cells, shape, columns, kept)
    _number_lines(con, first_line=2)
    open_quotes.set_long_cells_aside(con, found)
    con.execute(
        "create or replace temp view source_rows as select source_line, null::json as document, "
        f"{listed(columns.shown)} from numbered_cells anti join staged_rejects using (source_line)"
    )
    return unknown_columns.count_signs(con, list(unknown))


def _stage_json(con: duckdb.DuckDBPyConnection, found: Recognised) -> list[UnknownColumn]:
    """Read JSON records; of flat ones, nothing but the declared values is kept.

    Of others the record itself is there too, as `document`, for forms that nest rows in lists.
    """
    source = found.source
    columns = json_columns(found)
    kept = [
        *columns.kept,
        f"{values_name('line')} is not null as is_json",
        # Lines are long: looked at only where there is no JSON.
        f"case when {values_name('line')} is null then trim(line) <> '' else false end"
        " as is_broken",
    ]
    shown = list(columns.shown)
    if not source.is_flat:
        kept.append("line")
        shown.append("line::json as document")
    unknown: list[UnknownColumn] = []
    if found.file_kind != "json":
        of_file = document_records if found.file_kind == "document" else page_records
        records = of_file(found.path, found.is_gzip)
        _lay_records(con, records, columns, kept)
        unknown = unknown_columns.in_records(source, records)
    else:
        kept.append(unknown_columns.keys_kept(found))
        _read_text(con, found, ["line"], LINES, columns, kept)
        is_nested = any("[]" in key for key in source.signature)
        ask = unknown_columns.in_nested_lines if is_nested else unknown_columns.in_lines
        unknown = _with_one_line_end(
            con, found, lambda readable: ask(con, readable, lines_sql(readable))
        )
    _number_lines(con, first_line=1)
    con.execute(
        "insert into staged_rejects select source_line, 'not_json' from numbered_cells "
        "where is_broken"
    )
    con.execute(
        f"create or replace temp view source_rows as select {listed(('source_line', *shown))} "
        "from numbered_cells where is_json"
    )
    return unknown


def _stage_metrics(
    con: duckdb.DuckDBPyConnection, found: Recognised, latest: dict[str, prometheus.Counters]
) -> None:
    """Read what the counters of a file's scrapes grew by."""
    scrapes, bad_lines = prometheus.scrapes_of(file_text(found.path, found.is_gzip))
    columns = columns_of(found.source.columns, {}, record="line")
    records = prometheus.growths(scrapes, found.source.columns, latest)
    _lay_records(con, records, columns, columns.kept)
    con.execute(
        f"create or replace temp view source_rows as select {listed(columns.shown)} "
        "from source_cells"
    )
    con.execute(
        "insert into staged_rejects select unnest($lines::bigint[]), 'not_metrics'",
        {"lines": bad_lines},
    )


def _lay_records(
    con: duckdb.DuckDBPyConnection,
    records: Iterable[Mapping[str, Any]],
    columns: Columns,
    kept: Iterable[str],
) -> None:
    """Keep what is to be kept of records as if each were a line."""
    con.execute(
        f"create or replace temp table source_cells as select {listed(kept)} "
        f"from {taken(columns, '(select unnest($lines::varchar[]) as line)')}",
        {"lines": [json.dumps(record) for record in records]},
    )


def _read_text(
    con: duckdb.DuckDBPyConnection,
    found: Recognised,
    cells: list[str],
    shape: str,
    columns: Columns,
    kept: Iterable[str],
) -> None:
    """Read what is to be kept of every line into source_cells, broken ones into staged_rejects."""

    def read(readable: Recognised) -> None:
        compression, errors = compression_of(readable), "store_rejects = true, rejects_limit = 0"
        lines = read_csv(readable, readable.path, compression, cells, shape, errors)
        con.execute(
            f"create or replace temp table source_cells as select {listed(kept)} "
            f"from {taken(columns, lines)}"
        )
        open_quotes.require_none_rejected(con, found)
        errors = "ignore_errors = true"
        all_cells = read_csv(readable, readable.path, compression, cells, shape, errors)
        counted = replace(found, line_count=readable.line_count)
        head_count = int(found.file_kind == "csv")
        open_quotes.require_every_line(con, counted, all_cells, lines_sql(readable), head_count)

    _with_one_line_end(con, found, read)
    con.execute(f"""
        insert into staged_rejects
        select line, unnest(list_resize([reason], 1 + swallowed_count, reason))
        from (
            select
                line,
                'csv_' || replace(lower(min(error_type::varchar)), ' ', '_') as reason,
                {open_quotes.SWALLOWED_COUNT} as swallowed_count
            from reject_errors
            group by line
        )
    """)
    con.execute("drop table reject_errors")
    con.execute("drop table reject_scans")


def _with_one_line_end(
    con: duckdb.DuckDBPyConnection, found: Recognised, read: Callable[[Recognised], Answer]
) -> Answer:
    """Read a text; if it has several kinds of line end, which DuckDB refuses, then a copy with one.

    Joined exports have several, and so has a cell with a break of its own.
    """
    try:
        return read(found)
    except duckdb.InvalidInputException as error:
        if "state machine" not in str(error):
            raise
    for table in ("reject_errors", "reject_scans"):
        con.execute(f"drop table if exists {table}")
    text = file_text(found.path, found.is_gzip).replace("\r\n", "\n").replace("\r", "\n")
    line_count = text.count("\n") + (text[-1:] not in ("", "\n"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "lines"
        copy.write_text(text, encoding="utf-8", newline="")
        return read(replace(found, path=copy, is_gzip=False, line_count=line_count))


def _number_lines(con: duckdb.DuckDBPyConnection, first_line: int) -> None:
    """Give each cell row its record number in the file, counting past the lines set aside.

    Before the j-th rejected line stand (line − first_line − j + 1) good ones, so every good row
    from there on lies one line further down.
    """
    has_rejects = con.execute("select 1 from staged_rejects limit 1").fetchall()
    if not has_rejects:
        con.execute(
            "create or replace temp view numbered_cells as "
            f"select rowid + {first_line} as source_line, * from source_cells"
        )
        return
    con.execute(f"""
        create or replace temp table line_shifts as
        select line_offset, max(shift) as shift
        from (
            select
                source_line - {first_line} - row_number() over (order by source_line) + 1
                    as line_offset,
                row_number() over (order by source_line) as shift
            from (select distinct source_line from staged_rejects)
        )
        group by line_offset
    """)
    con.execute(f"""
        create or replace temp view numbered_cells as
        select
            source_cells.rowid + {first_line} + coalesce(line_shifts.shift, 0) as source_line,
            source_cells.*
        from source_cells
        asof left join line_shifts on source_cells.rowid >= line_shifts.line_offset
    """)
