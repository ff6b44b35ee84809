"""How a value is shown: one rule per kind, for the page and for the workbook alike.

Money that must tie is shown to the cent, estimates with four significant figures, counts in full.
A value that would round to nothing, or a share that would round to everything, says so instead.
"""

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal

from pipeline.report.section import Kind, Value

UNKNOWN = "–"
NOT_A_NUMBER = "not a number"
LONGEST_TEXT = 32_767  # what one cell of a workbook holds
MINUS = "−"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n")  # what a spreadsheet takes for a formula


@dataclass(frozen=True)
class Marks:
    """The marks of a language's numbers: before decimals, and between thousands."""

    decimal: str = "."
    group: str = ","


ENGLISH_MARKS = Marks()

_SIGNIFICANT_FIGURES = 4
_WHOLE_PERCENT = 1_000  # from which a tenth of a percent says nothing
_CONTEXT = Context(prec=60, rounding=ROUND_HALF_UP)  # half up is what a spreadsheet shows
_STATUS_WORDS = {"pass": "✓ pass", "warn": "! warn", "fail": "✗ fail"}
_COUNT_KINDS = ("count", "tokens")
_TEXT_KINDS = ("text", "id", "grade", "status")
_TRIMMED_KINDS = ("number", "ratio")  # stated facts: 64 stays 64, not 64.00
_SCALES = ("", "k", "M", "G", "T")  # what stands for a thousand, and for a thousand of each
_SCALED_FROM = 10_000  # below, four figures stand without a letter
# Control characters, and those that turn the direction of all text behind them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\u202a-\u202e\u2066-\u2069]"
)


def show(value: Value, kind: Kind, unknown: str = UNKNOWN, marks: Marks = ENGLISH_MARKS) -> str:
    """Return the text a reader sees for a value of a kind."""
    if value is None:
        return unknown
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _STATUS_WORDS.get(value, value) if kind == "status" else clean_text(value)
    if isinstance(value, dt.date):
        return f"{value:%Y-%m}" if kind == "month" else _show_time(value)
    return with_marks(show_number(value, kind), marks) if is_finite(value) else NOT_A_NUMBER


def with_marks(text: str, marks: Marks) -> str:
    """Return a number that is written with English marks with those of another language."""
    if marks == ENGLISH_MARKS:
        return text
    return text.translate({ord("."): marks.decimal, ord(","): marks.group})


def show_range(low: Value, high: Value, kind: Kind, marks: Marks = ENGLISH_MARKS) -> str:
    """Return a low–high range, or nothing where either end is unknown."""
    if low is None or high is None:
        return ""
    return f"{show(low, kind, marks=marks)} – {show(high, kind, marks=marks)}"


def show_number(value: float | Decimal, kind: Kind) -> str:
    """Return a finite number as text, with a true minus sign and grouped thousands."""
    exact = Decimal(str(value)) if isinstance(value, float) else Decimal(value)
    if kind == "frac":
        return _show_frac(exact)
    if kind == "usd":
        return _show_usd(exact)
    if kind in _COUNT_KINDS and exact == exact.to_integral_value():
        return _signed(f"{int(exact):,}")
    return _show_significant(exact, is_trimmed=kind in _TRIMMED_KINDS)


def show_in_sheet(
    value: Value, kind: Kind, unknown: str = UNKNOWN, marks: Marks = ENGLISH_MARKS
) -> str:
    """Return the text that a cell of the workbook shows: `show`, but 12.35k for 12,350."""
    scaled = _scaled(value, kind)
    if scaled is None:
        return show(value, kind, unknown, marks)
    number, thousands = scaled
    return with_marks(_signed(f"{number:f}{_SCALES[thousands]}"), marks)


def excel_format(value: float | Decimal, kind: Kind) -> str:
    """Return the number format under which a spreadsheet shows what `show_in_sheet` returns.

    A spreadsheet cannot round whole digits away but can leave thousands out, each for a comma.
    """
    scaled = _scaled(value, kind)
    if scaled:
        number, thousands = scaled
        decimals = len(f"{number:f}".partition(".")[2])
        return f'0.{"0" * decimals}{"," * thousands}"{_SCALES[thousands]}"'
    text = show_number(value, kind)
    if text[0] in "<>":
        return f'"{text}"'
    if "e" in text:
        return "0.000E+00"
    decimals = len(text.rstrip("%").partition(".")[2])
    digits = "." + "0" * decimals if decimals else ""
    if kind == "frac":
        return "#,##0%" if "," in text else f"0{digits}%"
    return f"#,##0{digits}"


def is_estimate(value: float | Decimal, kind: Kind) -> bool:
    """Return whether a number is an estimate: no count, no share, no money to the cent.

    Whole measured numbers are counts or stated facts, such as the 86,400 seconds of a day.
    """
    if kind in (*_COUNT_KINDS, "usd", "frac") or not is_number_kind(kind):
        return False
    return kind not in _TRIMMED_KINDS or value % 1 != 0


def clean_text(text: str) -> str:
    """Return text without control characters, one kind of line end, at most a cell's length.

    Text that is cut says so at its end, and how long it was.
    """
    plain = _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(plain) <= LONGEST_TEXT:
        return plain
    end = f"… [cut: {len(plain):,} letters]"
    return plain[: LONGEST_TEXT - len(end)] + end


def is_finite(value: float | Decimal) -> bool:
    """Return whether a number is neither NaN nor infinite."""
    return value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)


def is_number_kind(kind: Kind) -> bool:
    """Return whether values of a kind are numbers, which stand on the right."""
    return kind not in (*_TEXT_KINDS, "datetime", "date", "month")


def _show_time(value: dt.date) -> str:
    if not isinstance(value, dt.datetime):
        return value.isoformat()
    if value.tzinfo is None:
        return value.strftime("%Y-%m-%d %H:%M")
    return value.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


def _show_frac(exact: Decimal) -> str:
    percent = exact * 100
    step = Decimal("0.1") if abs(percent) < _WHOLE_PERCENT else Decimal(1)
    shown = percent.quantize(step, context=_CONTEXT)
    if percent in (0, 100):
        return f"{percent:.0f}%"
    if shown == 0:
        return "<0.1%" if exact > 0 else f">{MINUS}0.1%"
    if shown == 100:
        return ">99.9%" if percent < 100 else "100.0%"
    return _signed(f"{shown:,f}%")


def _show_usd(exact: Decimal) -> str:
    shown = exact.quantize(Decimal("0.01"), context=_CONTEXT)
    if shown == 0 and exact != 0:
        return "<0.01" if exact > 0 else f">{MINUS}0.01"
    return _signed(f"{abs(shown) if shown == 0 else shown:,f}")


def _scaled(value: Value, kind: Kind) -> tuple[Decimal, int] | None:
    """Return the four figures of a large estimate and its powers of a thousand, or nothing."""
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return None
    if not is_finite(value) or not is_estimate(value, kind):
        return None
    rounded = _rounded(Decimal(str(value)))
    thousands = rounded.adjusted() // 3
    if abs(rounded) < _SCALED_FROM or thousands >= len(_SCALES):
        return None
    step = Decimal(1).scaleb(rounded.adjusted() % 3 - _SIGNIFICANT_FIGURES + 1)
    return rounded.scaleb(-3 * thousands).quantize(step), thousands


def _rounded(exact: Decimal) -> Decimal:
    return Context(prec=_SIGNIFICANT_FIGURES, rounding=ROUND_HALF_UP).plus(exact)


def _show_significant(exact: Decimal, *, is_trimmed: bool) -> str:
    if exact == 0:
        return "0"
    size = exact.adjusted()
    if not -6 <= size < 15:
        return _signed(f"{exact:.3e}").replace("e+", "e")
    rounded = _rounded(exact)
    step = Decimal(1).scaleb(rounded.adjusted() - _SIGNIFICANT_FIGURES + 1)
    text = f"{rounded.quantize(step, context=_CONTEXT):,f}"
    if is_trimmed and "." in text:
        text = text.rstrip("0").rstrip(".")
    return _signed(text)


def _signed(text: str) -> str:
    return text.replace("-", MINUS, 1) if text.startswith("-") else text
