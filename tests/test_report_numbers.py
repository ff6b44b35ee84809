"""One rule per kind decides how a value is shown, in the page and in the workbook alike."""

import datetime as dt
from decimal import Decimal

import pytest

from pipeline.commands.parts import inert
from pipeline.report.numbers import LONGEST_TEXT, clean_text, excel_format, show, show_range
from pipeline.report.section import Kind, Value


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (Decimal("1234.005"), "usd", "1,234.01"),
        (Decimal("-1234.005"), "usd", "−1,234.01"),
        (Decimal("0.001"), "usd", "<0.01"),
        (Decimal("0.000000"), "usd", "0.00"),
        (0.00123456, "usd_small", "0.001235"),
        (0.45, "usd_small", "0.4500"),
        (12_345.6, "kwh", "12,350"),
        (9_999.6, "kwh", "10,000"),
        (999.96, "j", "1,000"),
        (1e-9, "number", "1.000e-9"),
        (1e20, "number", "1.000e20"),
        (64.0, "number", "64"),
        (1.43, "ratio", "1.43"),
        (1_234_567, "tokens", "1,234,567"),
        (Decimal("12"), "count", "12"),
        (0.1234, "frac", "12.3%"),
        (-15.414, "frac", "−1,541%"),  # four figures, as all estimates
        (9.9994, "frac", "999.9%"),
        (0, "frac", "0%"),
        (0.0001, "frac", "<0.1%"),
        (0.99999, "frac", ">99.9%"),
        (1.0, "frac", "100%"),
        (None, "usd", "–"),
        (float("nan"), "j", "not a number"),
        (Decimal("Infinity"), "usd", "not a number"),
        (True, "text", "yes"),
        ("fail", "status", "✗ fail"),
        ("007", "id", "007"),
        (dt.date(2026, 6, 30), "date", "2026-06-30"),
    ],
)
def test_a_value_is_shown_by_the_rule_of_its_kind(value: Value, kind: Kind, text: str) -> None:
    assert show(value, kind) == text


def test_a_time_with_a_zone_is_shown_in_utc() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))

    assert show(dt.datetime(2026, 6, 30, 1, 30, tzinfo=zone), "datetime") == "2026-06-29 23:30 UTC"


def test_an_unknown_value_is_shown_by_the_word_of_its_column() -> None:
    assert show(None, "usd", "unpriced") == "unpriced"


def test_a_range_needs_both_ends() -> None:
    assert show_range(1.0, 4.0, "kwh") == "1.000 – 4.000"
    assert show_range(1.0, None, "kwh") == ""


@pytest.mark.parametrize(
    ("value", "kind", "number_format"),
    [
        (Decimal("1234.5"), "usd", "#,##0.00"),
        (Decimal("0.001"), "usd", '"<0.01"'),
        (0.00123456, "usd_small", "#,##0.000000"),
        (9_999.4, "kwh", "#,##0"),
        (12_345.6, "kwh", '0.00,"k"'),
        (12_345.6, "tokens", "#,##0"),
        (0.1234, "frac", "0.0%"),
        (-15.414, "frac", "#,##0%"),
        (1.0, "frac", "0%"),
        (1e-9, "number", "0.000E+00"),
        (-2.5, "number", "#,##0.0"),
    ],
)
def test_a_spreadsheet_shows_the_same_digits(
    value: float | Decimal, kind: Kind, number_format: str
) -> None:
    assert excel_format(value, kind) == number_format


def test_text_loses_control_characters_and_keeps_the_rest() -> None:
    assert clean_text("a\x00b\x07c\td\r\ne\rf\ud800\uffff") == "abc\td\ne\nf"


def test_a_name_cannot_turn_the_text_behind_it_round() -> None:
    turned = "\u202e1,000\u202c \u2067team\u2069 \u05d0"  # a letter read from the right may stay

    assert clean_text(turned) == "1,000 team \u05d0"
    assert inert(turned) == "\ufffd1,000\ufffd \ufffdteam\ufffd \u05d0"


def test_text_longer_than_a_cell_says_at_its_end_how_long_it_was() -> None:
    text = clean_text("x" * (LONGEST_TEXT + 1))

    assert len(text) == 32_767
    assert text.endswith("x… [cut: 32,768 letters]")
