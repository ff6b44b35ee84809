"""An energy of the report as coefficients × summed work, then what the boards' energy becomes."""

from typing import Any

import duckdb

from pipeline.explain.group import Group
from pipeline.explain.group_lines import (
    batch_part,
    bias_lines,
    facility_part,
)
from pipeline.explain.group_range import range_lines
from pipeline.explain.law_parts import law_parts
from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.request import stand_in_lines
from pipeline.explain.sums import sum_part
from pipeline.explain.warehouse_rows import Row, ranked_requests
from pipeline.explain.written import Term, Written, number
from pipeline.laws.facility import J_PER_KWH

_TERMS = ("prefill", "kv_cache", "next_token")
BOARDS = ("gpu_energy_j", "energy_low_j", "energy_high_j", "energy_j")
FACILITY = (
    *("facility_energy_kwh", "facility_energy_low_kwh", "facility_energy_high_kwh"),
    *("carbon_gco2e", "carbon_kgco2e", "carbon_low_kgco2e", "carbon_high_kgco2e"),
    "energy_cost_usd",
)
TERMS = tuple(f"{term}_energy_{unit}" for term in _TERMS for unit in ("j", "kwh"))
BOARD_ENDS_KWH = ("energy_low_kwh", "energy_high_kwh")
QUANTITIES = (*BOARDS, *FACILITY, *TERMS, *BOARD_ENDS_KWH)

GRAMS_PER_KG = 1_000


def class_parts(
    con: duckdb.DuckDBPyConnection, group: Group, key: Row, quantity: str, value: float
) -> list[Part]:
    """Return the arithmetic from summed work to one energy of a month, model and class.

    The requests of the class stand at the end, largest first, down to the energy of the boards.
    """
    if not group.works:
        note = "no request of the class had work to do"
        return [Part("law", "Energy", (Fact(quantity, "energy", value, note=note),))]
    boards = group.energy["gpu_energy_j"]
    parts = work_parts(group)
    if quantity in FACILITY:
        parts.append(facility_part(group, boards))
    last = _last_line(group, quantity, value)
    if last:
        parts.append(Part("value", "The cell", (last,)))
    named = [
        (f"{each['source_file']}:{each['source_line']}", each["gpu_energy_j"])
        for each in ranked_requests(con, key)
    ]
    title = "The requests that the GPU energy is the sum of"
    return [*parts, sum_part(title, named, boards, "gpu_energy_j", "J")]


def work_parts(group: Group) -> list[Part]:
    """Return the arithmetic from the summed work of a class to the energy of its boards."""
    energy = group.energy
    boards = energy["gpu_energy_j"]
    lines = list(bias_lines(group))
    if group.is_closed:
        lines += stand_in_lines(group)
    else:
        term = number("bias", energy["bias_factor"]) * number("law", energy["energy_j"])
        lines.append(step("gpu_energy_j", "GPU energy", term, "J", boards))
    lines += range_lines(group, boards)
    by_law, _ = law_parts(group, group.moments, "Summed work")
    parts = [_moments_part(group), batch_part(group), *by_law]
    return [*parts, Part("gpu_energy", "GPU energy: law × bias factor", tuple(lines))]


def _moments_part(group: Group) -> Part:
    moments = group.moments
    labels = (
        ("prompts", "r, requests with work", ""),
        ("input_tokens", "input in all", "tokens"),
        ("passes", "m, output in all", "tokens"),
        ("prefilled_tokens", "p, tokens through the prefill", ""),
        ("prefill_pairs", "q, pairs in the prefill", ""),
        ("decode_pairs", "y, pairs while writing", ""),
        ("cache_positions", "z, cache positions read", ""),
        ("decode_steps", "t, passes after the first", ""),
    )
    lines = tuple(Fact(name, label, moments[name], unit) for name, label, unit in labels)
    note = "Sums over the requests of the class, each written out by its own explanation."
    return Part("moments", "What the lengths of the class come to", lines, note)


def _last_line(group: Group, quantity: str, value: float) -> Line | None:
    """Return the step from the energies above to a quantity that only the report has."""
    energy = group.energy
    boards = number("E", energy["gpu_energy_j"])
    term, _, unit = quantity.partition("_energy_")
    if term in _TERMS and unit == "kwh":
        joules = number(term, energy[f"{term}_energy_j"]) * number("bias", energy["bias_factor"])
        return step(quantity, "term × bias factor", joules / J_PER_KWH, "kWh", value)
    if term in _TERMS and group.is_closed:
        return step(quantity, f"{term} of the class", _blended(group, term), "J", value)
    if quantity in BOARD_ENDS_KWH:
        end = quantity.split("_")[1]
        joules = number(end, energy[f"energy_{end}_j"])
        return step(quantity, f"{end} end", joules / J_PER_KWH, "kWh", value)
    drawn = boards * number("f", energy["facility_ratio"]) / J_PER_KWH
    if quantity == "carbon_kgco2e":
        grams = drawn * number("grid", energy["carbon_gco2e_per_kwh"])
        return step(quantity, "carbon", grams / GRAMS_PER_KG, "kg CO₂e", value)
    if quantity == "energy_cost_usd":
        power = drawn * number("tariff", energy["electricity_usd_per_kwh"])
        note = "to a thousandth of a millionth of a dollar"
        return step(quantity, "electricity at tariff", power, "USD", value, note)
    return None


def _blended(group: Group, term: str) -> Written:
    """Return one term of a closed model: its share among the means of terms, of the whole mean."""
    count = len(group.works)
    means = {}
    for name in _TERMS:
        product: Any = 1
        for index, each in enumerate(group.works, start=1):
            product = product * number(f"{name}{index}", each[f"{name}_energy_j"])
        root = number("1", 1) / number(str(count), count)
        means[name] = product**root if count > 1 else product
    total: Term = 0
    for name in _TERMS:
        total = total + means[name]
    whole: Written = number("E", group.energy["energy_j"]) * means[term] / total
    return whole
