"""Which rows of which mart a cell of the report shows."""

import math
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from pipeline.explain import cell_tables as tables
from pipeline.explain.find import FoundCell
from pipeline.explain.row_formulas import terms_of
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.laws.facility import J_PER_KWH
from pipeline.report.section import Column, Value
from pipeline.report.sections.coverage import MEASURES
from pipeline.report.sections.reading import ADDS_NOT
from pipeline.report.workbook.places import KEY_FIGURES

_TERMS = ("prefill", "kv_cache", "next_token")
_ALIKE = 1e-9
_TOTALS = "mart_month_total"
_TOTAL_OF = {"summary_by_class": "query_class", "summary_by_model": "model_id"}
_TOTAL_KINDS = {"query_class": "query_class", "model_id": "model"}
_KEY_FIGURES = {
    "Cost": "cost_usd",
    "Electricity": "facility_energy_kwh",
    "Carbon": "carbon_kgco2e",
    "Requests": "request_count",
    "Tasks": "task_count",
    "Electricity at tariff": "energy_cost_usd",
}
_LABELLED = ("figure_cost_by_cell", "figure_energy_by_term")


@dataclass(frozen=True)
class CellSource:
    """The mart behind a cell, the name of its quantity there, and the rows that it draws on."""

    mart: str | None  # None where the report states a fact that no mart holds
    quantity: str  # as in the mart; a carbon_kgco2e is its carbon_gco2e in kilograms
    column: Column
    value: Value
    row_name: str  # what a reader calls the row
    lines: tuple[Row, ...]  # of the mart
    cells: Row  # the row of the report, by column


def source_of(con: duckdb.DuckDBPyConnection, found: FoundCell, month: str) -> CellSource:
    """Return which rows of which mart a cell shows."""
    table, place = found.table, found.place
    is_total = place.row > len(table.rows)
    values = table.total if is_total and table.total else table.rows[place.row - 1]
    column = table.columns[place.column]
    cells = {each.name: value for each, value in zip(table.columns, values, strict=True)}
    if table.name == "figure_cost_bridge":
        cells["step"] = cells["label"]
    if table.name == KEY_FIGURES:
        column = replace(column, unit=str(cells["unit"]))
    mart, keys = tables.TABLES.get(table.name, (None, ()))
    key = {} if is_total else tables.key_of(table.name, keys, cells)
    quantity = _quantity(table.name, column.name, cells)
    wanted = tables.wanted_of(table.name, column.name)
    if _is_of_total(table.name, quantity, is_total=is_total):
        total = _total_key(table.name, cells, is_total=is_total)
        mart, key = _TOTALS, total | ({"month": key["month"]} if "month" in key else {})
    lines = _lines(con, mart, key | wanted, month) if mart else ()
    told_by = tables.told_by(table.name, column.name)
    if told_by and len(lines) > 1:
        lines = _told(con, lines, told_by, cells)
    if table.name in _LABELLED:
        lines = tuple(line for line in lines if _label(line) == cells["label"])
        shown = [line for line in lines if _is_shown(line, quantity, cells[column.name])]
        lines = tuple(shown or lines)[:1]
    name = "Total" if is_total else " · ".join(str(value) for value in _named(cells, keys))
    return CellSource(mart, quantity, column, cells[column.name], name, lines, cells)


def _is_of_total(table: str, quantity: str, *, is_total: bool) -> bool:
    """Say whether a cell does not add up over lines: tasks of several, and ends of ranges."""
    is_sum = is_total or table in (KEY_FIGURES, "months", *_TOTAL_OF)
    return is_sum and bool(ADDS_NOT.search(quantity))


def _total_key(table: str, cells: Row, *, is_total: bool) -> Row:
    if is_total or table not in _TOTAL_OF:
        return {"total_kind": "month", "total_of": "all"}
    column = _TOTAL_OF[table]
    return {"total_kind": _TOTAL_KINDS[column], "total_of": cells[column]}


def _quantity(table: str, column: str, cells: Row) -> str:
    if table == "key_figures":
        name = _KEY_FIGURES.get(str(cells["figure"]), column)
        quantity, _, unit = name.rpartition("_")
        return name if column == "value" else f"{quantity}_{column}_{unit}"
    if table == "coverage":
        facts = {label: (fact, of) for label, fact, of, _ in MEASURES}
        fact, of = facts[str(cells["measure"])]
        return {"known_count": f"{fact}_{of}", "total_count": of}.get(column, column)
    return tables.quantity_of(table, column)


def _named(cells: Row, keys: tuple[str, ...]) -> list[Value]:
    named = [cells[key] for key in keys if cells.get(key) is not None]
    return named or [next(iter(cells.values()))]


def _told(
    con: duckdb.DuckDBPyConnection, lines: tuple[Row, ...], by: tuple[str, str], cells: Row
) -> tuple[Row, ...]:
    """Return the first of some rows that has the value by which the report tells it."""
    column, quantity = by
    assumed = assumptions_of(con)
    for line in lines:
        values = [line.get(quantity), *(each.value for each in terms_of(quantity, line, assumed))]
        if any(_is_near(value, cells[column]) for value in values):
            return (line,)
    return ()


def assumptions_of(con: duckdb.DuckDBPyConnection) -> Row:
    """Return the assumptions in force: value by name."""
    found = rows(con, "select assumption, value::double as value from raw_assumptions")
    return {each["assumption"]: each["value"] for each in found}


def _lines(con: duckdb.DuckDBPyConnection, mart: str, key: Row, month: str) -> tuple[Row, ...]:
    columns = con.sql(f"from {mart} limit 0").columns
    wanted = [f"{name} is not distinct from ${name}" for name in key]
    values = dict(key)
    if "month" in columns and "month" not in key:
        wanted.append("month = $month")
        values["month"] = month
    where = f"where {' and '.join(wanted)}" if wanted else ""
    return tuple(rows(con, f"select * from {mart} {where} order by all", values))


def _label(line: Row) -> str:
    return f"{line['model_id'] or 'unmapped'} · {line['query_class']}"


def _is_shown(line: Row, quantity: str, value: Value) -> bool:
    """Say whether a line has the value that a figure shows; two providers share a label."""
    found = line.get(quantity)
    if found is None and quantity.endswith("_kwh"):
        joules = line.get(quantity.replace("_kwh", "_j"))
        bias = line.get("bias_factor") if quantity.startswith(_TERMS) else 1
        found = None if joules is None or bias is None else joules * bias / J_PER_KWH
    return _is_near(found, value)


def _is_near(found: Any, value: Any) -> bool:  # noqa: ANN401 a number of a mart or of the report
    if found is None or value is None:
        return False
    return math.isclose(float(found), float(value), rel_tol=_ALIKE)
