"""Bills beside usage, day by day and by cause, and the steps from list price to cost."""

from decimal import Decimal
from typing import Any

import duckdb

from pipeline.explain.cell_source import CellSource
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.sums import sum_part
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.explain.written import number

# Parts of a gap, and the days that each of them is counted from.
_CAUSES = {
    "unpriced_usd": "unpriced usage",
    "missing_usage_usd": "missing usage",
    "unbilled_usage_usd": "usage without bill",
    "late_usd": "late",
    "open_bucket_usd": "open bucket",
    "rounding_usd": "rounding",
}
_PARTS = (*_CAUSES, "credit_usd", "time_zone_usd", "rest_usd")
_UNUSED = {
    "idle GPUs": "select billed_usd as whole_usd, used_usd, busy_hours, gpu_count, gpu_hours "
    "from int_hosting where month = $month and model_id = $model_id and $provider is not null",
    "committed, unused": "select committed_usd as whole_usd, used_usd, null as busy_hours "
    "from int_commitments where month = $month and provider = $provider and model = $model_id",
}
_DAYS = "The days of the bill that it is the sum of"


def bill_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return what a gap, or a part of one, is the sum of: its parts, or days of the bill."""
    quantity, value = source.quantity, source.value
    if source.mart == "mart_reconciliation_days":
        note = "lines of the bill beside the usage of that day, in the bill's own zone"
        return [Part("value", "The cell", (Fact(quantity, "that day", value, "USD", note),))]
    if quantity == "gap_usd":
        named = [(name, line[name]) for name in _PARTS]
        return [sum_part("The parts of the gap", named, value, quantity, "USD")]
    if quantity == "other_charge_usd":
        charges = _rows(con, "mart_other_charges", line)
        named = [(each["charge_kind"], each["billed_cost_usd"]) for each in charges]
        title = "The charges that it is the sum of"
        return [sum_part(title, named, value, quantity, "USD")]
    days = _rows(con, "mart_reconciliation_days", line)
    if quantity in _CAUSES:
        named = [
            (str(day["bill_day"]), day["gap_usd"] - (day["credit_usd"] or 0))
            for day in days
            if day["gap_cause"] == _CAUSES[quantity]
        ]
    else:
        named = [(str(day["bill_day"]), day.get(quantity)) for day in days]
    if not [each for _, each in named if each is not None]:
        return [Part("value", "The cell", (Fact(quantity, "in all", value, "USD"),))]
    return [sum_part(_DAYS, named, value, quantity, "USD")]


def bridge_parts(con: duckdb.DuckDBPyConnection, source: CellSource, month: str) -> list[Part]:
    """Return a step of the cost bridge in full, or a total as the sum of the steps before it."""
    (line,) = source.lines
    exact, shown = line["cost_usd"], source.value
    if isinstance(shown, str):
        return []
    if not line["is_total"]:
        note = "exact; shown are the cents between the rounded totals before and after it"
        return [Part("value", "The cell", (Fact("cost_usd", "the step", exact, "USD", note),))]
    steps = rows(
        con,
        "select step_name, cost_usd from mart_cost_bridge where month = $month "
        "and step_id < $step_id and not is_total order by step_id",
        {"month": month, "step_id": line["step_id"]},
    )
    named: list[tuple[str, Any]] = [
        (each["step_name"], each["cost_usd"])
        for each in steps
        if each["cost_usd"] is not None and each["cost_usd"] != Decimal(0)
    ]
    return [sum_part("The steps before it", named, shown, "cost_usd", "USD")]


def line_parts(con: duckdb.DuckDBPyConnection, source: CellSource, line: Row) -> list[Part]:
    """Return what stood unused of a GPU bill or of a commitment: the bill less what was used."""
    of = {name: line[name] for name in ("month", "provider", "model_id")}
    if source.quantity != "cost_usd" or line["line_kind"] not in _UNUSED:
        return []
    (bill,) = rows(con, _UNUSED[line["line_kind"]], of)
    whole = number("bill", bill["whole_usd"])
    lines: list[Line] = [Fact("billed_usd", "bill", bill["whole_usd"], "USD")]
    if bill["busy_hours"] is not None and 0 < bill["used_usd"] < bill["whole_usd"]:
        used = number("bill", float(bill["whole_usd"])) * number("busy", bill["busy_hours"])
        used = used * number("GPUs", bill["gpu_count"]) / number("hours", float(bill["gpu_hours"]))
        note = "hours in which any request ran, of the GPU hours of the bill"
        lines.append(step("used_usd", "used part", used, "USD", bill["used_usd"], note))
    else:
        lines.append(Fact("used_usd", "used part", bill["used_usd"], "USD", line["description"]))
    left = whole - number("used", bill["used_usd"])
    lines.append(step("cost_usd", line["line_kind"], left, "USD", line["cost_usd"]))
    return [Part("value", "The cell", tuple(lines))]


def _rows(con: duckdb.DuckDBPyConnection, mart: str, line: Row) -> list[Row]:
    return rows(
        con,
        f"select * from {mart} where month = $month and provider = $provider "
        "and model_id is not distinct from $model_id order by all",
        {name: line[name] for name in ("month", "provider", "model_id")},
    )
