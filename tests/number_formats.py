"""What a spreadsheet shows for a number under a number format of the workbook.

Knows what the workbook uses: conditions, digits, thousands left out, letters, percent, exponents.
"""

import re
from decimal import ROUND_HALF_UP, Context, Decimal

_CONDITION = re.compile(r"\[([<>=]+)([\d.]+)\]")
_DIGITS = re.compile(r'(#,##0|0)(?:\.(0*)(#*))?(,*)(E\+00|%)?(?:"([^"]*)")?')
_HALF_UP = Context(prec=60, rounding=ROUND_HALF_UP)


def shown_text(value: float | Decimal, number_format: str) -> str:
    """Return the text of a cell, with English marks."""
    exact = Decimal(str(value))
    layout = _section(exact, number_format)
    if layout == "General":
        return str(value)
    if re.fullmatch('"[^"]*"', layout):
        return layout.strip('"')
    parts = _DIGITS.fullmatch(layout)
    if parts is None:
        raise ValueError(f"no format of the workbook: {layout}")
    grouped, fixed, optional, commas, suffix, letter = parts.groups(default="")
    if suffix == "E+00":
        return f"{exact:.{len(fixed)}E}"
    scaled = exact.scaleb(2 if suffix else -3 * len(commas))
    step = Decimal(1).scaleb(-len(fixed + optional))
    mark = "," if "," in grouped else ""
    text = f"{scaled.quantize(step, context=_HALF_UP):{mark}f}"
    for _ in optional:
        text = text.removesuffix("0")
    return text + suffix + letter


def significant_figures(text: str) -> int:
    """Return how many figures a number's text gives, zeros before the first not counted."""
    digits = re.sub(r"[^\d]", "", re.sub(r"E.*", "", text))
    return len(digits.lstrip("0"))


def _section(exact: Decimal, number_format: str) -> str:
    for section in number_format.split(";"):
        condition = _CONDITION.match(section)
        layout = _CONDITION.sub("", section, count=1)
        if condition is None:
            return layout
        compared, bound = condition[1], Decimal(condition[2])
        holds = {"<": exact < bound, ">=": exact >= bound, "=": exact == bound}
        if holds[compared]:
            return layout
    raise ValueError(f"no part of {number_format} holds for {exact}")
