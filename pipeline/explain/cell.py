"""A cell of the report: what it shows, what it is a sum of, and the arithmetic behind it."""

from decimal import Decimal
from typing import Any

import duckdb

from pipeline.explain import cell_energy, wording
from pipeline.explain.cell_batch import batch_parts, is_of_rung
from pipeline.explain.cell_bills import bill_parts, bridge_parts, line_parts
from pipeline.explain.cell_bridge import month_bridge_parts
from pipeline.explain.cell_counts import COUNTED, count_parts, grade_part
from pipeline.explain.cell_law import law_cell_parts
from pipeline.explain.cell_money import MONEY, money_parts, reconciled_parts
from pipeline.explain.cell_point import FIGURE, point_parts
from pipeline.explain.cell_requests import quantile_part, request_sum, task_part
from pipeline.explain.cell_row import row_parts
from pipeline.explain.cell_source import CellSource, source_of
from pipeline.explain.cell_stored import stored_parts
from pipeline.explain.cell_team import team_parts
from pipeline.explain.cell_total import month_total_parts
from pipeline.explain.find import FoundCell
from pipeline.explain.group import group_of
from pipeline.explain.group_lines import (
    batch_part,
    bias_lines,
    coefficient_lines,
    served_lines,
)
from pipeline.explain.group_range import range_lines
from pipeline.explain.lines import Explanation, Fact, Part
from pipeline.explain.ratios import ratio_lines
from pipeline.explain.sums import line_name, sum_part
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.laws.work import Number

_TOKENS = (
    *("input_tokens", "output_tokens", "uncached_input_tokens", "cache_read_tokens"),
    *("cache_write_tokens", "reasoning_tokens"),
)
_CLASS = ("month", "provider", "model_id", "query_class")
_KEYS = (*_CLASS, "team", "project")
# Marts of which a row is one model and class at its batch, or a sum of groups of usage.
_BY_CLASS = ("mart_cost_per_task", "mart_energy_per_class")
_BY_TEAM = ("mart_team_chargeback", "mart_project_chargeback")
_BILLS = ("mart_reconciliation", "mart_reconciliation_days")
_NO_WORK = {"is_measurable": True, "has_work": True}
_SERVED = (
    *("batch", "batch_max", "batch_source", "bias_factor"),
    *("coefficient_set_id", "gpu", "gpu_count", "stack"),
)
_OUTCOMES = ("accepted", "duplicate", "rejected")


def explain_cell(con: duckdb.DuckDBPyConnection, found: FoundCell, month: str) -> Explanation:
    """Return what a cell shows, the parts that it is a sum of, and its arithmetic."""
    source = source_of(con, found, month)
    parts = [_place_part(found, source)]
    if source.lines:
        parts += _value_parts(con, source, month) or row_parts(con, source)
    elif found.table.name == FIGURE:
        parts += point_parts(con, source)
    else:
        parts += stored_parts(found.table.name, source) or row_parts(con, source)
    facts: dict[str, Any] = {
        "cell": found.shown,
        "table": found.table.name,
        "row": source.row_name,
        "column": source.column.name,
        "mart": source.mart,
        "month": month,
        "value": source.value,
        "unit": source.column.unit or None,
    }
    return Explanation("cell", f"{found.shown}: {source.column.header}", facts, parts)


def _place_part(found: FoundCell, source: CellSource) -> Part:
    column = source.column
    where = source.mart or "no mart: the report states it as it stands here"
    lines = (
        Fact("table", "table", found.table.caption, note=found.table.name),
        Fact("row", "row", source.row_name),
        Fact("column", "column", column.header, note=column.meaning),
        Fact("mart", "comes from", where, note=source.quantity if source.mart else ""),
        Fact("value", "value", source.value, column.unit),
    )
    return Part("place", "What it shows", lines)


def _value_parts(con: duckdb.DuckDBPyConnection, source: CellSource, month: str) -> list[Part]:
    told = _own_parts(con, source, month)
    if told is not None:
        return told
    ratio = ratio_lines(source, _of_month(con, source, month))
    if ratio:
        return [Part("value", "The cell", tuple(ratio))]
    (line, *others) = source.lines
    is_of_class = not others and (source.mart in _BY_CLASS or bool(line.get("is_effective", False)))
    if source.quantity == "evidence_grade":
        return _grade_parts(con, source, line, month, is_of_class=is_of_class)
    if not isinstance(source.value, int | float | Decimal):
        return _text_parts(con, source, line) if is_of_class else []
    if others or source.mart == "mart_intake":
        return _lines_parts(source)
    return _class_parts(con, source, line) if is_of_class else _group_parts(con, source, line)


def _own_parts(con: duckdb.DuckDBPyConnection, source: CellSource, month: str) -> list[Part] | None:
    """Return the parts of a cell of a mart with an arithmetic of its own, None for the others."""
    if source.mart == "mart_month_total":
        return month_total_parts(con, source)
    if source.mart == "mart_cost_bridge":
        return bridge_parts(con, source, month)
    if source.mart == "mart_month_bridge":
        return month_bridge_parts(con, source, month)
    if source.mart == "mart_law_validation":
        return law_cell_parts(con, source)
    if source.mart == "mart_concurrency" and is_of_rung(source):
        return batch_parts(con, source, source.lines[0])
    return None


def _group_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return the arithmetic of a quantity of one team, project or bill."""
    quantity, value = source.quantity, source.value
    if source.mart == "mart_cost_lines":
        return line_parts(con, source, line)
    if source.mart not in (*_BY_TEAM, *_BILLS):
        return []
    if quantity in COUNTED:
        return count_parts(
            con, {name: line[name] for name in _KEYS if name in line}, quantity, value
        )
    if source.mart in _BY_TEAM:
        return team_parts(con, line, quantity, value, source.column.unit)
    return reconciled_parts(con, line, quantity, value) or bill_parts(con, source, line)


def _grade_parts(
    con: duckdb.DuckDBPyConnection, source: CellSource, line: Row, month: str, *, is_of_class: bool
) -> list[Part]:
    """Return what holds a grade down: of a class its rules, of a total what its lines carry."""
    if is_of_class:
        group = group_of(con, line)
        if group.works:
            lines = range_lines(group, group.energy["gpu_energy_j"])
            return [Part("gpu_energy", "Grade and range of the GPU energy", lines)]
        why = wording.unmeasured_note(_NO_WORK, group.host, group.batch)
        fact = Fact("evidence_grade", "grade", source.value, note=why)
        return [Part("gpu_energy", "Grade", (fact,))]
    if source.mart in _BY_CLASS:
        return [grade_part(source.lines, "facility_energy_kwh")]
    if source.mart not in _BY_TEAM:
        return []
    team = {"month": month, "team": line["team"]}
    sql = "from int_team_energy where month = $month and team is not distinct from $team"
    return [grade_part(rows(con, sql, team), "gpu_energy_j")]


def _of_month(con: duckdb.DuckDBPyConnection, source: CellSource, month: str) -> tuple[Row, ...]:
    if "month" not in source.lines[0]:
        return source.lines
    return tuple(rows(con, f"select * from {source.mart} where month = $month", {"month": month}))


def _text_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return what lies behind a word of the report."""
    if source.quantity == "cost_source":
        note = wording.cost_note(str(source.value))
        return [Part("value", "The cell", (Fact("cost_source", "cost source", note),))]
    return _served_parts(con, source.quantity, line)


def _served_parts(con: duckdb.DuckDBPyConnection, quantity: str, line: Row) -> list[Part]:
    """Return how a model is served, where a column tells a part of that."""
    if quantity not in _SERVED:
        return []
    group = group_of(con, line)
    if not group.works:
        return []
    if quantity == "bias_factor":
        return [Part("bias", "Bias factor: measured over law", bias_lines(group))]
    if quantity.startswith("batch"):
        return [batch_part(group)]
    if quantity == "coefficient_set_id":
        return [Part("coefficients", "Coefficients", coefficient_lines(group, 0))]
    return [Part("architecture", "GPUs", served_lines(group.deployments[0]))]


def _lines_parts(source: CellSource) -> list[Part]:
    """Return a total as the lines of its mart."""
    name, divisor = source.quantity, 1
    if name not in source.lines[0] and name.endswith("_kgco2e"):
        name, divisor = name.replace("_kgco2e", "_gco2e"), cell_energy.GRAMS_PER_KG
    lines = source.lines
    if name in _OUTCOMES:
        lines, name = tuple(line for line in lines if line["outcome"] == name), "row_count"
    if not lines or name not in lines[0]:
        return []
    named = [(line_name(line), _over(line[name], divisor)) for line in lines]
    title = f"The lines of {source.mart} that it is the sum of"
    return [sum_part(title, named, source.value, source.quantity, source.column.unit)]


def _over(value: Number, divisor: int) -> Number:
    return value if value is None or divisor == 1 else float(value) / divisor


def _class_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return the arithmetic of a quantity of one month, provider, model and class."""
    key = {name: line[name] for name in _CLASS}
    quantity = source.quantity
    value: Number = source.value
    if quantity in cell_energy.QUANTITIES:
        return cell_energy.class_parts(con, group_of(con, line), key, quantity, value)
    if source.mart not in _BY_CLASS:
        return _served_parts(con, quantity, line)
    if quantity in COUNTED:
        return count_parts(con, key, quantity, value)
    if quantity in MONEY:
        return money_parts(con, key, quantity, value)
    if quantity in (*_TOKENS, "request_count"):
        return [request_sum(con, key, quantity, value, source.column.unit)]
    if quantity == "task_count":
        return [task_part(con, key, value)]
    if quantity in ("request_energy_p50_j", "request_energy_p90_j"):
        return [quantile_part(con, key, quantity, value)]
    return _served_parts(con, quantity, line)
