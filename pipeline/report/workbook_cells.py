"""Write one value into one cell, so that text from a log can never become a formula.

A spreadsheet library guesses a type from a text's first letter; here the type is said. Numbers stay
numbers, unknown and not-a-number become words, and times lose their zone only after becoming UTC.
"""

import datetime as dt
from decimal import Decimal

from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font

from pipeline.report.numbers import (
    NOT_A_NUMBER,
    UNKNOWN,
    clean_text,
    excel_format,
    is_finite,
    is_number_kind,
    show,
)
from pipeline.report.section import Kind, Value

FAINT = "56626E"
FAILED = "A4262C"
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")
_MOST_DIGITS = 2**53  # larger whole numbers lose digits in a spreadsheet


def write_value(cell: Cell, value: Value, kind: Kind, unknown: str = UNKNOWN) -> None:
    """Write a value of a kind, with its number format and its side of the column."""
    is_right = is_number_kind(kind)
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        _write_number(cell, value, kind)
    elif isinstance(value, dt.date):
        _write_time(cell, value)
    else:
        write_text(cell, show(value, kind, unknown))
    cell.font = _value_font(value, kind)
    cell.alignment = Alignment(
        horizontal="right" if is_right else "left",
        vertical="top",
        wrap_text=not is_right,
        indent=0 if is_right or cell.column == 1 else 1,  # off the number to its left
    )


def write_text(cell: Cell, text: str) -> None:
    """Write text as text, whatever it begins with."""
    plain = clean_text(text)
    cell.value = plain
    cell.data_type = "s"  # whatever the library guessed
    if plain.startswith(_FORMULA_STARTS):
        cell.quotePrefix = True  # it stays text when a reader edits the cell


def font(*, size: int = 11, bold: bool = False, color: str = "1D2733") -> Font:
    """Return the workbook's one typeface."""
    return Font(name="Calibri", size=size, bold=bold, color=color)


def _value_font(value: Value, kind: Kind) -> Font:
    if value is None or (isinstance(value, (float, Decimal)) and not is_finite(value)):
        return font(color=FAINT)
    if kind == "status" and value == "fail":
        return font(color=FAILED, bold=True)
    return font()


def _write_number(cell: Cell, value: float | Decimal, kind: Kind) -> None:
    if not is_finite(value):
        write_text(cell, NOT_A_NUMBER)
    elif kind in ("id", "text") or (isinstance(value, int) and abs(value) > _MOST_DIGITS):
        write_text(cell, str(value))
    else:
        cell.value = value
        cell.number_format = excel_format(value, kind)


def _write_time(cell: Cell, value: dt.date) -> None:
    is_moment = isinstance(value, dt.datetime)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    cell.value = value
    cell.number_format = "yyyy-mm-dd hh:mm" if is_moment else "yyyy-mm-dd"
