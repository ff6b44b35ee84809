"""The SQL relations that read a log file: its cells, its lines, what is taken of its JSON."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from pipeline.ingest import contract
from pipeline.ingest.columns import Columns, columns_of, json_path, literal, quoted
from pipeline.ingest.detect import Recognised
from pipeline.ingest.sources import Source

_MAX_LINE_BYTES = 16_000_000
_LINE_BYTES = 4_000_000  # of most logs; the reader's buffers grow with it
LINES = "header = false, delim = '\x01', quote = '', escape = ''"  # the shape of lines as such


def is_general(found: Recognised) -> bool:
    """Say whether a file is of the general form, whose columns are all optional but for a few."""
    return found.source.name == "general"


def absent_columns(found: Recognised) -> frozenset[str]:
    """Return the rare columns of the general form that a table lacks; they keep their names."""
    is_table = found.file_kind in ("csv", "parquet")
    if not is_general(found) or not is_table:
        return frozenset()
    return frozenset(contract.RARE).difference(found.columns)


def csv_columns(found: Recognised) -> tuple[list[str], dict[str, str], Columns, str]:
    """Return a CSV file's cells, the cell of each column, the declared columns, and its shape."""
    cells = [f"c{number}" for number in range(len(found.columns))]
    cell_of = dict(zip(reversed(found.columns), reversed(cells), strict=True))
    shape = f"header = true, delim = {literal(found.delimiter)}, quote = '\"', escape = '\"'"
    return cells, cell_of, columns_of(found.source.columns, cell_of), shape


def json_columns(found: Recognised) -> Columns:
    """Return the declared columns of a JSON file, read out of its lines."""
    source = found.source
    return columns_of(
        source.columns, _text_cells(found), "line", _readers(source), dict(source.spares)
    )


def json_value_columns(found: Recognised) -> tuple[dict[str, str], Columns]:
    """Return the types of a JSON file's values, and the declared columns read out of those.

    An object is held as JSON: as text, a text that spells an object would pass for one.
    """
    source = found.source
    objects = {key.partition(".")[0] for key in source.columns if "." in key} - set(
        _text_cells(found)
    )
    roots = dict.fromkeys(key.partition(".")[0] for key in source.columns)
    types = {root: "json" if root in objects else "varchar" for root in roots}
    cells = {root: quoted(root) for root in roots}
    return types, columns_of(
        source.columns, cells, readers=_readers(source), spares=dict(source.spares)
    )


def _readers(source: Source) -> dict[str, str]:
    return dict.fromkeys(source.counts, "count_of") | dict.fromkeys(source.times, "time_of")


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


def read_json_lines(found: Recognised, types: Mapping[str, str]) -> str:
    """Return the SQL that reads values of a file with an object a line; it stops at any other."""
    declared = ", ".join(f"{literal(name)}: '{kind}'" for name, kind in types.items())
    return (
        f"read_json({literal(str(found.path))}, format = 'newline_delimited', records = true, "
        f"columns = {{{declared}}}, "
        f"maximum_object_size = {max(_LINE_BYTES, found.longest_line_bytes + 1)})"
    )


def lines_sql(found: Recognised) -> str:
    """Return the SQL of a relation with the lines of a file."""
    return read_csv(
        found, found.path, compression_of(found), ["line"], LINES, "ignore_errors = true"
    )


def listed(parts: Iterable[str]) -> str:
    """Return a list of SQL."""
    return ", ".join(parts)
