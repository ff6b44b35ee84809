"""Numbers that write down what is done with them, so that a law explains itself.

A law of `pipeline/laws` called with these returns its value together with two texts: the formula
in names, and the same with the numbers put in. No formula is typed a second time. A plain 1 in a
product and a plain 0 in a sum are left out, as on paper.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Union

from pipeline.laws.work import Number

INPUT_DIGITS, RESULT_DIGITS = 12, 9  # significant figures of what goes in and of what comes out

_ATOM, _POWER, _PRODUCT, _SUM = 3, 2, 1, 0  # how tightly a text holds together
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-7, 1e15  # outside, a float is written with an exponent

Exact = int | Fraction | float | Decimal
Term = Union["Written", int]


@dataclass(frozen=True)
class Written:
    """A value, the formula it comes from, and the formula with its numbers put in."""

    value: Number  # int, Fraction, float or Decimal
    formula: str
    numbers: str
    hold: int = _ATOM
    doubled: "Written | None" = None  # x, where this is x + |x|

    @property
    def is_atom(self) -> bool:
        """Return whether nothing is computed."""
        return self.hold == _ATOM and self.formula[-1:] not in (")", "|")

    def __add__(self, other: Term) -> "Written":
        """Return the sum; x + |x| is remembered as twice the positive part of x."""
        if _is_plain(other, 0):
            return self
        right = _term(other)
        if right.formula == f"|{self.formula}|":
            total = _join(self, right, "+", _SUM, self.value + right.value)
            return Written(total.value, total.formula, total.numbers, total.hold, doubled=self)
        return _join(self, right, "+", _SUM, self.value + right.value)

    def __radd__(self, other: int) -> "Written":
        """Return the sum."""
        return self if _is_plain(other, 0) else _term(other) + self

    def __sub__(self, other: Term) -> "Written":
        """Return the difference."""
        if _is_plain(other, 0):
            return self
        right = _term(other)
        return _join(self, right, "−", _SUM, self.value - right.value)

    def __rsub__(self, other: int) -> "Written":
        """Return the difference."""
        return _term(other) - self

    def __mul__(self, other: Term) -> Number:
        """Return the product; once is not written, and nothing is a plain 0."""
        if _is_plain(other, 1):
            return self
        if _is_plain(other, 0):
            return 0
        right = _term(other)
        return _join(self, right, "·", _PRODUCT, _times(self.value, right.value))

    def __rmul__(self, other: int) -> Number:
        """Return the product."""
        if _is_plain(other, 1):
            return self
        return 0 if _is_plain(other, 0) else _term(other) * self

    def __truediv__(self, other: Term) -> "Written":
        """Return the quotient; half of x + |x| is the larger of x and 0."""
        if _is_plain(other, 1):
            return self
        if self.doubled is not None and _is_plain(other, 2):
            return most(self.doubled, 0)
        right = _term(other)
        return _join(self, right, "/", _PRODUCT, _over(self.value, right.value))

    def __rtruediv__(self, other: int) -> "Written":
        """Return the quotient."""
        return _term(other) / self

    def __floordiv__(self, other: Term) -> "Written":
        """Return the quotient without its fraction."""
        quotient = self / other
        return _called("floor", (quotient,), Fraction(quotient.value // 1))

    def __pow__(self, other: Term) -> "Written":
        """Return the power."""
        right = _term(other)
        return _join(self, right, "^", _POWER, self.value**right.value)

    def __abs__(self) -> "Written":
        """Return the size."""
        return Written(abs(self.value), f"|{self.formula}|", f"|{self.numbers}|")


def number(name: str, value: Exact) -> Written:
    """Return a number under a name; whole ones are exact."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_PLAIN:
        value = int(value)
    exact = Fraction(value) if isinstance(value, int) else value
    return Written(exact, name, shown(value))


def unless(plain: int, name: str, value: Exact) -> Term:
    """Return a number under a name, or the plain 0 or 1 that drops out of a formula."""
    return plain if value == plain else number(name, value)


def least(*terms: Term) -> Written:
    """Return the smallest of some terms."""
    return _called("min", tuple(map(_term, terms)), min(_term(each).value for each in terms))


def most(*terms: Term) -> Written:
    """Return the largest of some terms."""
    return _called("max", tuple(map(_term, terms)), max(_term(each).value for each in terms))


def rounded(term: Written) -> Written:
    """Return a term to the next whole number."""
    return _called("round", (term,), Fraction(round(term.value)))


def as_number(term: Term) -> Number:
    """Return the value of a term as a plain number: whole ones as int, other fractions as float."""
    value = _term(term).value
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def shown(value: Exact, digits: int = INPUT_DIGITS) -> str:
    """Return a number as it stands in an arithmetic line.

    Whole numbers and money stand in full; other numbers have the stated significant figures.
    """
    if isinstance(value, Fraction):
        value = int(value) if value.denominator == 1 else float(value)
    if isinstance(value, int):
        return _signed(f"{value:,}")
    if isinstance(value, Decimal):
        text = f"{value:,f}"
        return _signed(text.rstrip("0").rstrip(".") if "." in text else text)
    if value == 0:
        return "0"
    if not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return _signed(f"{value:.{digits}g}")
    exact = Decimal(f"{value:.{digits}g}")
    text = f"{exact:,f}"
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def _signed(text: str) -> str:
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _is_plain(term: object, value: int) -> bool:
    return isinstance(term, int) and term == value


def _term(term: Term) -> Written:
    return term if isinstance(term, Written) else Written(Fraction(term), shown(term), shown(term))


def _called(name: str, terms: tuple[Written, ...], value: Number) -> Written:
    formulas, numbers = (", ".join(each) for each in zip(*map(_texts, terms), strict=True))
    return Written(value, f"{name}({formulas})", f"{name}({numbers})")


def _texts(term: Written) -> tuple[str, str]:
    return term.formula, term.numbers


def _join(left: Written, right: Written, sign: str, hold: int, value: Number) -> Written:
    """Return two terms under a sign, in brackets where they would fall apart."""
    is_strict = sign in ("−", "/", "^")  # what follows these binds as one
    space = " " if hold == _SUM else ""
    texts = []
    for pick in (lambda term: term.formula, lambda term: term.numbers):
        first = _bracketed(left, pick, left.hold < hold or (sign == "^" and left.hold <= hold))
        second = _bracketed(right, pick, right.hold < hold or (is_strict and right.hold <= hold))
        texts.append(f"{first}{space}{sign}{space}{second}")
    return Written(value, texts[0], texts[1], hold)


def _bracketed(term: Written, pick: Callable[[Written], str], is_needed: bool) -> str:
    text = pick(term)
    return f"({text})" if is_needed or text.startswith("−") else text


def _times(left: Number, right: Number) -> Number:
    return _mixed(left, right, lambda first, second: first * second)


def _over(left: Number, right: Number) -> Number:
    return _mixed(left, right, lambda first, second: first / second)


def _mixed(left: Number, right: Number, what: Callable[[Any, Any], Any]) -> Number:
    """Apply to two values, whole numbers beside money made money, which stays exact."""
    if isinstance(left, Decimal) and isinstance(right, Fraction):
        right = Decimal(int(right))
    elif isinstance(right, Decimal) and isinstance(left, Fraction):
        left = Decimal(int(left))
    return what(left, right)
