"""The range of an energy: ends of joint draws, the doubts that they draw, and the grade."""

import math
from collections.abc import Sequence

from pipeline.explain import wording
from pipeline.explain.group import Group
from pipeline.explain.lines import Fact, Line, step
from pipeline.explain.written import Written, number, shown

_ENDS = {"low": 0.05, "high": 0.95}
_TIES = 1e-9
_DIGITS = 4


def range_lines(group: Group, gpu_energy_j: float) -> tuple[Line, ...]:
    """Return low and high of an energy of the group, what is unsure, and the grade with its why.

    A request or a team has its share of the class in every draw, so of the ends too.
    """
    energy = group.energy
    lines: list[Line] = []
    for end in _ENDS:
        name = f"energy_{end}_j"
        lines += _ends(
            group.draws["gpu_energy_j"], end, name, energy[name], "J",
            (number("E", gpu_energy_j), energy["gpu_energy_j"]),
        )  # fmt: skip
    count = len(group.draws["gpu_energy_j"])
    lines.append(Fact("range", "range", wording.range_note(count)))
    lines += _doubt_lines(group)
    reasons = wording.grade_notes(
        energy["evidence_grade"], group.deployments, group.batch, group.moments, group.sets
    )
    if not reasons and energy["evidence_grade"] == "B":
        widest = group.assumptions["grade_a_half_width_frac"]["value"]
        reasons = [f"else an A, but its draws spread beyond {100 * widest:g} % either way"]
    lines.append(Fact("evidence_grade", "grade", energy["evidence_grade"], note="; ".join(reasons)))
    return tuple(lines)


def facility_range_lines(group: Group, gpu_energy_j: float, kwh: float) -> tuple[Line, ...]:
    """Return low and high of the electricity that goes with an energy of the group's boards."""
    energy = group.energy
    is_class = gpu_energy_j == energy["gpu_energy_j"]
    whole = energy["facility_energy_kwh"]
    lines: list[Line] = []
    for end in _ENDS:
        name = f"facility_energy_{end}_kwh"
        lines += _ends(
            group.draws["facility_energy_kwh"], end, name, energy[name], "kWh",
            (number("electricity", whole if is_class else kwh), whole),
        )  # fmt: skip
    note = wording.facility_range_note(len(group.draws["facility_energy_kwh"]))
    return (*lines, Fact("range", "range", note))


def drawn_line(
    draws: Sequence[float], end: str, name: str, value: float, unit: str, label: str = ""
) -> Line:
    """Return the 5 % or 95 % end of some draws as the place between two of them.

    Args:
        draws: One value a draw, in any order.
        end: `low` or `high`.
        name: Name of the end in the tables.
        value: The end as it stands there; a value that no draw reaches ends its own range.
        unit: Its unit.
        label: What a reader calls it; by default the end.
    """
    share, count = _ENDS[end], len(draws)
    said = label or f"{end} end"
    ordered = sorted(draws)
    place = round(share * (count - 1), 9)
    at = int(place)
    below, above = ordered[at], ordered[min(at + 1, count - 1)]
    term = number("below", below)
    if above != below and place != at:
        between = number("above", above) - number("below", below)
        term = term + number("place", place - at) * between
    percent = f"{100 * share:g} %"
    note = f"{percent} of {count} joint draws: place {shown(place)} of them in order, from 0"
    if not math.isclose(float(term.value), value, rel_tol=_TIES):
        return Fact(name, said, value, unit, f"the value itself: beyond {percent} of the draws")
    return step(name, said, term, unit, value, note)


def _ends(
    draws: Sequence[float],
    end: str,
    name: str,
    value: float,
    unit: str,
    part: tuple[Written, float],
) -> list[Line]:
    """Return an end of the class and, of a part of it, the same share of that end.

    Args:
        draws: Of the class, one value a draw.
        end: `low` or `high`.
        name: Name of the end.
        value: The end of the class.
        unit: Its unit.
        part: The energy of the part under its sign, and that of the class.
    """
    own, whole = part
    if own.value == whole:
        return [drawn_line(draws, end, name, value, unit)]
    label = f"whole class, {end} end"
    scaled: Written = own * number(end, value) / number("class", whole)
    return [
        drawn_line(draws, end, f"class_{name}", value, unit, label),
        step(name, f"{end} end", scaled, unit),
    ]


def _doubt_lines(group: Group) -> list[Line]:
    """Return what the draws draw, besides what host, idle capacity and cooling add."""
    doubts, batch = group.doubts, group.batch
    shared = "coefficients of the law" + (", serving stack" if doubts["stack_power"] else "")
    note = "drawn once for all lines of a draw (int_draws)"
    lines: list[Line] = [Fact("doubt_law", "doubt: law", shared, note=note)]
    low, high = (shown(batch[f"batch_{end}"], _DIGITS) for end in _ENDS)
    told = "told: none" if low == high else f"{low} to {high}"
    lines.append(Fact("doubt_batch", "doubt: batch", told))
    own_low, own_high = (shown(doubts[f"own_{end}_ratio"], _DIGITS) for end in _ENDS)
    kind = "stand-ins" if group.is_closed else "architectures"
    lines.append(
        Fact(
            "doubt_own",
            f"doubt: {doubts['error_of']} {kind}",
            f"{own_low} to {own_high} times",
            note="all of the kind err alike (int_class_doubts, int_own_errors)",
        )
    )
    if group.moments["cache_unknown_tokens"]:
        note = "half of the draws read the usual share of the class from a cache"
        lines.append(Fact("doubt_cache", "doubt: cache", "cached tokens unknown", note=note))
    return lines
