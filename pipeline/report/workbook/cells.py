"""Write one value into one cell, so that text from a log can never become a formula.

A spreadsheet library guesses a type from a text's first letter; here the type is said. Numbers stay
numbers, unknown and not-a-number become words, and times lose their zone only after becoming UTC.
A formula is written over the value that it must give, whose format then fits other values too.
"""

import datetime as dt
from decimal import Decimal

from openpyxl.cell import Cell
from openpyxl.worksheet.datavalidation import DataValidation

from pipeline.report.language import ENGLISH, Language
from pipeline.report.numbers import (
    FORMULA_STARTS,
    NOT_A_NUMBER,
    UNKNOWN,
    clean_text,
    excel_format,
    is_estimate,
    is_finite,
    is_number_kind,
    show,
)
from pipeline.report.section import Kind, Value
from pipeline.report.workbook.looks import (
    FAILED,
    FAINT,
    INK,
    INPUT_FILL,
    INPUT_INK,
    LINKED_INK,
    Look,
    put_on,
)

_MOST_DIGITS = 2**53  # larger whole numbers lose digits in a spreadsheet


def write_value(
    cell: Cell, value: Value, kind: Kind, unknown: str = UNKNOWN, *, is_total: bool = False
) -> None:
    """Write a value of a kind, with its number format and its side of the column."""
    number_format = "General"
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        number_format = _write_number(cell, value, kind)
    elif isinstance(value, dt.date):
        number_format = _write_time(cell, value, kind)
    elif value is not None or unknown:
        _write_plain(cell, show(value, kind, unknown))
    put_on(cell, _look(cell, value, kind, number_format, is_total=is_total))


def write_text(cell: Cell, text: str, look: Look | None = None) -> None:
    """Write text as text, whatever it begins with."""
    _write_plain(cell, text)
    is_quoted = str(cell.value).startswith(FORMULA_STARTS)
    if look is not None or is_quoted:
        shown = look or Look()
        put_on(cell, Look(**{**vars(shown), "is_quoted": is_quoted}))


def write_formula(
    cell: Cell, formula: str, value: Value, kind: Kind, *, is_total: bool = False
) -> None:
    """Make a cell compute a value, from this sheet in black, from others in green."""
    is_linked = any(mark in formula for mark in ("d_", "t_", "!"))
    look = _look(cell, value, kind, live_format(value, kind), is_total=is_total)
    color = LINKED_INK if is_linked and look.color == INK else look.color
    cell.value = f"={formula}"
    put_on(cell, Look(**{**vars(look), "color": color, "is_quoted": False}))


def live_format(value: Value, kind: Kind) -> str:
    """Return a number format that also fits what the cell may show when an input moves."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return "General"
    fixed = excel_format(value, kind)
    if is_estimate(value, kind) and value >= 0:
        return _scaling(fixed)
    if not fixed.startswith('"'):
        return fixed
    return {
        "usd": '[=0]0.00;[<0.005]"<0.01";#,##0.00',
        "frac": '[=0]0%;[<0.0005]"<0.1%";0.0%',
    }.get(kind, "General")


def _scaling(fixed: str) -> str:
    """Return the format of an estimate that leaves thousands out once its value asks for it.

    A format has room for two conditions, so a letter that stands for more than a value now has
    or for less comes with fewer figures.
    """
    if fixed.endswith('"k"'):
        return f'[<9999.5]#,##0;[<999950]{fixed};0.000,,"M"'
    if fixed.endswith('"M"'):
        return f'[<9999.5]#,##0;[<999950]0.0,"k";{fixed}'
    if fixed.endswith('"'):
        return f"[<9999.5]#,##0;{fixed}"
    return f'[>=999950]0.000,,"M";[>=9999.5]0.0,"k";{fixed}'


def mark_input(
    cell: Cell,
    low: Cell | None = None,
    high: Cell | None = None,
    language: Language = ENGLISH,
) -> None:
    """Show that a reader may change a cell, and warn where a value leaves its range."""
    is_text = isinstance(cell.value, str)
    look = Look(
        number_format="General" if is_text else cell.number_format,
        color=INPUT_INK,
        fill=INPUT_FILL,
        is_unlocked=True,
        horizontal="left" if is_text else "right",
        vertical="top",
    )
    put_on(cell, look)
    if low is None or high is None:
        return
    rule = DataValidation(
        type="decimal",
        operator="between",
        formula1=f"${low.column_letter}${low.row}",
        formula2=f"${high.column_letter}${high.row}",
        errorStyle="warning",
        errorTitle=language.text("Outside its range"),
        error=language.text(
            "The value lies outside the range low to high beside it. Keep it all the same?"
        ),
        showErrorMessage=True,
    )
    rule.add(cell.coordinate)
    cell.parent.add_data_validation(rule)


def _look(cell: Cell, value: Value, kind: Kind, number_format: str, *, is_total: bool) -> Look:
    is_right = is_number_kind(kind)
    color = INK
    if value is None or (isinstance(value, (float, Decimal)) and not is_finite(value)):
        color = FAINT
    is_failed = kind == "status" and value == "fail"
    return Look(
        number_format=number_format,
        is_bold=is_failed or is_total,
        color=FAILED if is_failed else color,
        horizontal="right" if is_right else "left",
        vertical="top",
        is_wrapped=not is_right or value is None,
        indent=0 if is_right or cell.column == 1 else 1,  # off the number to its left
        is_quoted=isinstance(cell.value, str) and cell.value.startswith(FORMULA_STARTS),
        edge="total" if is_total else "",
    )


def _write_plain(cell: Cell, text: str) -> None:
    cell.value = clean_text(text)
    cell.data_type = "s"  # whatever the library guessed


def _write_number(cell: Cell, value: float | Decimal, kind: Kind) -> str:
    if not is_finite(value):
        _write_plain(cell, NOT_A_NUMBER)
    elif kind in ("id", "text") or (isinstance(value, int) and abs(value) > _MOST_DIGITS):
        _write_plain(cell, str(value))
    else:
        cell.value = value
        return excel_format(value, kind)
    return "General"


def _write_time(cell: Cell, value: dt.date, kind: Kind) -> str:
    is_moment = isinstance(value, dt.datetime)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    cell.value = value
    if kind == "month":
        return "yyyy-mm"
    return "yyyy-mm-dd hh:mm" if is_moment else "yyyy-mm-dd"
