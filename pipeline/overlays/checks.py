"""Judge the cells of overlay tables: the first that does not hold what it must is refused.

A table of ours is judged by its own bundled rows: where all of them are numbers, so must be yours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal

from pipeline.errors import BadInputError
from pipeline.overlays.contracts import EITHER, TOKEN_KINDS, Contract, Field
from pipeline.overlays.sheets import Sheet, is_error

COMMA_HINT = "Write a decimal point, no thousands sign, no unit."

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?")
_CLOCK = re.compile(r"([01]\d|2[0-3]):[0-5]\d|24:00")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAYS = re.compile("({0})(-({0}))?".format("|".join(_DAYS)))
_DAY_MINUTES, _WEEK_MINUTES = 1_440, 10_080
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def check_rows(table: str, contract: Contract, sheet: Sheet, currencies: Iterable[str]) -> None:
    """Refuse the first cell that does not hold what its column must, and rows that clash.

    Raises:
        BadInputError: With file, sheet, row and column, what was expected and what was found.
    """
    kinds = {**_KINDS, "currency": _currency_of(set(currencies))}
    for row, cells in sheet.rows:
        for field in contract.fields:
            _check_cell(sheet, row, field, cells.get(field.name, ""), kinds)
        _check_either(table, sheet, row, cells)
        if contract.is_dated:
            _check_order(sheet, row, cells)
    _check_keys(contract, sheet)


def inferred(columns: Sequence[str], rows: Iterable[Sequence[str | None]]) -> tuple[Field, ...]:
    """Return the fields of a table of ours, each of the narrowest kind its bundled cells fit."""
    values: dict[str, list[str]] = {name: [] for name in columns}
    for row in rows:
        for name, value in zip(columns, row, strict=True):
            if value is not None and value != "":
                values[name].append(value)
    return tuple(Field(name, _narrowest(values[name]), True) for name in columns)


def _narrowest(values: list[str]) -> str:
    for kind in ("boolean", "number", "instant"):
        is_good, _, _ = _KINDS[kind]
        if values and all(map(is_good, values)):
            return kind
    return "text"


def _check_cell(
    sheet: Sheet, row: int, field: Field, value: str, kinds: dict[str, "_Kind"]
) -> None:
    is_good, expected, how = kinds[field.kind]
    if is_error(value):
        raise BadInputError(sheet.fault(row, field.name, expected, value, "Mend the formula."))
    if value == "" and field.may_be_empty:
        return
    if not is_good(value):
        raise BadInputError(sheet.fault(row, field.name, expected, value, how))


def _check_either(table: str, sheet: Sheet, row: int, cells: dict[str, str]) -> None:
    if table not in EITHER:
        return
    first, second = EITHER[table]
    if bool(cells.get(first)) == bool(cells.get(second)):
        found = "both" if cells.get(first) else "neither"
        raise BadInputError(
            sheet.fault(row, f"{first} or {second}", "one of the two filled", found)
        )


def _check_order(sheet: Sheet, row: int, cells: dict[str, str]) -> None:
    first, last = _span(cells)
    if first >= last:
        raise BadInputError(
            sheet.fault(
                row,
                "valid_to",
                "a day after valid_from",
                cells["valid_to"],
                "A row holds from valid_from until before valid_to.",
            )
        )


def _check_keys(contract: Contract, sheet: Sheet) -> None:
    met: dict[tuple[str, ...], list[tuple[int, dict[str, str]]]] = {}
    for row, cells in sheet.rows:
        key = tuple(cells.get(name, "").lower() for name in contract.keys)
        for before, others in met.setdefault(key, []):
            if not contract.is_dated or _overlap(cells, others):
                what = " for overlapping days" if contract.is_dated else ""
                what += " and hours" if cells.get("utc_time_from") else ""
                named = ", ".join(cells.get(name, "") for name in contract.keys if cells.get(name))
                raise BadInputError(
                    f"{sheet.where}, row {row}: {named} stands there twice{what}; the first is row "
                    f"{before}. A row holds until before its valid_to."
                    if contract.is_dated
                    else f"{sheet.where}, row {row}: {named} stands there twice; the first is row "
                    f"{before}."
                )
        met[key].append((row, cells))


def _overlap(one: dict[str, str], other: dict[str, str]) -> bool:
    (first, last), (other_first, other_last) = _span(one), _span(other)
    is_together = first < other_last and other_first < last
    return is_together and any(
        start < other_end and other_start < end
        for start, end in _week_spans(one)
        for other_start, other_end in _week_spans(other)
    )


def _week_spans(cells: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Yield the minutes of the week in which a row holds; hours over midnight are their day's."""
    days = cells.get("days", "").lower()
    first, last = (_DAYS.index(days[:3]), _DAYS.index(days[-3:])) if days else (0, 6)
    start, end = (
        _minute(cells.get("utc_time_from", ""), 0),
        _minute(cells.get("utc_time_to", ""), _DAY_MINUTES),
    )
    length = end - start if end > start else end - start + _DAY_MINUTES
    for day in range(first, first + (last - first) % 7 + 1):
        begin = (day * _DAY_MINUTES + start) % _WEEK_MINUTES
        yield begin, min(begin + length, _WEEK_MINUTES)
        if begin + length > _WEEK_MINUTES:
            yield 0, begin + length - _WEEK_MINUTES


def _minute(text: str, unsaid: int) -> int:
    return int(text[:2]) * 60 + int(text[3:]) if text else unsaid


def _span(cells: dict[str, str]) -> tuple[datetime, datetime]:
    first, last = cells.get("valid_from", ""), cells.get("valid_to", "")
    return _instant(first) if first else datetime.min, _instant(last) if last else datetime.max


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=None)


def _is_instant(text: str) -> bool:
    try:
        if len(text) == len("2026-10-01"):
            date.fromisoformat(text)
            return True
        return datetime.fromisoformat(text.removesuffix("Z")).tzinfo is None
    except ValueError:
        return False


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _between(least: str, most: str = "1e15") -> Callable[[str], bool]:
    return lambda text: _is_number(text) and Decimal(least) <= Decimal(text) <= Decimal(most)


def _is_month(text: str) -> bool:
    """A spreadsheet turns 2026-10 into the first day of that month."""
    return bool(_MONTH.fullmatch(text.removesuffix("-01") if len(text) == 10 else text))


_Kind = tuple[Callable[[str], bool], str, str]
_KINDS: dict[str, _Kind] = {
    "text": (lambda text: text != "", "a text", ""),
    "month": (_is_month, "a month such as 2026-10", ""),
    "instant": (_is_instant, "a day such as 2026-10-01, or an instant in UTC", ""),
    "number": (_between("0"), "a number of 0 or more", COMMA_HINT),
    "money": (_between("-1e15"), "a number", COMMA_HINT),
    "rate": (_between("0.0000000001", "1e6"), "a number above 0", COMMA_HINT),
    "frac": (_between("0", "1"), "a share from 0 to 1, such as 0.08 for 8 %", COMMA_HINT),
    "count": (
        lambda text: text.isdigit() and int(text) >= 1,
        "a whole number of 1 or more",
        "",
    ),
    "whole": (lambda text: text.isdigit(), "a whole number of 0 or more", ""),
    "clock": (
        lambda text: bool(_CLOCK.fullmatch(text)),
        "a time of the day in UTC such as 16:30, up to 24:00",
        "",
    ),
    "weekdays": (
        lambda text: bool(_WEEKDAYS.fullmatch(text.lower())),
        "a weekday in UTC such as sat, or a span of them such as mon-fri",
        "Write a row for each span.",
    ),
    "one_token_kind": (
        lambda text: text in TOKEN_KINDS,
        f"one of {', '.join(TOKEN_KINDS)}",
        "",
    ),
    "boolean": (lambda text: text.lower() in ("true", "false"), "true or false", ""),
    "token_kind": (
        lambda text: text in (*TOKEN_KINDS, "*"),
        f"one of {', '.join(TOKEN_KINDS)}, or * for all",
        "",
    ),
}


def _currency_of(known: set[str]) -> _Kind:
    return (
        lambda text: text.upper() in known and text.upper() != "USD",
        "the three letters of a currency (ISO 4217) other than USD",
        "",
    )
