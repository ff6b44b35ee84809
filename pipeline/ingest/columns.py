"""The SQL that reads the declared columns of a source out of cells and of JSON."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Columns:
    """How declared columns come to be: read out of JSON, then kept, then shown by the view."""

    extracted: tuple[str, ...]
    kept: tuple[str, ...]
    shown: tuple[str, ...]


def columns_of(
    keys: Iterable[str],
    cells: Mapping[str, str],
    record: str | None = None,
    readers: Mapping[str, str] = MappingProxyType({}),
    spares: Mapping[str, str] = MappingProxyType({}),
) -> Columns:
    """Say where each declared key comes from: a cell, JSON within a cell, or the JSON record.

    Whatever is declared of one JSON value comes out of one parse of it, as text, or as what the
    macro that `readers` names for its key makes of that text. A key of `spares` is kept only
    where the key before it, which it stands in for, says nothing. What is no JSON reads as null.
    """
    kept, shown = [], []
    text_of: dict[str, str] = {}
    paths_of: dict[str, list[str]] = {record: []} if record else {}
    for key in keys:
        root, _, rest = key.partition(".")
        name = quoted(_column_name(key))
        if key in cells:
            kept.append(f"{cells[key]} as {name}")
            shown.append(name)
            continue
        value, path = (cells[root], rest) if rest and root in cells else (record, key)
        if value is None:
            shown.append(f"null::varchar as {name}")
            continue
        paths = paths_of.setdefault(value, [])
        paths.append(path)
        text = text_of[key] = f"{values_name(value)}[{len(paths)}]"
        if key in spares:
            text = f"case when coalesce({text_of[spares[key]]}, '{{}}') = '{{}}' then {text} end"
        kept.append(f"{readers[key]}({text}) as {name}" if key in readers else f"{text} as {name}")
        shown.append(name)
    extracted = [
        f"{_extracted(value, paths)} as {values_name(value)}" for value, paths in paths_of.items()
    ]
    return Columns(tuple(extracted), tuple(kept), tuple(shown))


def _extracted(value: str, keys: Iterable[str]) -> str:
    """Return the SQL of a list of JSON values as text, null where there is no JSON."""
    paths = ", ".join(literal(json_path(key)) for key in keys)
    return f"try(json_extract_string({value}, [{paths}]::varchar[]))"


def _column_name(key: str) -> str:
    """Return the name that a source's SQL finds a column or key under."""
    return re.sub(r"\W+", "_", key).lower()


def json_path(key: str) -> str:
    """Return the JSON path of a dotted key."""
    return "$" + "".join(f'."{part}"' for part in key.split("."))


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def values_name(value: str) -> str:
    """Return the name of what was read out of a JSON value."""
    return quoted(f"values of {value}")
