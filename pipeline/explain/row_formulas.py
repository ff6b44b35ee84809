"""Quantities of a mart that are arithmetic over others of the same row, each written once here.

A formula is tried with the numbers of the row; one that comes to another value than the cell is
not what lies behind it and is not shown.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Written, number
from pipeline.laws.facility import J_PER_KWH, facility_energy_kwh
from pipeline.laws.work import Number

Get = Callable[[str], Any]  # a number of the row, or of the assumptions, under its name
WH_PER_KWH, GRAMS_PER_KG = 1_000, 1_000


def _over(part: str, whole: str) -> Callable[[Get], Number]:
    return lambda n: n(part) / n(whole)


def _less(first: str, second: str) -> Callable[[Get], Number]:
    return lambda n: n(first) - n(second)


def _scaled(name: str, divisor: int) -> Callable[[Get], Number]:
    return lambda n: n(name) / divisor


def _per_task(end: str) -> Callable[[Get], Number]:
    return lambda n: n(f"energy_{end}_j") / (n("gpu_energy_j") / n("energy_j_per_task"))


def _of_facility(n: Get) -> Number:
    ratio = n("host_ratio") * n("idle_ratio") * n("pue_ratio")
    return facility_energy_kwh(n("gpu_energy_j"), ratio)


_REVERSAL_PARTS = (
    *("list_price", "tier", "cache_price", "cache_share", "input_length", "verbosity"),
    *("reasoning", "failures", "requests"),
)


def _parts_of_gap(n: Get) -> Number:
    total: Any = 0
    for name in _REVERSAL_PARTS:
        total = total + n(f"{name}_usd_per_task")
    return total


FORMULAS: dict[str, tuple[Callable[[Get], Number], ...]] = {
    "low_j_per_task": (_per_task("low"),),
    "high_j_per_task": (_per_task("high"),),
    "energy_j_per_task": (_over("gpu_energy_j", "task_count"),),
    "list_cost_usd_per_task": (_over("list_cost_usd", "task_count"),),
    "cost_usd_per_task": (_over("cost_usd", "task_count"),),
    "cost_saving_usd": (
        _less("current_cost_usd", "equal_cost_usd"),
        _less("current_list_cost_usd", "list_cost_usd"),
    ),
    "carbon_kgco2e": (
        lambda n: n("facility_energy_kwh") * n("carbon_gco2e_per_kwh") / GRAMS_PER_KG,
        _scaled("carbon_gco2e", GRAMS_PER_KG),
    ),
    "carbon_saving_kgco2e": (
        lambda n: n("facility_energy_saving_p50_kwh") * n("carbon_gco2e_per_kwh") / GRAMS_PER_KG,
    ),
    "carbon_delta_gco2e": (lambda n: n("electricity_delta_kwh") * n("carbon_gco2e_per_kwh"),),
    "electricity_delta_if_owned_usd": (
        lambda n: n("electricity_delta_kwh") * n("electricity_usd_per_kwh"),
    ),
    "electricity_wh_per_request": (
        lambda n: n("facility_energy_kwh") * WH_PER_KWH / n("request_count"),
    ),
    "electricity_low_wh_per_request": (
        lambda n: n("own_facility_energy_low_kwh") * WH_PER_KWH / n("request_count"),
    ),
    "electricity_high_wh_per_request": (
        lambda n: n("own_facility_energy_high_kwh") * WH_PER_KWH / n("request_count"),
    ),
    "facility_energy_kwh": (
        lambda n: n("facility_energy_kwh_per_request") * n("request_count"),
        _of_facility,
    ),
    "penalty_frac": (
        lambda n: (
            n("energy_j_per_output_token_at_mean") / n("energy_j_per_output_token_at_optimum") - 1
        ),
    ),
    "saving_j_per_item": (_less("energy_j_per_single_item", "energy_j_per_item"),),
    "price_ratio": (_over("output_usd_per_mtok", "uncached_input_usd_per_mtok"),),
    "gap_usd_per_task": (
        _parts_of_gap,
        _less("list_cost_usd_per_task", "other_list_cost_usd_per_task"),
    ),
    "energy_j_per_correct_answer": (_over("gpu_energy_j", "accuracy_frac"),),
    "cost_usd_per_correct_answer": (_over("cost_usd", "accuracy_frac"),),
    "accuracy_frac_per_j": (_over("accuracy_frac", "gpu_energy_j"),),
    "above_chance_frac_per_j": (
        lambda n: (n("accuracy_frac") - n("chance_frac")) / n("gpu_energy_j"),
    ),
    "net_value_usd": (
        lambda n: n("accuracy_frac") * n("value_usd_per_correct_answer") - n("cost_usd"),
    ),
    "reasoning_frac": (_over("reasoning_tokens", "output_tokens"),),
    "unexplained_energy_kwh": (
        lambda n: n("measured_energy_kwh") - n("idle_energy_kwh") - n("law_energy_kwh"),
        _less("measured_energy_kwh", "law_energy_kwh"),
    ),
    "used_frac": (_over("used_usd", "budget_usd"),),
    "gpu_energy_kwh": (_scaled("gpu_energy_j", J_PER_KWH),),
    "carbon_gco2e_per_task": (_over("carbon_gco2e", "task_count"),),
}


def terms_of(quantity: str, line: Row, assumptions: Row) -> list[Written]:
    """Return every formula of a quantity that the numbers of a row fill.

    Args:
        quantity: As in the mart, or as a table of the report names it.
        line: Row of the mart.
        assumptions: Values of the assumptions by name.
    """
    known = {name: value for name, value in (assumptions | line).items() if _is_number(value)}
    found = []
    for formula in FORMULAS.get(quantity, ()):
        asked: set[str] = set()
        formula(_asking(asked))
        if asked <= known.keys():
            is_money = all(isinstance(known[name], Decimal | int) for name in asked)
            term = formula(_giving(known, is_money=is_money))
            found += [term] if isinstance(term, Written) else []
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value != 0


def _asking(names: set[str]) -> Get:
    """Return a getter that notes which numbers a formula asks for."""

    def get(name: str) -> Written:
        names.add(name)
        return number(name, 1.0)

    return get


def _giving(known: Row, *, is_money: bool) -> Get:
    """Return a getter of numbers; money stays exact where nothing else is in the formula."""
    return lambda name: number(name, known[name] if is_money else float(known[name]))
