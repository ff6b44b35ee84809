"""Columns of the report that are one quantity over another, written out from their mart rows."""

import math
from decimal import Decimal

from pipeline.explain.cell_source import CellSource
from pipeline.explain.lines import Line, step
from pipeline.explain.sums import total_of
from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Term, Written, number, unless
from pipeline.laws.work import Number

_UNPRICED = ("unpriced_request_count", "no_gpu_bill_request_count")
_UNMEASURED = ("unmeasured_request_count",)
_PER_TASK = {
    "cost_usd_per_task": ("cost_usd", "task_count", _UNPRICED),
    "cost_usd_per_solved_task": ("cost_usd", "solved_task_count", _UNPRICED),
    "energy_j_per_task": ("gpu_energy_j", "task_count", _UNMEASURED),
    "energy_j_per_solved_task": ("gpu_energy_j", "solved_task_count", _UNMEASURED),
    "carbon_gco2e_per_task": ("carbon_gco2e", "task_count", _UNMEASURED),
}
_SHARES = {
    "prefill_frac": ("prefill_energy_j", "energy_j"),
    "kv_cache_frac": ("kv_cache_energy_j", "energy_j"),
    "next_token_frac": ("next_token_energy_j", "energy_j"),
    "energy_j_per_output_token": ("gpu_energy_j", "output_tokens"),
    "energy_j_per_request": ("gpu_energy_j", "request_count"),
    "low_j_per_request": ("energy_low_j", "request_count"),
    "high_j_per_request": ("energy_high_j", "request_count"),
    "request_energy_j": ("gpu_energy_j", "request_count"),
    "own_request_energy_j": ("own_gpu_energy_j", "request_count"),
    "own_low_j": ("own_energy_low_j", "request_count"),
    "own_high_j": ("own_energy_high_j", "request_count"),
    "gpu_energy_ratio": ("gpu_energy_j", "own_gpu_energy_j"),
    "facility_energy_ratio": ("facility_energy_kwh", "own_facility_energy_kwh"),
}
_TIES = 1e-9  # a quotient that comes to another value is not the one behind the cell
_OF_THE_MONTH = {"cost_frac": "cost_usd", "energy_frac": "facility_energy_kwh"}


def ratio_lines(source: CellSource, of_month: tuple[Row, ...]) -> list[Line]:
    """Return the division or difference behind a cell, nothing where it is none.

    Args:
        source: The cell and the rows of its mart.
        of_month: All rows of the mart of that month.
    """
    made_of = _PER_TASK.get(source.quantity, _SHARES.get(source.quantity, ()))
    if not _has(source.lines, made_of):
        return []
    term = _term(source, of_month)
    value = source.value
    if not isinstance(term, Written) or not isinstance(value, int | float | Decimal):
        return []
    if not math.isclose(float(term.value), float(value), rel_tol=_TIES, abs_tol=_TIES):
        return []
    return [step(source.quantity, source.column.header, term, source.column.unit, value)]


def _term(source: CellSource, of_month: tuple[Row, ...]) -> Number:
    quantity, lines = source.quantity, source.lines
    if quantity in _PER_TASK:
        above, tasks, missing = _PER_TASK[quantity]
        if source.mart == "mart_cost_per_task" and tasks in source.cells and len(lines) > 1:
            return _per_task_of_lines(lines, above, source.cells[tasks])
        return _per_task(lines, above, tasks, missing)
    if quantity in _SHARES:
        part, whole = _SHARES[quantity]
        return _sum(lines, part) / _sum(lines, whole)
    if quantity in _OF_THE_MONTH:
        name = _OF_THE_MONTH[quantity]
        if quantity == "energy_frac" and source.mart == "mart_team_chargeback":
            name = "gpu_energy_j"
        return _sum(lines, name) / number(f"{name} of the month", _total(of_month, name))
    if quantity == "cached_frac":
        return _cached(lines)
    if quantity == "gap_usd":
        return _gap(source.mart, lines)
    return _of_cells(quantity, source.cells)


def _has(lines: tuple[Row, ...], names: tuple[str | tuple[str, ...], ...]) -> bool:
    """Say whether the rows have these columns; another mart may have its own way to the ratio."""
    flat = [each for name in names for each in ((name,) if isinstance(name, str) else name)]
    return all(name in lines[0] for name in flat)


def _gap(mart: str | None, lines: tuple[Row, ...]) -> Number:
    """Return a bill less what it is held against, where both are known."""
    other = "computed_cost_usd" if mart == "mart_reconciliation_days" else "compared_cost_usd"
    both = all(line[name] is not None for line in lines for name in ("billed_cost_usd", other))
    return _sum(lines, "billed_cost_usd") - _sum(lines, other) if both else None


def _per_task(lines: tuple[Row, ...], above: str, tasks: str, missing: tuple[str, ...]) -> Number:
    """Return a cost or energy over the tasks that it covers."""
    (line, *others) = lines
    if others or line[above] is None:
        return None
    share: Number = 1
    without = sum(line[name] for name in missing)
    if without:
        known = number("requests", line["request_count"]) - number("missing", without)
        share = known / number("requests", line["request_count"])
    return number(above, float(line[above])) / (number(tasks, line[tasks]) * share)


def _per_task_of_lines(lines: tuple[Row, ...], above: str, tasks: int) -> Number:
    """Return the same of several lines: a task in two of them is one, its share priced alike."""
    over = [line for line in lines if line[above] is not None]
    counted = sum(line["task_count"] for line in lines)
    if not over or not counted:
        return None
    priced = math.fsum(
        line["task_count"]
        * (line["request_count"] - line["unpriced_request_count"])
        / line["request_count"]
        for line in over
    )
    share: Number = 1
    if priced != counted:
        share = number("tasks priced", priced) / number("tasks of the lines", counted)
    return number(above, float(_total(lines, above))) / (number("tasks", tasks) * share)


def _cached(lines: tuple[Row, ...]) -> Number:
    reads, inputs, writes = (
        unless(0, name, _total(lines, f"{name}_tokens"))
        for name in ("cache_read", "uncached_input", "cache_write")
    )
    return reads / (inputs + reads + writes) if isinstance(reads, Written) else 0


def _of_cells(quantity: str, cells: Row) -> Number:
    """Return a quantity that a row of the report computes from cells beside it."""
    if quantity == "known_frac":
        return number("known", cells["known_count"]) / number("all", cells["total_count"])
    if quantity == "missing_count":
        return number("all", cells["total_count"]) - number("known", cells["known_count"])
    if quantity == "accepted_frac":
        return number("accepted", cells["accepted"]) / number("read", cells["rows_read"])
    if quantity == "rows_read":
        total: Term = 0
        for name in ("accepted", "duplicate", "rejected"):
            total = total + number(name, cells[name])
        return total
    return None


def _sum(lines: tuple[Row, ...], name: str) -> Written:
    return number(name, _total(lines, name))


def _total(lines: tuple[Row, ...], name: str) -> Number:
    return total_of([line[name] for line in lines if line[name] is not None])
