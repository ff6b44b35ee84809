"""What an explanation is made of: parts of facts and of steps, each step with its arithmetic."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pipeline.explain.written import RESULT_DIGITS, Term, Written, as_number, number, shown

Value = str | int | float | bool | Decimal | dt.date | None


@dataclass(frozen=True)
class Fact:
    """A value that stands somewhere, and where; nothing is computed."""

    name: str  # as in the tables
    label: str
    value: Value
    unit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Step:
    """A value, the formula it comes from, and the formula with its numbers put in."""

    name: str
    label: str
    value: int | float | Decimal
    unit: str
    formula: str
    numbers: str
    note: str = ""

    @property
    def result(self) -> str:
        """Return the value as printed: whole numbers and money in full."""
        return shown(self.value, RESULT_DIGITS)

    def again(self, symbol: str) -> Written:
        """Return the value under a short name, to be put into the next step."""
        return number(symbol, self.value)


Line = Fact | Step


@dataclass(frozen=True)
class Part:
    """Lines under a heading."""

    name: str
    title: str
    lines: tuple[Line, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Explanation:
    """An answer: its heading, what it comes to, and the parts in the order of the arithmetic."""

    kind: str  # request, left_out or cell
    title: str
    facts: Mapping[str, Value]  # the answer itself, for machines
    parts: Sequence[Part] = field(default=())


def step(
    name: str,
    label: str,
    term: Term,
    unit: str,
    value: int | float | Decimal | None = None,
    note: str = "",
) -> Line:
    """Return the line of a computed term.

    Args:
        name: Name as in the tables.
        label: What a reader calls it.
        term: The computation; one without any sign is a fact.
        unit: Unit of the value.
        value: The same value as it stands in a table of the warehouse, where it does.
        note: A remark.
    """
    found = as_number(term) if value is None else value
    if not isinstance(term, Written) or term.is_atom:
        return Fact(name, label, found, unit, note)
    return Step(name, label, found, unit, term.formula, term.numbers, note)


def as_json(made: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values, ready for JSON, with every number unrounded."""
    return {
        "kind": made.kind,
        "title": made.title,
        **made.facts,
        "parts": [
            {
                "name": part.name,
                "title": part.title,
                "lines": [_line_json(line) for line in part.lines],
                "note": part.note or None,
            }
            for part in made.parts
        ],
    }


def _line_json(line: Line) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": line.name,
        "label": line.label,
        "value": line.value,
        "unit": line.unit or None,
        "note": line.note or None,
    }
    if isinstance(line, Step):
        row |= {"formula": line.formula, "numbers": line.numbers}
    return row
