"""A cell whose number a mart works out by itself: its arithmetic, its row, and how it is made."""

import math
import re
from decimal import Decimal
from functools import cache

import duckdb

from pipeline import dictionary
from pipeline.explain.cell_energy import work_parts
from pipeline.explain.cell_source import CellSource, assumptions_of
from pipeline.explain.group import group_of
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.row_formulas import terms_of
from pipeline.explain.warehouse_rows import Row, row
from pipeline.explain.written import Written, number

_TIES = 1e-9
_KEYS = ("month", "provider", "model_id", "query_class")
_RESTS_ON = (
    *(
        "request_count",
        "batch",
        "evidence_grade",
        "coefficient_set_id",
        "assumption",
        "cost_source",
    ),
    *("reason", "equal_quality_source", "source", "method_version"),
)
_END = re.compile(r"_(?P<end>low|p50|high)(?=_)|positive_frac$|probability_frac$")
_ENDS = {
    "low": "the 5 % place of the 256 joint draws: each is worked out with its own coefficients, "
    "batch and facility, both sides of a difference alike",
    "p50": "the middle of the 256 joint draws",
    "high": "the 95 % place of the 256 joint draws: each is worked out with its own coefficients, "
    "batch and facility, both sides of a difference alike",
    "": "the share of the 256 joint draws in which the difference is above 0; below 0.9 it is "
    "within noise",
}
_ENERGIES = ("j", "kwh", "wh", "gco2e", "kgco2e", "usd_per_kwh", "frac_per_j")
# A saving is the state before it less the state itself.
_BEFORE = {"as_cached": "uncached", "fully_cached": "as_cached"}
_SAVED = "saved_"


def row_parts(con: duckdb.DuckDBPyConnection, source: CellSource) -> list[Part]:
    """Return what a cell of a mart with several quantities in a row rests on.

    Args:
        con: The built warehouse.
        source: The cell; without one row of a mart behind it, only the mart is told.
    """
    if source.mart is None:
        return []
    parts = []
    line = source.lines[0] if len(source.lines) == 1 else None
    if line is not None:
        written = _written(con, source, line)
        parts += [Part("value", "The cell", written)] if written else []
        parts += [Part("row", f"The row of {source.mart}", _row_lines(source, line))]
    parts.append(Part("made", "How it is made", _made_lines(source)))
    return [*parts, *_class_parts(con, source, line)] if line is not None else parts


def _written(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> tuple[Line, ...]:
    """Return the arithmetic of a cell from other numbers of its row, where it ties."""
    value = source.value
    if not isinstance(value, int | float | Decimal):
        return ()
    terms = terms_of(source.quantity, line, assumptions_of(con))
    if source.mart == "mart_agentic" and source.quantity.startswith(_SAVED):
        terms += _saved_by_cache(con, source.quantity, line)
    for term in terms:
        if math.isclose(float(term.value), float(value), rel_tol=_TIES, abs_tol=_TIES):
            header, unit = source.column.header, source.column.unit
            is_exact = isinstance(term.value, Decimal) == isinstance(value, Decimal)
            return (step(source.quantity, header, term, unit, value if is_exact else float(value)),)
    return ()


def _saved_by_cache(con: duckdb.DuckDBPyConnection, quantity: str, line: Row) -> list[Written]:
    before = row(
        con,
        "select * from mart_agentic where month = $month and provider is not distinct from "
        "$provider and model_id is not distinct from $model_id and cache_state = $state",
        {
            **{name: line[name] for name in ("month", "provider", "model_id")},
            "state": _BEFORE.get(line["cache_state"], ""),
        },
    )
    name = quantity.removeprefix(_SAVED)
    if not before or before.get(name) is None or line.get(name) is None:
        return []
    return [number(f"{name}, {before['cache_state']}", before[name]) - number(name, line[name])]


def _row_lines(source: CellSource, line: Row) -> tuple[Line, ...]:
    """Return the numbers of a row that say the same thing, and what all of them rest on."""
    meaning = _meanings(str(source.mart))
    stem = _END.sub("", source.quantity).removesuffix("_")
    alike = [name for name in line if stem and _END.sub("", name).removesuffix("_") == stem]
    told = [name for name in (*alike, *_RESTS_ON) if line.get(name) is not None]
    return tuple(
        Fact(name, name.replace("_", " "), line[name], note=meaning.get(name, ("", "", ""))[0])
        for name in dict.fromkeys(told)
    )


def _made_lines(source: CellSource) -> tuple[Line, ...]:
    _, _, tables = _meanings(str(source.mart)).get(source.quantity, ("", "", ""))
    lines: list[Line] = [
        Fact("sql", "worked out in", f"sql/marts/{source.mart}.sql"),
        Fact("about", "by it", dictionary.about(str(source.mart))),
    ]
    if tables:
        lines.append(Fact("sources", "from", tables))
    end = _END.search(source.quantity)
    if end:
        lines.append(Fact("draws", "this end", _ENDS[end["end"] or ""]))
    return tuple(lines)


def _class_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return the law of the class, where the energy of the row is that of its class."""
    is_energy = source.quantity.endswith(_ENERGIES) or "_j_" in source.quantity
    if not is_energy or any(line.get(name) is None for name in (*_KEYS, "gpu_energy_j")):
        return []
    group = group_of(con, line)
    if not group.works:
        return []
    boards = group.energy["gpu_energy_j"]
    is_same = math.isclose(float(line["gpu_energy_j"]), float(boards), rel_tol=_TIES)
    return work_parts(group) if is_same else []


@cache
def _meanings(mart: str) -> dict[str, tuple[str, str, str]]:
    """Return meaning, unit and source tables of every column of a mart."""
    return {
        each.column: (each.meaning, each.unit, ", ".join(each.sources))
        for each in dictionary.entries()
        if each.table == mart
    }
