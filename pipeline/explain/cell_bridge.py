"""A step of the month bridge: sums of both months, the formula of the step, and its range."""

from decimal import Decimal
from typing import Any

import duckdb

from pipeline.explain.cell_source import CellSource, assumptions_of
from pipeline.explain.group_range import drawn_line
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.sums import line_name, sum_part
from pipeline.explain.warehouse_rows import Row, row, rows
from pipeline.explain.written import Written, number
from pipeline.report.sections.bridge import STEPS

_GRAMS_PER_KG = 1_000
# Column of the table: its measure, the name of it in the mart, unit, and what the reader's unit is.
_MEASURES = {
    "cost_usd": ("cost_usd", "USD", 1),
    "facility_energy_kwh": ("facility_energy_kwh", "kWh", 1),
    "carbon_kgco2e": ("carbon_gco2e", "g CO₂e", _GRAMS_PER_KG),
}
_ORDER = ("before", "volume", "mix", "model", "length", "price")
_HOW = {
    "mix": ("query_class, team", "requests of now at the mean value of the month before"),
    "model": (
        "provider, model_id, query_class, team",
        "requests of now, lengths and prices or rates of the month before",
    ),
    "length": (
        "provider, model_id, query_class, team",
        "tokens of now at the prices or rates of the month before",
    ),
    "price": ("provider, model_id, query_class, team", "tokens of now at prices or rates of now"),
}
_ENDS = tuple(
    f"{stem}_{end}_{unit}"
    for stem, unit in (("facility_energy", "kwh"), ("carbon", "kgco2e"))
    for end in ("low", "high")
)
_BY = {label: name for name, label, _ in STEPS}


def month_bridge_parts(
    con: duckdb.DuckDBPyConnection, source: CellSource, month: str
) -> list[Part]:
    """Return the arithmetic of a cell of the month bridge."""
    name = _BY[str(source.cells["step"])]
    if name == "method" and (source.quantity in _MEASURES or source.quantity in _ENDS):
        note = "by one version of the method in both months, unless a closed report says otherwise"
        said: Any = source.value
        return [Part("value", "The cell", (Fact(source.quantity, note, said, source.column.unit),))]
    if source.quantity in _ENDS:
        return _range_parts(con, source, name, month)
    if source.quantity not in _MEASURES:
        return []
    measure, unit, divisor = _MEASURES[source.quantity]
    (line,) = source.lines
    if name == "":
        return [_sum_of_steps(line, measure, unit, source, divisor)]
    exact = _exact(con, measure, month)
    value = _in_mart(line, measure, name)
    if name == "before":
        parts = [_before_part(con, measure, unit, month)]
        cut: Line = Fact(measure, "the month before, cut", value, unit)
        return [*parts, Part("value", "The cell", (cut, *_divided(source, value, divisor)))]
    lines: list[Line] = []
    parts = []
    if name == "volume":
        term = number("requests", exact["requests"]) / number("requests then", exact["before"])
        term = term * number("month before", exact["value_before"])
        note = "this month's requests at the mean value of a request of the month before"
        lines.append(step("value_at_volume", "at this volume", term, unit, note=note))
    else:
        parts.append(_step_part(con, measure, unit, month, name, exact[f"value_at_{name}"]))
    lines += _difference(line, measure, name, unit, value)
    return [*parts, Part("value", "The cell", (*lines, *_divided(source, value, divisor)))]


def _in_mart(line: Row, measure: str, name: str) -> Any:  # noqa: ANN401 a number of the mart
    stem, _, unit = measure.rpartition("_")
    last = "price" if measure == "cost_usd" else "rate"
    return line[f"{stem}_{last if name == 'price' else name}_{unit}"]


def _exact(con: duckdb.DuckDBPyConnection, measure: str, month: str) -> Row:
    """Return the steps before they are cut, and how many requests either month had."""
    return row(
        con,
        "select sum(value_before)::double as value_before, max(requests)::bigint as requests, "
        "max(before)::bigint as before, sum(at_mix)::double as value_at_mix, "
        "sum(at_model)::double as value_at_model, sum(at_length)::double as value_at_length, "
        "sum(at_price)::double as value_at_price from ("
        "select max(value_before) as value_before, sum(request_count) as requests, "
        "max(request_before_count) as before, sum(at_mix::decimal(38, 15)) as at_mix, "
        "sum(at_model::decimal(38, 15)) as at_model, sum(at_length::decimal(38, 15)) as at_length, "
        "sum(at_price::decimal(38, 15)) as at_price from int_bridge_changes "
        "where month = $month and measure = $measure group by quantity_kind)",
        {"month": month, "measure": measure},
    )


def _before_part(con: duckdb.DuckDBPyConnection, measure: str, unit: str, month: str) -> Part:
    found = rows(
        con,
        "select provider, model_id, query_class, "
        "sum((quantity::double * unit_value)::decimal(38, 15))::double as amount "
        "from int_bridge_quantities where month_after(month) = $month and measure = $measure "
        "group by all order by all",
        {"month": month, "measure": measure},
    )
    named = [(line_name(each), each["amount"]) for each in found]
    whole = sum(each["amount"] for each in found)
    title = "The month before: quantities × value of one, by model and class"
    return sum_part(title, named, whole, measure, unit)


def _step_part(
    con: duckdb.DuckDBPyConnection, measure: str, unit: str, month: str, name: str, whole: float
) -> Part:
    keys, how = _HOW[name]
    counts = ", max(request_count)::bigint as requests" if name != "mix" else ""
    found = rows(
        con,
        f"select {keys}, sum(at_{name}::decimal(38, 15))::double as amount{counts} "
        "from int_bridge_changes where month = $month and measure = $measure "
        "group by all order by all",
        {"month": month, "measure": measure},
    )
    named = [(line_name(each), each["amount"]) for each in found]
    return sum_part(f"After this step: {how}", named, whole, f"value_at_{name}", unit)


def _difference(line: Row, measure: str, name: str, unit: str, value: Decimal) -> list[Line]:
    """Return a step as its value after it less that before it, both cut once."""
    place = _ORDER.index(name)
    before = sum((_in_mart(line, measure, each) for each in _ORDER[:place]), Decimal(0))
    after = before + value
    term: Written = number("after", after) - number("before", before)
    digits = "cents" if unit == "USD" else "nine digits"
    note = f"each step cut to {digits} once, so that the steps add up"
    return [
        Fact("before", "before this step", before, unit, note),
        Fact("after", "after it", after, unit),
        step(measure, "what the step changes", term, unit, value),
    ]


def _sum_of_steps(line: Row, measure: str, unit: str, source: CellSource, divisor: int) -> Part:
    term: Any = 0
    facts: list[Line] = []
    for name, label in ((name, label) for name, label, _ in STEPS if name in _ORDER):
        value = _in_mart(line, measure, name)
        facts.append(Fact(name, label.lower(), value, unit))
        term = term + number(name, value)
    total = step(measure, "this month", term, unit, line[measure])
    return Part("value", "The cell", (*facts, total, *_divided(source, line[measure], divisor)))


def _divided(source: CellSource, value: Decimal, divisor: int) -> list[Line]:
    if divisor == 1:
        return []
    term = number("grams", value) / number("grams a kilogram", divisor)
    shown: Any = source.value
    return [step(source.quantity, "in kilograms", term, source.column.unit, shown)]


def _range_parts(
    con: duckdb.DuckDBPyConnection, source: CellSource, name: str, month: str
) -> list[Part]:
    """Return an end of a step's electricity: of its differences, world by world."""
    end = "low" if "_low_" in source.quantity else "high"
    after = {"before": "value_before", "": "value_at_price"}.get(name, f"value_at_{name}")
    drawn = after
    if name not in ("before", ""):
        earlier = _ORDER[_ORDER.index(name) - 1]
        drawn += " - value_" + ("before" if earlier == "before" else f"at_{earlier}")
    found = rows(
        con,
        f"select ({drawn})::double as drawn from int_bridge_draws where month = $month "
        "order by draw",
        {"month": month},
    )
    if not found:
        return []
    (line,) = source.lines
    part = {"": "", "price": "rate_"}.get(name, f"{name}_")
    reached = line[f"facility_energy_{part}{end}_kwh"]
    draws = [each["drawn"] for each in found]
    lines: list[Line] = [drawn_line(draws, end, f"facility_energy_{end}_kwh", reached, "kWh")]
    if source.quantity.startswith("carbon"):
        lines.append(_carbon_line(con, source, reached))
    note = "In each joint draw the step is worked out with the rates of that draw in both months."
    return [Part("value", "The cell", tuple(lines), note)]


def _carbon_line(con: duckdb.DuckDBPyConnection, source: CellSource, kwh: float) -> Line:
    """Return an end of a step's carbon: the same end of its electricity on the grid."""
    grams = number("electricity", kwh) * number("grid", assumptions_of(con)["carbon_gco2e_per_kwh"])
    value: Any = source.value
    return step(source.quantity, "carbon", grams / _GRAMS_PER_KG, source.column.unit, value)
