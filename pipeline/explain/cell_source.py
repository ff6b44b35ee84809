"""Which rows of which mart a cell of the report shows."""

from dataclasses import dataclass, replace

import duckdb

from pipeline.explain.find import FoundCell
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.laws.facility import J_PER_KWH
from pipeline.report.section import Column, Value
from pipeline.report.sections.coverage import MEASURES
from pipeline.report.sections.laws import LAW_NAMES
from pipeline.report.sections.reading import ADDS_NOT
from pipeline.report.workbook_places import KEY_FIGURES

_CLASS = ("provider", "model_id", "query_class")
# Table of the report: its mart, and the columns that name a row of it.
_TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "cost_per_task": ("mart_cost_per_task", _CLASS),
    "usage_and_cost": ("mart_cost_per_task", _CLASS),
    "energy_per_class": ("mart_energy_per_class", _CLASS),
    "energy_law": ("mart_energy_per_class", _CLASS),
    "summary_by_class": ("mart_cost_per_task", ("query_class",)),
    "summary_by_model": ("mart_cost_per_task", ("model_id",)),
    "team_chargeback": ("mart_team_chargeback", ("team",)),
    "project_chargeback": ("mart_project_chargeback", ("team", "project")),
    "cost_bridge": ("mart_cost_bridge", ("step_name",)),
    "cost_lines": (
        "mart_cost_lines",
        ("line_kind", "provider", "model_id", "team", "description"),
    ),
    "converted_bills": ("mart_converted_bills", ("currency",)),
    "unpriced_usage": (
        "mart_unpriced_usage",
        ("model_id", "provider", "service_tier", "unpriced_reason"),
    ),
    "findings": ("mart_findings", ("finding_rank", *_CLASS)),
    "concurrency": ("mart_concurrency", _CLASS),
    "concurrency_by_batch": ("mart_concurrency", (*_CLASS, "batch")),
    "implied_batch": ("mart_implied_batch", _CLASS),
    "cost_per_kwh": ("mart_implied_batch", _CLASS),
    "methods": ("mart_method_comparison", ("law",)),
    "method_lines": ("mart_method_comparison", (*_CLASS, "law")),
    "month_bridge": ("mart_month_bridge", ()),
    "unresolved_models": ("mart_unresolved_models", ("model_name", "provider")),
    "reconciliation": ("mart_reconciliation", ("provider", "model_id")),
    "reconciliation_parts": ("mart_reconciliation", ("provider", "model_id")),
    "reconciliation_days": ("mart_reconciliation_days", ("bill_day", "provider", "model_id")),
    "other_charges": ("mart_other_charges", ("charge_kind", "provider", "model_id", "team")),
    "law_errors": ("mart_law_validation", ("dataset", "gpu", "stack", "law", "form")),
    "law_duels": ("mart_law_validation", ()),
    "coverage": ("mart_coverage", ()),
    "intake": ("mart_intake", ("source_file",)),
    "intake_reasons": ("mart_intake", ("source_file", "outcome", "reason")),
    "key_figures": ("mart_cost_per_task", ()),
    "figure_cost_by_cell": ("mart_cost_per_task", ()),
    "figure_energy_by_term": ("mart_energy_per_class", ()),
    "figure_energy_by_batch": ("mart_concurrency", ()),
}
# What else a row of the mart must be.
_WHOLE: Row = {"subset_kind": "all"}
_WANTED: dict[str, Row] = {
    "concurrency": {"is_effective": True},
    "law_errors": _WHOLE,
    "law_duels": _WHOLE,
}
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
_FIGURES = {
    ("figure_cost_by_cell", "series_0"): "cost_usd",
    ("figure_energy_by_term", "series_0"): "prefill_energy_kwh",
    ("figure_energy_by_term", "series_1"): "kv_cache_energy_kwh",
    ("figure_energy_by_term", "series_2"): "next_token_energy_kwh",
    ("figure_energy_by_term", "series_3"): "energy_low_kwh",
    ("figure_energy_by_term", "series_4"): "energy_high_kwh",
}


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
    if table.name == KEY_FIGURES:
        column = replace(column, unit=str(cells["unit"]))
    mart, keys = _TABLES.get(table.name, (None, ()))
    key = {} if is_total else {name: _in_mart(name, cells[name]) for name in keys}
    quantity = _quantity(table.name, column.name, cells)
    wanted = _WANTED.get(table.name, {})
    if _is_of_total(table.name, quantity, is_total=is_total):
        mart, key = _TOTALS, _total_key(table.name, cells, is_total=is_total)
    lines = _lines(con, mart, key | wanted, month) if mart else ()
    if "label" in cells:
        lines = tuple(line for line in lines if _label(line) == cells["label"])
        shown = [line for line in lines if _is_shown(line, quantity, cells[column.name])]
        lines = tuple(shown or lines)[:1]
    name = "Total" if is_total else " · ".join(str(value) for value in _named(cells, keys, table))
    return CellSource(mart, quantity, column, cells[column.name], name, lines, cells)


def _is_of_total(table: str, quantity: str, *, is_total: bool) -> bool:
    """Say whether a cell does not add up over lines: tasks of several, and ends of ranges."""
    is_sum = is_total or table in (KEY_FIGURES, *_TOTAL_OF)
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
    return _FIGURES.get((table, column), column)


def _named(cells: Row, keys: tuple[str, ...], table: object) -> list[Value]:
    named = [cells[key] for key in keys if cells[key] is not None]
    return named or [next(iter(cells.values()))]


def _lines(con: duckdb.DuckDBPyConnection, mart: str, key: Row, month: str) -> tuple[Row, ...]:
    columns = con.sql(f"from {mart} limit 0").columns
    wanted = [f"{name} is not distinct from ${name}" for name in key]
    values = dict(key)
    if "month" in columns:
        wanted.append("month = $month")
        values["month"] = month
    where = f"where {' and '.join(wanted)}" if wanted else ""
    return tuple(rows(con, f"select * from {mart} {where} order by all", values))


def _label(line: Row) -> str:
    return f"{line['model_id'] or 'unmapped'} · {line['query_class']}"


def _in_mart(name: str, value: Value) -> Value:
    """Return a key of a row as its mart spells it: laws stand under names for readers."""
    spelt = {shown: law for law, shown in reversed(LAW_NAMES.items())}
    return spelt.get(str(value), value) if name == "law" else value


def _is_shown(line: Row, quantity: str, value: Value) -> bool:
    """Say whether a line has the value that a figure shows; two providers share a label."""
    found = line.get(quantity)
    if found is None and quantity.endswith("_kwh"):
        joules = line.get(quantity.replace("_kwh", "_j"))
        bias = line.get("bias_factor") if quantity.startswith(_TERMS) else 1
        found = None if joules is None or bias is None else joules * bias / J_PER_KWH
    if value is None or found is None:
        return False
    return abs(float(found) - float(value)) <= _ALIKE * abs(float(value))  # type: ignore[arg-type]
