"""A total taken apart: its largest parts with their shares, and the rest as one part that ties."""

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext

from pipeline.explain.lines import Fact, Line, Part, step
from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Term, number
from pipeline.laws.work import Number

SHOWN_PARTS = 5
_TIES = 1e-9  # how near a sum of floats comes to a value that was summed elsewhere
_ROUNDED = 1e-8  # the same in dollars, for money that was an estimate before it was rounded

Amount = Number  # int, float or Decimal


def total_of(values: Sequence[Amount]) -> Amount:
    """Return a sum that no order of rows changes."""
    if any(isinstance(value, float) for value in values):
        return math.fsum(values)
    with localcontext() as context:
        context.prec = 76
        return sum(values)


def sum_part(
    title: str,
    named: Sequence[tuple[str, Amount]],
    whole: Amount,
    name: str,
    unit: str,
    note: str = "",
) -> Part:
    """Return a value as the sum of its largest parts and the rest.

    Args:
        title: Heading.
        named: Every part with what a reader calls it; parts of unknown size are counted.
        whole: The value that the parts should add up to.
        name: Name of the value as in the tables.
        unit: Unit of the value.
        note: A remark for where the parts do not add up, as ends of ranges need not.
    """
    known = [(label, value) for label, value in named if value is not None]
    largest = sorted(known, key=lambda each: -abs(each[1]))
    shown, others = largest[:SHOWN_PARTS], largest[SHOWN_PARTS:]
    if len(others) == 1:
        shown, others = largest, []
    parts = [(f"x{index}", label, value) for index, (label, value) in enumerate(shown, start=1)]
    if others:
        rest = total_of([value for _, value in others])
        parts.append(("rest", f"the other {len(others):,}", rest))
    lines: list[Line] = [
        Fact(name, f"{sign}, {label}", value, unit, _share(value, whole))
        for sign, label, value in parts
    ]
    unknown = len(named) - len(known)
    if unknown:
        lines.append(Fact("unknown_count", "without a value", unknown, note="in no sum"))
    term: Term = 0
    for sign, _, value in parts:
        term = term + number(sign, value)
    found = total_of([value for _, _, value in parts])
    if math.isclose(float(found), float(whole), rel_tol=_TIES, abs_tol=_slack(whole)):
        lines.append(step(name, "together", term, unit, whole))
    else:
        lines.append(Fact(name, "shown", whole, unit, note or "not the sum of these lines"))
    return Part("parts", title, tuple(lines))


def line_name(line: Row) -> str:
    """Return what a reader calls a row of a mart or of a table of groups."""
    named = [
        line[name]
        for name in ("model_id", "query_class", "provider", "team", "project", "charge_kind")
        if line.get(name) is not None
    ]
    named += [line[name] for name in ("source_file", "outcome", "reason") if line.get(name)]
    return " · ".join(map(str, named)) or "unattributed"


def _slack(whole: Amount) -> float:
    return _ROUNDED if isinstance(whole, Decimal) else 0


def _share(value: Number, whole: Number) -> str:
    return f"{float(value) / float(whole):.1%}" if whole else ""
