"""Write one value into one cell, so that text from a log can never become a formula.

A spreadsheet library guesses a type from a text's first letter; here the type is said. Numbers stay
numbers, unknown and not-a-number become words, and times lose their zone only after becoming UTC.
"""

import datetime as dt
from decimal import Decimal

from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.worksheet.datavalidation import DataValidation

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

INK = "1D2733"
FAINT = "56626E"
FAILED = "A4262C"
INPUT_INK, INPUT_FILL = "0000FF", "FFF8E1"
LINKED_INK = "1B6B3A"  # computed from another sheet
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


def write_formula(cell: Cell, formula: str, value: Value, kind: Kind) -> None:
    """Make a cell that already shows a value compute it; its format must fit other values too."""
    number_format = live_format(value, kind)
    cell.value = f"={formula}"
    cell.number_format = number_format
    is_linked = any(mark in formula for mark in ("d_", "t_", "!"))
    cell.font = font(color=LINKED_INK if is_linked else INK, bold=bool(cell.font.bold))


def live_format(value: Value, kind: Kind) -> str:
    """Return a number format that also fits what the cell may show when an input moves."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return "General"
    fixed = excel_format(value, kind)
    if not fixed.startswith('"'):
        return fixed
    return {
        "usd": '[=0]0.00;[<0.005]"<0.01";#,##0.00',
        "frac": '[=0]0%;[<0.0005]"<0.1%";0.0%',
    }.get(kind, "General")


def mark_input(cell: Cell, low: Cell | None = None, high: Cell | None = None) -> None:
    """Show that a reader may change a cell, and warn where a value leaves its range."""
    cell.font = font(color=INPUT_INK)
    cell.fill = PatternFill("solid", fgColor=INPUT_FILL)
    cell.protection = Protection(locked=False)
    if low is None or high is None:
        return
    rule = DataValidation(
        type="decimal",
        operator="between",
        formula1=f"${low.column_letter}${low.row}",
        formula2=f"${high.column_letter}${high.row}",
        errorStyle="warning",
        errorTitle="Outside its range",
        error="The value lies outside the range low to high beside it. Keep it all the same?",
        showErrorMessage=True,
    )
    rule.add(cell.coordinate)
    cell.parent.add_data_validation(rule)


def font(*, size: int = 11, bold: bool = False, color: str = INK) -> Font:
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
