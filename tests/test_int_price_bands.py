"""Prices become bands of time and prompt length that neither overlap nor leave a gap."""

from datetime import datetime
from decimal import Decimal

from conftest import Rows, made_from

START = datetime(1900, 1, 1)
END = datetime(9999, 1, 1)
NEW_YEAR = datetime(2026, 1, 1)
MOST_TOKENS = 1_000_000_000_000
KINDS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")

Price = tuple[str, str, int, datetime, datetime, str]  # tier, kind, from tokens, from, to, price


def bands(*prices: Price) -> Rows:
    values = ", ".join(
        f"('p', 'm', '{kind}', '{tier}', {first}::bigint, timestamp '{start}', timestamp '{end}', "
        f"{usd}::decimal(18, 9))"
        for tier, kind, first, start, end, usd in prices
    )
    rows = made_from(
        "int_price_bands",
        int_models="select 'p' as provider, 'm' as price_model union all select 'q', null",
        stg_prices=f"from (values {values}) as prices(provider, price_model, token_kind, "
        "service_tier, input_tokens_from, valid_from, valid_to, usd_per_mtok)",
    )
    return sorted(rows, key=lambda row: int(row["price_band_id"]))


def usd(row: dict[str, object]) -> list[object]:
    return [row[f"{kind}_usd_per_mtok"] for kind in KINDS]


def test_a_price_change_makes_two_bands_that_meet_at_its_instant() -> None:
    rows = bands(
        ("standard", "uncached_input", 0, START, NEW_YEAR, "10"),
        ("standard", "uncached_input", 0, NEW_YEAR, END, "2"),
        ("standard", "output", 0, START, END, "40"),
    )

    assert [(row["valid_from"], row["valid_to"]) for row in rows] == [
        (START, NEW_YEAR),
        (NEW_YEAR, END),
    ]
    assert [row["uncached_input_usd_per_mtok"] for row in rows] == [10, 2]


def test_a_length_tier_makes_two_bands_that_meet_at_its_first_token() -> None:
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "3"),
        ("standard", "uncached_input", 200_001, START, END, "6"),
        ("standard", "output", 0, START, END, "15"),
    )

    assert [(row["input_tokens_from"], row["input_tokens_to"]) for row in rows] == [
        (0, 200_001),
        (200_001, MOST_TOKENS),
    ]


def test_a_kind_without_a_long_prompt_price_keeps_its_own_in_the_long_band() -> None:
    _, long = bands(
        ("standard", "uncached_input", 0, START, END, "3"),
        ("standard", "uncached_input", 200_001, START, END, "6"),
        ("standard", "output", 0, START, END, "15"),
    )

    assert (long["uncached_input_usd_per_mtok"], long["output_usd_per_mtok"]) == (6, 15)


def test_a_long_prompt_price_that_ends_leaves_the_ordinary_one() -> None:
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "5"),
        ("standard", "uncached_input", 200_001, START, NEW_YEAR, "10"),
        ("standard", "output", 0, START, END, "25"),
    )

    assert [
        (row["valid_from"], row["input_tokens_from"], row["uncached_input_usd_per_mtok"])
        for row in rows
    ] == [(START, 0, 5), (START, 200_001, 10), (NEW_YEAR, 0, 5), (NEW_YEAR, 200_001, 5)]


def test_without_cache_prices_cached_tokens_cost_what_input_does() -> None:
    [row] = bands(
        ("standard", "uncached_input", 0, START, END, "10"),
        ("standard", "output", 0, START, END, "30"),
    )

    assert usd(row) == [10, 10, 10, 10, 30]


def test_without_its_own_price_a_long_cache_write_costs_what_a_short_one_does() -> None:
    [row] = bands(
        ("standard", "uncached_input", 0, START, END, "10"),
        ("standard", "cache_write_5m", 0, START, END, "12.5"),
        ("standard", "output", 0, START, END, "30"),
    )

    assert usd(row) == [10, 10, Decimal("12.5"), Decimal("12.5"), 30]


def test_a_service_tier_has_bands_of_its_own() -> None:
    rows = bands(
        ("batch", "uncached_input", 0, NEW_YEAR, END, "5"),
        ("batch", "output", 0, NEW_YEAR, END, "15"),
        ("standard", "uncached_input", 0, START, END, "10"),
        ("standard", "output", 0, START, END, "30"),
    )

    assert [(row["service_tier"], row["valid_from"], row["valid_to"]) for row in rows] == [
        ("batch", NEW_YEAR, END),
        ("standard", START, END),
    ]


def test_without_an_output_price_there_is_no_band() -> None:
    assert bands(("standard", "uncached_input", 0, START, END, "10")) == []
