"""An explanation as lines for people: a heading, then parts; under each formula its numbers."""

import datetime as dt
import textwrap
from decimal import Decimal

from pipeline.explain.lines import Explanation, Fact, Line, Part
from pipeline.explain.written import RESULT_DIGITS, shown

_WIDTH = 100
_LABEL = 32
UNKNOWN = "unknown"


def text_of(made: Explanation) -> str:
    """Return the whole explanation; an arithmetic line is `= numbers = result unit`."""
    blocks = [made.title, *(_part(part) for part in made.parts)]
    return "\n\n".join(blocks) + "\n"


def value_text(value: object) -> str:
    """Return a value as printed: whole numbers and money in full, others to nine figures."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Decimal):
        return shown(value, RESULT_DIGITS)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    return str(value)


def _part(part: Part) -> str:
    lines = [part.title]
    if part.note:
        lines.append(_wrapped(part.note, "  "))
    lines += [_line(line) for line in part.lines]
    return "\n".join(lines)


def _line(line: Line) -> str:
    if isinstance(line, Fact):
        return _fact(line)
    head = f"  {line.label:<{_LABEL}}  {line.formula}"
    unit = f" {line.unit}" if line.unit else ""
    texts = [head, f"    = {line.numbers} = {line.result}{unit}"]
    if line.note:
        texts.append(_wrapped(line.note, " " * 6))
    return "\n".join(texts)


def _fact(line: Fact) -> str:
    unit = f" {line.unit}" if line.unit and line.value is not None else ""
    text = f"  {line.label:<{_LABEL}}  {value_text(line.value)}{unit}"
    note = f" ({line.note})" if line.note else ""
    return _wrapped(text + note, "", " " * (_LABEL + 4))


def _wrapped(text: str, first: str, further: str | None = None) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if further is None else further,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )
