"""The SQL relations that read a log file: its cells, its lines, what is taken of its JSON."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from pipeline.ingest.columns import Columns, columns_of, json_path, literal
from pipeline.ingest.detect import Recognised

_MAX_LINE_BYTES = 16_000_000
LINES = "header = false, delim = '\x01', quote = '', escape = ''"  # the shape of lines as such


def csv_columns(found: Recognised) -> tuple[list[str], dict[str, str], Columns, str]:
    """Return a CSV file's cells, the cell of each column, the declared columns, and its shape."""
    cells = [f"c{number}" for number in range(len(found.columns))]
    cell_of = dict(zip(reversed(found.columns), reversed(cells), strict=True))
    shape = f"header = true, delim = {literal(found.delimiter)}, quote = '\"', escape = '\"'"
    return cells, cell_of, columns_of(found.source.columns, cell_of), shape


def json_columns(found: Recognised, *, stops_at_no_json: bool = False) -> Columns:
    """Return the declared columns of a JSON file, read out of its lines."""
    source = found.source
    readers = dict.fromkeys(source.counts, "count_of") | dict.fromkeys(source.times, "time_of")
    return columns_of(
        source.columns,
        _text_cells(found),
        "line",
        readers,
        dict(source.spares),
        stops_at_no_json=stops_at_no_json,
    )


def _text_cells(found: Recognised) -> dict[str, str]:
    """Return the values of a JSON record that should be objects but are texts, or objects of none.

    Some exports write JSON into the texts of their JSON.
    """
    roots = {key.partition(".")[0] for key in found.source.columns if "." in key}
    return {
        root: f"try(json_extract_string(line, {literal(json_path(root))}))"
        for root in sorted(roots & set(found.columns))
        if not any(column.startswith(f"{root}.") for column in found.columns)
    }


def compression_of(found: Recognised) -> str:
    """Return what DuckDB calls the packing of a file."""
    return "gzip" if found.is_gzip else "none"


def taken(columns: Columns, rows: str) -> str:
    """Return the SQL of rows with what is extracted of their JSON, once for all columns."""
    return f"(select {listed(('*', *columns.extracted))} from {rows})"


def read_parquet(found: Recognised, *options: str) -> str:
    """Return the SQL that reads a Parquet file."""
    return f"read_parquet({listed((literal(str(found.path)), *options))})"


def read_csv(
    found: Recognised,
    path: Path,
    compression: str,
    cells: list[str],
    shape: str,
    errors: str,
    types: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the SQL that reads a file's lines; those beyond its buffer DuckDB would leave out."""
    longest = max(_MAX_LINE_BYTES, found.longest_line_bytes + 1)
    declared = ", ".join(f"'{cell}': '{types.get(cell, 'varchar')}'" for cell in cells)
    return (
        f"read_csv({literal(str(path))}, auto_detect = false, {shape}, "
        f"columns = {{{declared}}}, compression = '{compression}', "
        f"max_line_size = {longest}, buffer_size = {2 * longest}, {errors})"
    )


def lines_sql(found: Recognised) -> str:
    """Return the SQL of a relation with the lines of a file."""
    return read_csv(
        found, found.path, compression_of(found), ["line"], LINES, "ignore_errors = true"
    )


def listed(parts: Iterable[str]) -> str:
    """Return a list of SQL."""
    return ", ".join(parts)
