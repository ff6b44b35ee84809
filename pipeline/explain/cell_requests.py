"""Counts, tokens, tasks and quantiles of one class, from its single requests."""

import duckdb

from pipeline.explain.lines import Fact, Part, step
from pipeline.explain.sums import sum_part
from pipeline.explain.warehouse_rows import Row, ranked_requests, rows
from pipeline.explain.written import number
from pipeline.laws.work import Number

_QUANTILES = {"request_energy_p50_j": 0.5, "request_energy_p90_j": 0.9}


def request_sum(
    con: duckdb.DuckDBPyConnection,
    key: Row,
    quantity: str,
    value: Number,
    unit: str,
) -> Part:
    """Return tokens as those of the largest requests and the rest, and requests by file."""
    found = ranked_requests(con, key)
    if quantity == "request_count":
        files: dict[str, int] = {}
        for each in found:
            files[each["source_file"]] = files.get(each["source_file"], 0) + each[quantity]
        return sum_part("Its requests by file", list(files.items()), value, quantity, unit)
    named = [(_place(each), _tokens(each, quantity)) for each in found]
    return sum_part("The requests that it is the sum of", named, value, quantity, unit)


def task_part(con: duckdb.DuckDBPyConnection, key: Row, value: Number) -> Part:
    """Return tasks as those that the log names and the requests that belong to none."""
    where = " and ".join(f"{name} is not distinct from ${name}" for name in key)
    (counts,) = rows(
        con,
        "select count(distinct task_id) as named, "
        "coalesce(sum(request_count) filter (where task_id is null), 0)::bigint as alone "
        f"from int_requests where {where}",
        key,
    )
    term = number("named", counts["named"]) + number("alone", counts["alone"])
    note = "tasks that the log names, and requests that belong to none"
    if counts["named"] + counts["alone"] != value:
        return Part("value", "The cell", (Fact("task_count", "tasks", value),))
    return Part("value", "The cell", (step("task_count", "tasks", term, "", value, note),))


def quantile_part(
    con: duckdb.DuckDBPyConnection,
    key: Row,
    quantity: str,
    value: Number,
) -> Part:
    """Return a quantile from the two single requests between which it lies."""
    where = " and ".join(f"{name} is not distinct from ${name}" for name in key)
    single = {
        (each["input_id"], each["source_line"])
        for each in rows(
            con,
            "select input_id, source_line from int_requests "
            f"where has_work and not is_bucket and {where}",
            key,
        )
    }
    energies = sorted(
        each["gpu_energy_j"]
        for each in ranked_requests(con, key)
        if (each["input_id"], each["source_line"]) in single
    )
    place = _QUANTILES[quantity] * (len(energies) - 1)
    at = int(place)
    below, above = energies[at], energies[min(at + 1, len(energies) - 1)]
    term = number("below", below)
    if above != below:
        between = number("above", above) - number("below", below)
        term = term + number("place", place - at) * between
    note = f"place {place:,.2f} of {len(energies):,} requests in order, counted from 0"
    return Part("value", "The cell", (step(quantity, "energy", term, "J", value, note),))


def _place(request: Row) -> str:
    return f"{request['source_file']}:{request['source_line']}"


def _tokens(request: Row, quantity: str) -> int:
    if quantity == "cache_write_tokens":
        kinds = ("cache_write_5m_tokens", "cache_write_1h_tokens")
        return sum(request[kind] or 0 for kind in kinds)
    return int(request[quantity] or 0)
