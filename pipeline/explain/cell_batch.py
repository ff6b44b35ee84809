"""The energy of a class at another batch: the same work, fewer or more passes shared."""

from dataclasses import replace
from typing import Any

import duckdb

from pipeline.explain.cell_source import CellSource
from pipeline.explain.group import Group, group_of
from pipeline.explain.group_lines import bias_lines
from pipeline.explain.law_parts import law_parts
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row, row
from pipeline.explain.written import Written, number
from pipeline.laws.facility import facility_energy_kwh
from pipeline.laws.work import Number

_PER = {
    "energy_j_per_request": "request_count",
    "alone_j_per_request": "request_count",
    "most_j_per_request": "request_count",
    "energy_j_per_output_token": "output_tokens",
}
_BOARDS = ("gpu_energy_j", "energy_low_j", "energy_high_j")
_WH = "electricity_wh_per_request"
_WH_PER_KWH = 1_000


def is_of_rung(source: CellSource) -> bool:
    """Say whether a cell is an energy of one request or token, or of a batch not in force."""
    return source.quantity in (*_PER, _WH) or not source.lines[0]["is_effective"]


def batch_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return the law at the batch of a rung of mart_concurrency, down to the cell.

    Args:
        con: The built warehouse.
        source: The cell; a line of the class also shows its first and last rung.
        line: Its row of mart_concurrency.
    """
    quantity = source.quantity
    end = {"alone_j_per_request": "asc", "most_j_per_request": "desc"}.get(quantity)
    rung = _end_of(con, line, end) if end else line
    if quantity not in (*_PER, *_BOARDS, _WH):
        return []
    served = group_of(con, rung)
    group = replace(served, batch=served.batch | {"batch": rung["batch"]})
    asked = Fact("batch", "B, batch asked", rung["batch"], "requests", "what the rung asks for")
    by_law, energies = law_parts(group, group.moments, "Summed work")
    boards = Part("gpu_energy", "GPU energy: law × bias factor", _boards(group, rung, energies))
    last = _last(con, group, rung, quantity, source)
    return [
        Part("batch", "Batch: requests served together", (asked,)),
        *by_law,
        boards,
        *((Part("value", "The cell", (last,)),) if last else ()),
    ]


def _end_of(con: duckdb.DuckDBPyConnection, line: Row, order: str) -> Row:
    key = {name: line[name] for name in ("month", "provider", "model_id", "query_class")}
    where = " and ".join(f"{name} is not distinct from ${name}" for name in key)
    return row(con, f"from mart_concurrency where {where} order by batch {order} limit 1", key)


def _boards(group: Group, rung: Row, energies: list[float]) -> tuple[Line, ...]:
    product: Number = 1
    for index, energy_j in enumerate(energies, start=1):
        product = product * number(f"E{index}" if len(energies) > 1 else "E", energy_j)
    mean: Written = product
    lines = list(bias_lines(group))
    if len(energies) > 1:
        root = number("1", 1) / number(str(len(energies)), len(energies))
        label = "geometric mean of the stand-ins"
        lines.append(step("energy_j", label, product**root, "J", rung["energy_j"]))
        mean = number("E", rung["energy_j"])
    whole = number("bias", group.energy["bias_factor"]) * mean
    lines.append(step("gpu_energy_j", "GPU energy", whole, "J", rung["gpu_energy_j"]))
    return tuple(lines)


def _last(
    con: duckdb.DuckDBPyConnection, group: Group, rung: Row, quantity: str, source: CellSource
) -> Line | None:
    """Return the step from the GPU energy of the rung to the cell."""
    boards = number("GPU energy", rung["gpu_energy_j"])
    if quantity in _PER:
        over = _PER[quantity]
        term = boards / number(over.replace("_", " "), rung[over])
        return step(quantity, source.column.header, term, "J", _value(source))
    if quantity == _WH:
        kwh = facility_energy_kwh(boards, number("f", group.energy["facility_ratio"]))
        term = kwh * number("Wh a kWh", _WH_PER_KWH) / number("requests", rung["request_count"])
        return step(quantity, source.column.header, term, "Wh", _value(source))
    if quantity == "gpu_energy_j":
        return None
    end = quantity.removeprefix("energy_").removesuffix("_j")
    grade = rung["evidence_grade"]
    ratio = row(
        con,
        f"select {end}_ratio as ratio from stg_grade_ranges where evidence_grade = $grade",
        {"grade": grade},
    )
    note = f"range of grade {grade} alone, since this batch is taken as given"
    term = boards * number(f"grade {grade}", ratio["ratio"])
    return step(quantity, f"{end} end", term, "J", _value(source), note)


def _value(source: CellSource) -> float:
    value: Any = source.value
    return float(value)
