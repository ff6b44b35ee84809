"""What the workbook's bridge computes from: cells of both months, and what their tokens cost.

A cell is a provider, model, class and team of this month or of the one before. It carries its
requests, its tokens and moments then and now, those of now's requests at the lengths of then, and
the values that the mart sums up.
"""

import duckdb
import polars as pl

from pipeline.report.workbook.usage import MOMENTS, TOKEN_KINDS

_KEYS = "provider, model_id, query_class, team"
_BEFORE = "month_after(month) = getvariable('report_month')"
_NOW = "month = getvariable('report_month')"
# A quantity of the warehouse by the column of tokens or moments that it is.
_KINDS = {
    "cost_usd": {name: name.removesuffix("_tokens") for name in TOKEN_KINDS},
    "facility_energy_kwh": {
        name: "pass" if name == "passes" else name.removesuffix("s") for name, _ in MOMENTS
    },
}
_COUNTED = {"cost_usd": ("priced", "request"), "facility_energy_kwh": ("measured", "pass")}
_LINES = f"""
    select {_KEYS}, measure, quantity_kind, request_count as request_before_count,
        quantity::double as before_quantity, quantity::double * unit_value as before_value
    from int_bridge_quantities where {_BEFORE}
    union all by name
    select {_KEYS}, measure, quantity_kind, request_count, quantity_at_model as then_quantity,
        quantity::double as quantity, mix_base, is_rate_new, at_mix, at_model, at_length, at_price
    from int_bridge_changes where {_NOW}
"""


def bridge_cells(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return the cells of both months, with the value of each after every step."""
    columns = [column for measure in _KINDS for column in _columns(measure)]
    frame: pl.DataFrame = con.sql(
        f"select {_KEYS}, {', '.join(columns)} from ({_LINES}) group by {_KEYS} order by {_KEYS}"
    ).pl()
    return frame


def bridge_prices(con: duckdb.DuckDBPyConnection, same_line: str) -> pl.DataFrame:
    """Return the tokens of known cost by month, provider, model and price line, with unit values.

    Args:
        con: The built warehouse.
        same_line: What joins a line of usage to its cost, as SQL.
    """
    tokens = ", ".join(f"sum(coalesce(usage.{name}, 0))::bigint as {name}" for name in TOKEN_KINDS)
    kinds = {**_KINDS["cost_usd"], "request": "request"}
    values = ", ".join(
        f"max(unit_value) filter (quantity_kind = '{kind}') as value_{name}"
        for name, kind in kinds.items()
    )
    months = f"({_NOW} or {_BEFORE})"
    frame: pl.DataFrame = con.sql(f"""
        with lines as (
            select usage.month, usage.provider, usage.model_id, usage.price_band_id,
                sum(usage.request_count)::bigint as request_count, {tokens},
                sum(costs.cost_usd) as cost_usd
            from int_usage_groups as usage
            inner join int_group_costs as costs on usage.month = costs.month and {same_line}
            where costs.cost_usd is not null
            group by all
        ),
        unit_values as (
            select month, provider, model_id, {values}
            from int_bridge_quantities where measure = 'cost_usd' and {months}
            group by all
        )
        select (lines.month || '-01')::date as month_start, lines.* exclude (month),
            unit_values.* exclude (month, provider, model_id)
        from lines inner join unit_values using (month, provider, model_id)
        order by all
    """).pl()
    return frame


def _columns(measure: str) -> list[str]:
    counted, one_kind = _COUNTED[measure]
    stem, _, unit = measure.rpartition("_")
    of_one = f"filter (measure = '{measure}' and quantity_kind = '{one_kind}')"
    of_all = f"filter (measure = '{measure}')"
    columns = [
        f"coalesce(sum(request_{when}count) {of_one}, 0)::bigint as {counted}_request_{when}count"
        for when in ("before_", "")
    ]
    for when in ("before_", "then_", ""):
        columns += [
            f"coalesce(sum({when}quantity) filter (measure = '{measure}' and quantity_kind = "
            f"'{kind}'), 0)::double as {when}{name}"
            for name, kind in _KINDS[measure].items()
        ]
    columns += [
        f"max(mix_base) {of_all} as {stem}_mix_base",
        f"bool_or(is_rate_new) {of_all} as is_{stem}_new",
    ]
    return columns + [
        f"sum({value}::decimal(38, 15)) {of_all}::double as {stem}_{name}{unit}"
        for value, name in (
            ("before_value", "before_"),
            ("at_mix", "at_mix_"),
            ("at_model", "at_model_"),
            ("at_length", "at_length_"),
            ("at_price", ""),
        )
    ]
