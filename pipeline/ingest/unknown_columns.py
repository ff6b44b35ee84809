"""Name what a file of a known form holds and no select reads: counted, its values never kept.

Newer exports add columns. Most tell nothing that a report needs, but one may carry tokens or money
that the figures then lack, so all of them are listed, and those louder.
"""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from pipeline.ingest.column_names import is_secret_like
from pipeline.ingest.columns import json_path, literal, quoted
from pipeline.ingest.detect import Recognised
from pipeline.ingest.records import line_records
from pipeline.ingest.sources import SOURCES, Source
from pipeline.settings import bundled

MOST_NAMES = 100  # a hostile file may have any number of keys
MOST_LETTERS = 60  # of a name that is shown
_MOST_TOLD = 12  # names in one note; the report has them all
# Of larger files an even share of the lines is asked for its keys, picked by what they begin with.
_ALL_LINES_BYTES = 16_000_000
_PIECES = 64
_PIECE_BYTES = _ALL_LINES_BYTES // _PIECES
_PACKED_RATIO = 8  # a packed log holds about this much more

_USAGE_LIKE = re.compile(r"usage|tokens|details|billed_units|stats|cache_creation", re.IGNORECASE)
_TOKEN_LIKE = re.compile(r"token|cost|price", re.IGNORECASE)


@dataclass(frozen=True)
class UnknownColumn:
    """A column that is not read: how many rows fill it, and how many with a number but zero."""

    name: str
    filled_row_count: int
    number_row_count: int

    @property
    def is_token_like(self) -> bool:
        """Whether it may carry tokens or money that no figure counts."""
        return self.number_row_count > 0 and is_token_like(self.name)


def is_token_like(name: str) -> bool:
    """Say whether a name speaks of tokens or money."""
    return _TOKEN_LIKE.search(name) is not None


def create_table(con: duckdb.DuckDBPyConnection) -> None:
    """Create raw_unknown_columns, empty: a row for each file and column that is not read."""
    con.execute(
        "create or replace table raw_unknown_columns (input_id integer, column_name varchar, "
        "filled_row_count bigint, number_row_count bigint, is_token_like boolean)"
    )


def store(con: duckdb.DuckDBPyConnection, input_id: int, columns: Iterable[UnknownColumn]) -> None:
    """Keep what was found in a file; columns that no row fills are none."""
    rows = [
        (input_id, _shown(each.name), each.filled_row_count, each.number_row_count,
         each.is_token_like)
        for each in columns
        if each.filled_row_count
    ]  # fmt: skip
    if rows:
        con.executemany("insert into raw_unknown_columns values (?, ?, ?, ?, ?)", rows)


def warning(shown: str, columns: Iterable[UnknownColumn]) -> str:
    """Return what to tell aloud of a file: the columns that may cost; '' where there are none."""
    loud = [each for each in columns if each.is_token_like]
    if not loud:
        return ""
    names = [f"{_shown(each.name)} ({each.number_row_count:,} rows)" for each in loud]
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    return (
        f"{shown}: holds numbers in columns that this version does not read: "
        f"{', '.join(names[:_MOST_TOLD])}{more}. They may be tokens or money that NO figure "
        "counts; compare with the totals of who wrote it"
    )


def in_header(found: Recognised) -> tuple[str, ...]:
    """Return the columns of a table that its form does not know."""
    known = _known_names(found.source.name)
    return tuple(dict.fromkeys(name for name in found.columns if name and name not in known))[
        :MOST_NAMES
    ]


def sign_sql(value: str) -> str:
    """Return the SQL of what a value is: 0 nothing, 1 something, 2 a number but zero."""
    return (
        f"case when {value} is null or trim({value}::varchar) in ('', '{{}}', '[]', 'null') then 0 "
        f"when coalesce(try_cast({value}::varchar as double), 0) <> 0 then 2 else 1 end::utinyint"
    )


def signs_kept(cells: Mapping[str, str]) -> list[str]:
    """Return the SQL that keeps the signs of cells beside what is read of a row."""
    return [f"{sign_sql(cell)} as {quoted(f'sign {n}')}" for n, cell in enumerate(cells.values())]


def count_signs(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], table: str = "source_cells"
) -> list[UnknownColumn]:
    """Count the signs that a table keeps, in the order of their names."""
    if not names:
        return []
    counts = ", ".join(
        f"count(*) filter (where {sign} > 0), count(*) filter (where {sign} = 2)"
        for sign in (quoted(f"sign {n}") for n in range(len(names)))
    )
    (row,) = con.execute(f"select {counts} from {table}").fetchall()
    return [UnknownColumn(name, row[2 * n], row[2 * n + 1]) for n, name in enumerate(names)]


def keys_kept(found: Recognised) -> str:
    """Return the SQL that keeps the names of a JSON line's keys, of some lines of a large file."""
    is_asked = f"hash(left(line, 48)) % {_one_of(found)} = 0"
    return f"case when {is_asked} then {_keys_of_line(found.source)} end as keys_seen"


def _one_of(found: Recognised) -> int:
    """Return of how many lines one is asked for its keys."""
    size = found.path.stat().st_size * (_PACKED_RATIO if found.is_gzip else 1)
    return max(1, round(size / _ALL_LINES_BYTES))


def _keys_of_line(source: Source) -> str:
    paths = ", ".join(literal(path) for path in ["$", *map(json_path, _parents(source.name))])
    return f"try(json_keys(line, [{paths}]))"


def in_lines(con: duckdb.DuckDBPyConnection, found: Recognised, lines: str) -> list[UnknownColumn]:
    """Return the unknown keys of the lines that source_cells was made of, each with its counts.

    Args:
        con: Has source_cells with `keys_seen`.
        found: The file.
        lines: SQL of a relation with its lines, read again only where there are such keys.
    """
    parents = ["", *_parents(found.source.name)]
    lists = ", ".join(
        f"list_sort(list_distinct(flatten(list(distinct keys_seen[{n}]))))"
        for n in range(1, len(parents) + 1)
    )
    (seen,) = con.execute(
        f"select {lists} from source_cells where keys_seen is not null"
    ).fetchall()
    dotted = [
        f"{parent}.{key}" if parent else key
        for parent, keys in zip(parents, seen, strict=True)
        for key in keys or ()
    ]
    names = [name for name in dotted if not _is_known(found.source, name)][:MOST_NAMES]
    if not names:
        return []
    values = {name: f"try(json_extract_string(line, {literal(json_path(name))}))" for name in names}
    return count_signs(con, names, f"(select {', '.join(signs_kept(values))} from {lines})")


def in_some_lines(
    con: duckdb.DuckDBPyConnection, found: Recognised, lines: str
) -> list[UnknownColumn]:
    """Return the unknown keys of a text file, of which no line has been kept.

    Args:
        con: Has no source_cells.
        found: The file, not compressed. Of a large one, pieces at even distances are looked at.
        lines: SQL of a relation with its lines, read only where there are such keys.
    """
    con.execute(
        f"create or replace temp table source_cells as select {_keys_of_line(found.source)} "
        "as keys_seen from (select unnest($lines::varchar[]) as line)",
        {"lines": _some_lines(found.path)},
    )
    unknown = in_lines(con, found, lines)
    con.execute("drop table source_cells")
    return unknown


def _some_lines(path: Path) -> list[str]:
    size = path.stat().st_size
    if size <= _ALL_LINES_BYTES:
        return path.read_text(encoding="utf-8-sig", errors="replace").split("\n")
    texts = []
    with path.open("rb") as file:
        for number in range(_PIECES):
            file.seek(number * (size - _PIECE_BYTES) // (_PIECES - 1))
            # Its first and last line are cut off; those of the first piece are told by detection.
            texts += file.read(_PIECE_BYTES).split(b"\n")[1:-1]
    return [text.decode("utf-8", errors="replace") for text in texts]


def in_nested_lines(
    con: duckdb.DuckDBPyConnection, found: Recognised, lines: str
) -> list[UnknownColumn]:
    """Return the unknown keys of lines that nest rows in lists.

    Of a large file, a share of the lines is asked, and counted. Lines are picked by all they
    hold: they often begin alike.
    """
    asked = con.execute(f"select line from {lines} where hash(line) % {_one_of(found)} = 0")
    return in_records(found.source, line_records(line for (line,) in asked.fetchall()))


def in_records(source: Source, records: Iterable[Mapping[str, Any]]) -> list[UnknownColumn]:
    """Return the unknown keys of records, those in lists of objects included, with counts."""
    filled: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    for record in records:
        for name, value in _values(record):
            if _is_known(source, name):
                continue
            filled[name] += value not in (None, "", {}, [])
            numbers[name] += _is_number(value)
    return [UnknownColumn(name, filled[name], numbers[name]) for name in sorted(filled)][
        :MOST_NAMES
    ]


def _values(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the keys and values of a record, of objects in its lists, and of usage in it.

    A list of objects with a key and a value, as OpenTelemetry has, is read as those keys.
    """
    for key, value in record.items():
        name = prefix + key
        yield name, value
        if isinstance(value, dict) and _USAGE_LIKE.search(key):
            yield from _values(value, f"{name}.")
        if isinstance(value, list):
            for each in value:
                if not isinstance(each, dict):
                    continue
                if {"key", "value"} <= each.keys():
                    if _USAGE_LIKE.search(str(each["key"])):
                        yield f"{name}[].{each['key']}", _plain(each["value"])
                else:
                    yield from _values(each, f"{name}[].")


def _plain(value: object) -> object:
    return next(iter(value.values()), None) if isinstance(value, dict) else value


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float | str) and float(value) != 0
    except ValueError:
        return False


def _is_known(source: Source, name: str) -> bool:
    """Say whether a select reads a key, or its makers are known to write it beside.

    The select of a form that nests rows in lists reads its keys as text, so their last parts are
    looked for among the words of its SQL.
    """
    if name in _known_names(source.name):
        return True
    if source.is_flat and "." not in name:
        return False
    plain = name.replace("[]", "").split(".")
    if any(".".join(plain[:depth]) in source.passed_over for depth in range(1, len(plain))):
        return True
    within = name.rpartition("[].")[2]
    words = _sql_words(source.name) | set(source.passed_over)
    return within in words or within.rpartition(".")[2] in words


@functools.cache
def _known_names(source_name: str) -> frozenset[str]:
    """Return every column that a form declares, and the objects they stand in."""
    names: set[str] = set()
    for source in SOURCES:
        if source.name == source_name:
            names |= {*source.columns, *source.signature, *source.empty_columns}
            names |= set(source.passed_over)
    return frozenset(
        ".".join(parts[:n])
        for parts in (name.replace("[]", "").split(".") for name in names)
        for n in range(1, len(parts) + 1)
    ) | frozenset(names)


@functools.cache
def _sql_words(source_name: str) -> frozenset[str]:
    """Return the texts of a form's select, whole and word by word."""
    sql = (bundled("sql/sources") / f"{source_name}.sql").read_text(encoding="utf-8")
    code = re.sub(r"--.*$", "", sql, flags=re.MULTILINE)
    texts = re.findall(r"'([^']*)'", code)
    return frozenset(texts) | {word for text in texts for word in re.findall(r"\w+", text)}


@functools.cache
def _parents(source_name: str) -> tuple[str, ...]:
    """Return the objects of a form in which usage stands."""
    return tuple(
        sorted(
            name
            for name in _known_names(source_name)
            if _USAGE_LIKE.search(name.rpartition(".")[2]) and not name.endswith("okens")
        )
    )


def _shown(name: str) -> str:
    if is_secret_like(name):
        return "…"
    clean = re.sub(r"[\x00-\x1f\x7f-\x9f]", "\ufffd", name)
    return clean if len(clean) <= MOST_LETTERS else f"{clean[:MOST_LETTERS]}…"
