"""Shares of bills that cover whole groups of usage: commitments and GPU bills.

A share belongs to a group and is read from its table. One request has the part of it that it has of
the group's tokens, time or energy, to a thousandth of a millionth of a dollar.
"""

from collections.abc import Sequence
from decimal import Decimal

import duckdb

from pipeline.explain.lines import Fact, Line, step
from pipeline.explain.money import cost_groups
from pipeline.explain.warehouse_rows import Row, row
from pipeline.explain.written import number, shown
from pipeline.laws import facility

_GROUP = (
    *("month", "provider", "model_id", "query_class", "team", "project"),
    *("service_tier", "price_band_id", "is_billed"),
)
_LAST_DIGIT = Decimal("0.000000001")
_BASES = {
    "latency": "time on the GPUs",
    "energy": "GPU energy by the law",
    "tokens": "tokens",
    "requests": "number of requests",
}


def share_lines(con: duckdb.DuckDBPyConnection, group: Row) -> tuple[Line, ...]:
    """Return what a group of usage has of a commitment and of a GPU bill."""
    lines: list[Line] = []
    if group["committed_cost_usd"] is not None:
        note = "by tokens; running totals are rounded, so that shares add up to what was used of it"
        value = group["committed_cost_usd"]
        lines.append(Fact("committed_cost_usd", "share of commitment", value, "USD", note))
    if group["hosting_cost_usd"] is not None:
        bill = _bill(con, group)
        used, billed = (shown(bill[name]) for name in ("used_usd", "billed_usd"))
        note = (
            f"of {used} USD used of a bill of {billed} USD, by "
            f"{_BASES[bill['share_basis']]}; running totals are rounded, so that shares add up"
        )
        value = group["hosting_cost_usd"]
        lines.append(Fact("hosting_cost_usd", "share of the GPU bill", value, "USD", note))
    if group["hosting_energy_cost_usd"] is not None:
        note = "electricity at tariff: the GPU bill leaves it out"
        value = group["hosting_energy_cost_usd"]
        lines.append(Fact("hosting_energy_cost_usd", "electricity beside it", value, "USD", note))
    return tuple(lines)


def with_shares(
    con: duckdb.DuckDBPyConnection, alone: Row, request: Row
) -> tuple[Row, tuple[Line, ...]]:
    """Return a request's costs with its part of what its group has of bills, and the lines of it.

    Args:
        con: The warehouse.
        alone: The request as `request_alone` gives it, without any share.
        request: Its row of int_requests.
    """
    key = {name: (request if name in ("team", "project") else alone)[name] for name in _GROUP}
    where = " and ".join(f"used.{name} is not distinct from ${name}" for name in key)
    groups = cost_groups(con, where, key)
    if alone["billed_cost_usd"] is not None or len(groups) != 1:
        return alone, ()
    (group,) = groups
    if group["committed_cost_usd"] is not None:
        line = _part(group, "committed_cost_usd", alone, "commitment", _tokens(alone, group))
        found = {"cost_usd": line.value, "cost_source": "effective"}
        return alone | found, (*_said(share_lines(con, group)), line)
    if alone["cost_usd"] is None and group["hosting_cost_usd"] is not None:
        weights = _weights(con, alone, group)
        line = _part(group, "hosting_cost_usd", alone, "GPU bill", weights)
        lines, cost = [*_said(share_lines(con, group)), line], Decimal(str(line.value))
        if group["hosting_energy_cost_usd"] is not None:
            power = _power(alone)
            lines.append(power)
            cost += Decimal(str(power.value))
        return alone | {"cost_usd": cost, "cost_source": "hosting"}, tuple(lines)
    return alone, ()


def _said(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a group, named as such beside those of its request."""
    return [
        Fact(f"group_{line.name}", f"its group: {line.label}", line.value, line.unit, line.note)
        for line in lines
    ]


def _part(
    group: Row, name: str, alone: Row, label: str, weights: tuple[Decimal | int, Decimal | int]
) -> Line:
    own, whole = weights
    if own == whole or not whole:
        note = f"the only request of its group ({alone['request_count']:,})"
        return Fact(name, f"part of the {label}", group[name], "USD", note)
    term = number("share", group[name]) * number("own", own) / number("group", whole)
    value = Decimal(term.value).quantize(_LAST_DIGIT)
    return step(name, f"part of the {label}", term, "USD", value)


def _tokens(alone: Row, group: Row) -> tuple[int, int]:
    own, whole = (
        (each["input_tokens"] or 0) + (each["output_tokens"] or 0) for each in (alone, group)
    )
    return own, whole


def _weights(
    con: duckdb.DuckDBPyConnection, alone: Row, group: Row
) -> tuple[Decimal | int, Decimal | int]:
    """Return by what a request shares its group's part of a GPU bill, as int_hosting says."""
    basis = _bill(con, group)["share_basis"]
    if basis == "tokens":
        return _tokens(alone, group)
    if basis == "requests":
        return alone["request_count"], group["request_count"]
    if basis == "latency":
        return alone["latency_s"], group["latency_s"]
    same = " and ".join(f"{name} is not distinct from ${name}" for name in _GROUP)
    of_group = row(
        con,
        f"select gpu_energy_j from int_group_energy where {same}",
        {name: group[name] for name in _GROUP},
    )
    own, whole = (
        Decimal(str(each["gpu_energy_j"] or 0)).quantize(_LAST_DIGIT) for each in (alone, of_group)
    )
    return own, whole


def _power(alone: Row) -> Line:
    """Return the electricity of a request at the tariff."""
    drawn = facility.facility_energy_kwh(
        number("E", alone["gpu_energy_j"]), number("f", alone["facility_ratio"])
    )
    term = drawn * number("tariff", alone["electricity_usd_per_kwh"])
    value = Decimal(f"{float(term.value):.9f}")
    return step("hosting_energy_cost_usd", "its electricity at tariff", term, "USD", value)


def _bill(con: duckdb.DuckDBPyConnection, group: Row) -> Row:
    return row(
        con,
        "select * from int_hosting where month = $month and model_id = $model_id",
        {name: group[name] for name in ("month", "model_id")},
    )
