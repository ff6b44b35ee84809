"""What does not add up over the lines of the month: tasks of several lines, ends of ranges."""

from typing import Any

import duckdb

from pipeline.explain.cell_requests import task_part
from pipeline.explain.cell_source import CellSource
from pipeline.explain.group_range import drawn_line
from pipeline.explain.lines import Line, Part, step
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.explain.written import number

# What a range is of, by the beginning of its name: its column of the draws, digits, end, unit.
_FACILITY = ("facility_energy_kwh", 18, "facility_energy_{}_kwh", "kWh")
_DRAWN = {
    "energy": ("gpu_energy_j", 15, "energy_{}_j", "J"),
    "facility_energy": _FACILITY,
    "carbon": _FACILITY,
}
_KEYS = {"model": "model_id", "provider": "provider", "query_class": "query_class"}
_GRAMS_PER_KG = 1_000
_NOTE = "Each draw is summed over all lines first: an end of a total is no sum of ends of lines."


def month_total_parts(con: duckdb.DuckDBPyConnection, source: CellSource) -> list[Part]:
    """Return the arithmetic of a cell that a row of mart_month_total holds."""
    (line,) = source.lines
    key: Row = {"month": line["month"]}
    if line["total_kind"] in _KEYS:
        key[_KEYS[line["total_kind"]]] = line["total_of"]
    value: Any = source.value
    if source.quantity == "task_count":
        return [task_part(con, key, value)]
    end = "low" if "_low_" in source.quantity else "high"
    drawn = _DRAWN.get(source.quantity.split(f"_{end}_")[0])
    if drawn is None:
        return []
    column, digits, name, unit = drawn
    where = " and ".join(f"{each} is not distinct from ${each}" for each in key)
    found = rows(
        con,
        f"select sum({column}::decimal(38, {digits}))::double as drawn from int_class_draws "
        f"where {where} group by draw order by draw",
        key,
    )
    if not found:
        return []
    reached = line[name.format(end)]
    draws = [each["drawn"] for each in found]
    lines: list[Line] = [drawn_line(draws, end, name.format(end), reached, unit)]
    if source.quantity.startswith("carbon"):
        lines.append(_carbon(con, source, reached))
    return [Part("value", "The cell", tuple(lines), _NOTE)]


def team_range_part(con: duckdb.DuckDBPyConnection, line: Row, quantity: str) -> Part | None:
    """Return an end of a team's electricity from its draws; nothing where it has no energy."""
    found = rows(
        con,
        "select facility_energy_kwh as drawn from int_team_draws "
        "where month = $month and team is not distinct from $team order by draw",
        {name: line[name] for name in ("month", "team")},
    )
    if not found:
        return None
    end = "low" if "_low_" in quantity else "high"
    draws = [each["drawn"] for each in found]
    drawn = drawn_line(draws, end, quantity, line[quantity], "kWh")
    return Part("value", "The cell", (drawn,), _NOTE)


def _carbon(con: duckdb.DuckDBPyConnection, source: CellSource, energy: float) -> Line:
    (grid,) = rows(
        con,
        "select value::double as value from raw_assumptions "
        "where assumption = 'carbon_gco2e_per_kwh'",
    )
    term = number("electricity", energy) * number("grid", grid["value"])
    value: Any = source.value
    if "kgco2e" in source.quantity:
        term = term / _GRAMS_PER_KG
    return step(source.quantity, "carbon", term, source.column.unit, value)
