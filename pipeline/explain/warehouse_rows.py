"""Read a built warehouse: rows as dictionaries, and each request as a group of its own."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import duckdb

from pipeline import warehouse
from pipeline.laws.work import Number

Row = dict[str, Any]

_NAMES_ONE = (
    *("input_id", "source_line", "month", "provider", "model_id", "query_class"),
    *("input_tokens", "cache_read_tokens", "output_tokens", "reasoning_tokens", "request_count"),
    *("team", "project", "service_tier", "region"),
)

# The report's own SQL, run over single requests: their prices, costs and energies.
# Shares of bills are no part of it: they belong to whole groups, and none has these teams' names.
_BY_GROUP = (
    *("int_priced_requests", "int_usage_days", "int_usage_groups", "int_group_prices"),
    *("int_group_costs", "int_team_energy"),
)


def rows(
    con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any] | None = None
) -> list[Row]:
    """Return a query's rows; decimals without a fraction, such as sums of work, are whole."""
    result = con.execute(sql, dict(values or {}))
    names = [column[0] for column in result.description or ()]
    return [
        {name: _whole(value) for name, value in zip(names, row, strict=True)}
        for row in result.fetchall()
    ]


def row(con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any] | None = None) -> Row:
    """Return the one row of a query, empty where it has none."""
    found = rows(con, sql, values)
    return found[0] if found else {}


def ranked_requests(con: duckdb.DuckDBPyConnection, of: Mapping[str, Any]) -> list[Row]:
    """Return energy and cost of every request whose columns of int_requests have these values.

    Each request is made a group of its own, and the report's SQL of groups runs over them: what a
    request costs is never computed a second way. The tables of the report stay as they are.
    """
    return _by_groups(con, of, "")


def request_alone(con: duckdb.DuckDBPyConnection, request: Row) -> Row:
    """Return the same of one row of int_requests; others on its line are others."""
    (found,) = _by_groups(con, {name: request[name] for name in _NAMES_ONE}, "limit 1")
    return found


def _by_groups(con: duckdb.DuckDBPyConnection, of: Mapping[str, Any], limit: str) -> list[Row]:
    """Run the SQL of groups with a temporary int_requests before it, which hides the real one.

    The team of each request is its place and a number, since a line may hold several records.
    """
    catalog = con.execute("select current_database()").fetchall()[0][0]
    wanted = " and ".join(f"{name} is not distinct from {_literal(of[name])}" for name in of)
    con.execute(
        "create or replace temp view int_requests as select * replace "
        "(input_id || ':' || source_line || ':' || row_number() over () as team) "
        f'from "{catalog}".main.int_requests where {wanted} {limit}'
    )
    models = warehouse.models()
    try:
        for name in _BY_GROUP:
            con.execute(f"create or replace temp table {name} as {models[name].sql}")
        return rows(
            con,
            """
            select
                split_part(used.team, ':', 1)::integer as input_id,
                split_part(used.team, ':', 2)::bigint as source_line,
                raw_inputs.source_file,
                used.month, used.provider, used.model_id, used.query_class, used.request_count,
                used.service_tier, used.is_billed, used.price_band_id, used.latency_s,
                used.uncached_input_tokens, used.cache_read_tokens, used.cache_write_5m_tokens,
                used.cache_write_1h_tokens, used.input_tokens, used.output_tokens,
                used.reasoning_tokens,
                energy.gpu_energy_j, energy.facility_ratio, energy.electricity_usd_per_kwh,
                costs.list_cost_usd, costs.contracted_cost_usd, costs.billed_cost_usd,
                costs.cost_usd, costs.cost_source
            from int_usage_groups as used
            inner join int_group_costs as costs on used.team = costs.team
            inner join int_team_energy as energy on used.team = energy.team
            inner join raw_inputs on split_part(used.team, ':', 1)::integer = raw_inputs.input_id
            order by raw_inputs.source_file, source_line
            """,
        )
    finally:
        for name in _BY_GROUP:
            con.execute(f"drop table if exists temp.{name}")
        con.execute("drop view if exists temp.int_requests")


def _whole(value: Number) -> Number:
    is_whole = isinstance(value, Decimal) and value.as_tuple().exponent == 0
    return int(value) if is_whole else value


def _literal(value: str | int | None) -> str:
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
