"""A quantity of a team by model and class, and the arithmetic of the largest of them."""

import duckdb

from pipeline.explain import cell_energy
from pipeline.explain.cell_money import MONEY, money_parts
from pipeline.explain.cell_requests import task_part
from pipeline.explain.cell_total import team_range_part
from pipeline.explain.group import group_of
from pipeline.explain.group_lines import facility_part
from pipeline.explain.lines import Part
from pipeline.explain.sums import line_name, sum_part
from pipeline.explain.warehouse_rows import Row, rows
from pipeline.explain.work import share_of
from pipeline.laws.facility import facility_energy_kwh
from pipeline.laws.work import Number

_TOKENS = ("input_tokens", "output_tokens")
_KEY = ("month", "provider", "model_id", "query_class", "team", "project")
_MOMENTS = (
    *("prefilled_tokens", "prefill_pairs", "decode_pairs", "cache_positions"),
    *("decode_steps", "passes", "prompts"),
)


def team_parts(
    con: duckdb.DuckDBPyConnection,
    line: Row,
    quantity: str,
    value: Number,
    unit: str,
) -> list[Part]:
    """Return what a quantity of a row of the marts of teams and of projects is the sum of."""
    team: Row = {name: line[name] for name in ("month", "team", "project") if name in line}
    if quantity in MONEY:
        return money_parts(con, team, quantity, value)
    if quantity == "task_count":
        return [task_part(con, team, value)]
    if "_low_" in quantity or "_high_" in quantity:
        part = team_range_part(con, line, quantity)
        return [part] if part else []
    is_team = " and ".join(f"{name} is not distinct from ${name}" for name in team)
    if quantity in _TOKENS:
        used = rows(
            con,
            f"select provider, model_id, query_class, sum({quantity})::decimal(38, 0) as "
            f"{quantity} from int_usage_groups where {is_team} group by all order by all",
            team,
        )
        named = [(line_name(each), each[quantity]) for each in used]
        return [sum_part("By model and class", named, value, quantity, unit)]
    if quantity not in ("request_count", *cell_energy.QUANTITIES):
        return []
    used = rows(con, f"select * from int_team_energy where {is_team} order by all", team)
    named = [(line_name(each), _part_of(each, quantity)) for each in used]
    parts = [sum_part("By model and class", named, value, quantity, unit)]
    known = [each for each in used if each["gpu_energy_j"]]
    if quantity == "request_count" or not known:
        return parts
    largest = max(known, key=lambda each: float(each["gpu_energy_j"]))
    parts.append(_share_part(con, largest))
    if quantity in cell_energy.FACILITY:
        parts.append(facility_part(group_of(con, largest), largest["gpu_energy_j"]))
    return parts


def _share_part(con: duckdb.DuckDBPyConnection, used: Row) -> Part:
    """Return a team's token moments times the rates of their class."""
    sums = ", ".join(f"coalesce(sum({name}), 0)::decimal(38, 0) as {name}" for name in _MOMENTS)
    key = {name: used[name] for name in _KEY}
    where = " and ".join(f"{name} is not distinct from ${name}" for name in key)
    (moments,) = rows(con, f"select {sums} from int_usage_groups where {where}", key)
    rates = group_of(con, used).energy
    line = share_of(moments, rates, used["gpu_energy_j"], "GPU energy of the team there")
    note = "What the team's lengths come to, times the rates of the class."
    return Part("share", f"The largest: {line_name(used)}", (line,), note)


def _part_of(used: Row, quantity: str) -> Number:
    """Return what one class adds to a quantity of its team, None where it is unknown."""
    if quantity in used:
        return used[quantity]
    boards = used["gpu_energy_j"]
    if boards is None:
        return None
    kwh = float(facility_energy_kwh(boards, used["facility_ratio"]))
    factors = {
        "carbon_kgco2e": used["carbon_gco2e_per_kwh"] / cell_energy.GRAMS_PER_KG,
        "energy_cost_usd": used["electricity_usd_per_kwh"],
    }
    return kwh * float(factors.get(quantity, 1))
