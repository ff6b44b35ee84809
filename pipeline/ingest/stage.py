"""Open one log file as the view source_rows, and what cannot be a row as staged_rejects."""

import json

import duckdb

from pipeline.ingest.detect import Recognised, document_records

_MAX_LINE_BYTES = 16_000_000


def stage(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Make the views that a source's SQL reads.

    source_rows has source_line and every column that the source declares, null where the file has
    none; staged_rejects has source_line and reject_reasons of lines that are no rows at all.
    """
    con.execute("drop view if exists source_rows")
    con.execute(
        "create or replace temp table staged_rejects (source_line bigint, reject_reasons varchar)"
    )
    if found.file_kind == "parquet":
        _stage_parquet(con, found)
    elif found.file_kind == "csv":
        _stage_csv(con, found)
    else:
        _stage_json(con, found)


def clear(con: duckdb.DuckDBPyConnection) -> None:
    """Forget the staged file: its lines may hold prompts, and prompts are never kept."""
    for view in ("source_rows", "numbered_cells"):
        con.execute(f"drop view if exists {view}")
    for table in ("source_cells", "staged_rejects"):
        con.execute(f"drop table if exists {table}")


def _stage_parquet(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    columns = ", ".join(
        f"{_quoted(key)} as {_column_name(key)}"
        if key in found.columns
        else f"null::varchar as {_column_name(key)}"
        for key in found.source.columns
    )
    con.execute(
        "create or replace temp view source_rows as select file_row_number + 1 as source_line, "
        f"{columns} from read_parquet({_literal(str(found.path))}, file_row_number = true)"
    )


def _stage_csv(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Read a CSV file as text; a line that is not of its shape keeps its number and reason."""
    cells = [f"c{number}" for number in range(len(found.columns))]
    _read_text(
        con,
        found,
        cells,
        f"header = true, delim = {_literal(found.delimiter)}, quote = '\"', escape = '\"'",
    )
    cell_of = dict(zip(reversed(found.columns), reversed(cells), strict=True))
    columns = ", ".join(
        f"{cell_of[key]} as {_column_name(key)}"
        if key in cell_of
        else f"null::varchar as {_column_name(key)}"
        for key in found.source.columns
    )
    con.execute(
        f"create or replace temp view source_rows as select source_line, {columns} "
        "from numbered_cells"
    )


def _stage_json(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Read JSON records; every declared key comes out of one parse of its line, as text.

    The record itself is there too, as `document`, for forms that nest rows in lists.
    """
    if found.file_kind == "document":
        _cut_document(con, found)
    else:
        _read_text(con, found, ["line"], "header = false, delim = '\x01', quote = '', escape = ''")
    con.execute("""
        insert into staged_rejects
        select source_line, 'not_json' from numbered_cells
        where trim(line) <> '' and not json_valid(line)
    """)
    paths = ", ".join(_literal("$." + key) for key in found.source.columns)
    columns = "".join(
        f", found_values[{number}] as {_column_name(key)}"
        for number, key in enumerate(found.source.columns, start=1)
    )
    con.execute(
        f"""
        create or replace temp view source_rows as
        with parsed as (
            select
                source_line, line::json as document,
                json_extract_string(line, [{paths}]::varchar[]) as found_values
            from numbered_cells
            where json_valid(line)
        )
        select source_line, document{columns} from parsed
        """  # keys are our own declarations
    )


def _cut_document(con: duckdb.DuckDBPyConnection, found: Recognised) -> None:
    """Lay the records of one JSON value on lines of their own, numbered from 1."""
    lines = [json.dumps(record) for record in document_records(found.path, found.is_gzip)]
    con.execute("create or replace temp table source_cells (line varchar)")
    con.execute("insert into source_cells select unnest($lines::varchar[])", {"lines": lines})
    _number_lines(con, first_line=1)


def _read_text(
    con: duckdb.DuckDBPyConnection, found: Recognised, cells: list[str], shape: str
) -> None:
    """Read every line as text into numbered_cells, broken ones into staged_rejects."""
    declared = ", ".join(f"'{cell}': 'varchar'" for cell in cells)
    compression = "gzip" if found.is_gzip else "none"
    con.execute(
        "create or replace temp table source_cells as select * from "
        f"read_csv({_literal(str(found.path))}, auto_detect = false, {shape}, "
        f"columns = {{{declared}}}, compression = '{compression}', "
        f"max_line_size = {_MAX_LINE_BYTES}, store_rejects = true, rejects_limit = 0)"
    )
    con.execute("""
        insert into staged_rejects
        select line, 'csv_' || replace(lower(min(error_type::varchar)), ' ', '_')
        from reject_errors
        group by line
    """)
    con.execute("drop table reject_errors")
    con.execute("drop table reject_scans")
    _number_lines(con, first_line=2 if "header = true" in shape else 1)


def _number_lines(con: duckdb.DuckDBPyConnection, first_line: int) -> None:
    """Give each cell row its record number in the file, counting past the lines set aside.

    Before the j-th rejected line stand (line − first_line − j + 1) good ones, so every good row
    from there on lies one line further down.
    """
    con.execute(f"""
        create or replace temp view numbered_cells as
        with shifts as (
            select line_offset, max(shift) as shift
            from (
                select
                    source_line - {first_line} - row_number() over (order by source_line) + 1
                        as line_offset,
                    row_number() over (order by source_line) as shift
                from staged_rejects
                where reject_reasons <> 'not_json'
            )
            group by line_offset
        )
        select
            source_cells.rowid + {first_line} + coalesce(shifts.shift, 0) as source_line,
            source_cells.*
        from source_cells
        asof left join shifts on source_cells.rowid >= shifts.line_offset
    """)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _column_name(key: str) -> str:
    return key.replace(".", "_").lower()
