"""Money of the report as groups of usage, and for the largest of them quantity × price."""

import duckdb

from pipeline.explain.lines import Part
from pipeline.explain.money import cost_groups, cost_lines
from pipeline.explain.money_shares import share_lines
from pipeline.explain.sums import line_name, sum_part
from pipeline.explain.warehouse_rows import Row
from pipeline.laws.work import Number

MONEY = (
    *("cost_usd", "list_cost_usd", "contracted_cost_usd", "effective_cost_usd"),
    *("billed_cost_usd", "hosting_cost_usd", "hosting_energy_cost_usd"),
)

_SHOWN_PRICES = 3
# Columns of the reconciliation, and the cost of the groups that each of them adds up.
_RECONCILED = {
    "computed_cost_usd": "list_cost_usd",
    "billed_cost_usd": "billed_cost_usd",
    "compared_cost_usd": "list_cost_usd",
}


def money_parts(con: duckdb.DuckDBPyConnection, key: Row, name: str, whole: Number) -> list[Part]:
    """Return a cost as the groups it is the sum of, the largest of them down to their prices.

    Args:
        con: The warehouse.
        key: Columns of int_usage_groups and their values.
        name: Which of the costs.
        whole: Its value in the report.
    """
    where = " and ".join(f"used.{each} is not distinct from ${each}" for each in key)
    groups = cost_groups(con, where, key)
    named = [(_group_name(each), each[name]) for each in groups]
    known = [each for each in groups if each[name] is not None]
    parts = [sum_part("The groups of usage that it is the sum of", named, whole, name, "USD")]
    for each in sorted(known, key=lambda each: -abs(each[name]))[:_SHOWN_PRICES]:
        lines = cost_lines(con, each, share_lines(con, each))
        parts.append(Part("prices", f"Quantity × price: {_group_name(each)}", lines))
    return parts


def reconciled_parts(
    con: duckdb.DuckDBPyConnection, line: Row, quantity: str, value: Number
) -> list[Part]:
    """Return the groups behind a cost of a row of mart_reconciliation."""
    name = _RECONCILED.get(quantity)
    if name is None:
        return []
    key = {each: line[each] for each in ("month", "provider", "model_id")}
    if quantity == "compared_cost_usd" and value != line["computed_cost_usd"]:
        key["is_billed"] = True
    return money_parts(con, key, name, value)


def _group_name(group: Row) -> str:
    kind = "billed" if group["is_billed"] else "not billed"
    if group["service_tier"] != "standard":
        kind = f"tier {group['service_tier']}, {kind}"
    band = f"price row {group['price_band_id']}" if group["price_band_id"] else "no price row"
    return f"{line_name(group)} · {kind}, {band}"
