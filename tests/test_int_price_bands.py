"""Prices become bands of time and prompt length that neither overlap nor leave a gap."""

from datetime import datetime
from decimal import Decimal

from conftest import Rows, made_from

from pipeline import warehouse

START = datetime(1900, 1, 1)
END = datetime(9999, 1, 1)
NEW_YEAR = datetime(2026, 1, 1)
MOST_TOKENS = 1_000_000_000_000
KINDS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")

Price = tuple[str, str, int, datetime, datetime, str]  # tier, kind, from tokens, from, to, price
NO_CONTRACTS = (
    "select '' as provider, '' as model, '' as token_kind, '' as service_tier, '' as region, "
    "null::timestamp as valid_from, null::timestamp as valid_to, null::decimal(18, 9) as "
    "usd_per_mtok, null::decimal(9, 6) as discount_frac where false"
)
NO_MULTIPLIERS = (
    "select '' as provider, '' as model, '' as region, null::timestamp as valid_from, "
    "null::timestamp as valid_to, null::decimal(9, 6) as multiplier_ratio where false"
)
BOTH_KINDS: tuple[Price, ...] = (
    ("standard", "uncached_input", 0, START, END, "3"),
    ("standard", "output", 0, START, END, "15"),
)


def bands(
    *prices: Price,
    hours: dict[str, tuple[int, int]] | None = None,
    days: dict[str, tuple[int, int]] | None = None,
    own: tuple[Price, ...] = (),
    contracts: str = NO_CONTRACTS,
    multipliers: str = NO_MULTIPLIERS,
) -> Rows:
    """Build the bands of model m of provider p.

    `hours` and `days` give minutes of a day and weekdays by price.
    """
    values = ", ".join(
        f"('p', 'm', '{kind}', '{tier}', {first}::bigint, timestamp '{start}', timestamp '{end}', "
        f"{usd}::decimal(18, 9), {(hours or {}).get(usd, (0, 1440))[0]}, "
        f"{(hours or {}).get(usd, (0, 1440))[1]}, {(days or {}).get(usd, (1, 8))[0]}, "
        f"{(days or {}).get(usd, (1, 8))[1]}, {is_own})"
        for is_own, rows in ((False, prices), (True, own))
        for tier, kind, first, start, end, usd in rows
    )
    rows = made_from(
        "int_price_bands",
        int_models="select 'p' as provider, 'maker/M' as model_id, 'm' as price_model "
        "union all select 'q', 'maker/N', null",
        int_model_spellings="select 'p' as provider, 'm' as spelling, 'maker/M' as model_id "
        "union all select 'q', 'maker/n', 'maker/N'",
        stg_contract_rates=contracts,
        int_contract_kinds=warehouse.models()["int_contract_kinds"].sql,
        stg_region_multipliers=multipliers,
        stg_prices=f"from (values {values}) as prices(provider, price_model, token_kind, "
        "service_tier, input_tokens_from, valid_from, valid_to, usd_per_mtok, utc_minute_from, "
        "utc_minute_to, utc_weekday_from, utc_weekday_to, is_own)",
    )
    return sorted(rows, key=lambda row: int(row["price_band_id"]))


def contract(
    *,
    model: str = "*",
    kind: str = "*",
    tier: str = "*",
    region: str = "*",
    usd: str = "null",
    discount: str = "null",
    start: datetime = START,
    end: datetime = END,
    provider: str = "p",
) -> str:
    return (
        f"select '{provider}' as provider, '{model}' as model, '{kind}' as token_kind, "
        f"'{tier}' as service_tier, '{region}' as region, timestamp '{start}' as valid_from, "
        f"timestamp '{end}' as valid_to, {usd}::decimal(18, 9) as usd_per_mtok, "
        f"{discount}::decimal(9, 6) as discount_frac"
    )


def contracted(row: dict[str, object]) -> list[object]:
    return [row[f"contracted_{kind}_usd_per_mtok"] for kind in KINDS]


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


# Hours of the day --------------------------------------------------------------------------------


def test_hours_of_the_day_make_bands_that_meet_at_their_minute() -> None:
    # 0.27 from 00:30 until before 16:30, 0.135 before and after
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "0.13"),
        ("standard", "uncached_input", 0, START, END, "0.27"),
        ("standard", "uncached_input", 0, START, END, "0.14"),
        ("standard", "output", 0, START, END, "1"),
        hours={"0.13": (0, 30), "0.27": (30, 990), "0.14": (990, 1440)},
    )

    assert [
        (row["utc_minute_from"], row["utc_minute_to"], row["uncached_input_usd_per_mtok"])
        for row in rows
    ] == [(0, 30, Decimal("0.13")), (30, 990, Decimal("0.27")), (990, 1440, Decimal("0.14"))]


def test_the_hours_with_the_dearest_output_price_are_marked_for_buckets() -> None:
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "0.1"),
        ("standard", "output", 0, START, END, "0.5"),
        ("standard", "output", 0, START, END, "1.1"),
        hours={"0.5": (0, 600), "1.1": (600, 1440)},
    )

    assert [(row["utc_minute_from"], row["is_dearest_of_day"]) for row in rows] == [
        (0, False),
        (600, True),
    ]


def test_own_prices_of_a_weekend_take_the_peak_hours_off() -> None:
    # peak from 01:00 to 04:00 at 2.0, else 1.0; the company tells that Saturday 29 and Sunday 30
    # August 2026 have no peak
    saturday, monday = datetime(2026, 8, 29), datetime(2026, 8, 31)
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "0.1"),
        ("standard", "output", 0, START, END, "1.0"),
        ("standard", "output", 0, START, END, "2.0"),
        ("standard", "output", 0, START, END, "1.1"),
        hours={"1.0": (0, 60), "2.0": (60, 240), "1.1": (240, 1440), "0.9": (0, 1440)},
        own=(("standard", "output", 0, saturday, monday, "0.9"),),
    )

    at_two = {
        row["valid_from"]: row["output_usd_per_mtok"]
        for row in rows
        if row["utc_minute_from"] == 60
    }
    assert at_two == {START: Decimal("2.0"), saturday: Decimal("0.9"), monday: Decimal("2.0")}


def test_weekdays_make_bands_of_their_own_and_the_dearest_is_of_its_day() -> None:
    # 2.0 from 01:00 to 04:00 on Monday to Friday, else 1.0
    rows = bands(
        ("standard", "uncached_input", 0, START, END, "0.1"),
        ("standard", "output", 0, START, END, "1.0"),
        ("standard", "output", 0, START, END, "2.0"),
        ("standard", "output", 0, START, END, "1.00"),
        ("standard", "output", 0, START, END, "1.000"),
        hours={"1.0": (0, 60), "2.0": (60, 240), "1.00": (240, 1440)},
        days={"1.0": (1, 6), "2.0": (1, 6), "1.00": (1, 6), "1.000": (6, 8)},
    )

    names = (
        *("utc_weekday_from", "utc_weekday_to", "utc_minute_from", "output_usd_per_mtok"),
        *("is_dearest_of_day", "is_dearest_of_week"),
    )
    assert [tuple(row[name] for name in names) for row in rows] == [
        (1, 6, 0, 1, False, False),
        (1, 6, 60, 2, True, True),
        (1, 6, 240, 1, False, False),
        (6, 8, 0, 1, True, False),
        (6, 8, 60, 1, False, False),
        (6, 8, 240, 1, False, False),
    ]


# Own prices --------------------------------------------------------------------------------------


def test_an_own_price_stands_in_place_of_the_lists_for_its_days() -> None:
    rows = bands(*BOTH_KINDS, own=(("standard", "output", 0, NEW_YEAR, END, "14"),))

    assert [(row["valid_from"], row["output_usd_per_mtok"]) for row in rows] == [
        (START, 15),
        (NEW_YEAR, 14),
    ]


def test_an_own_price_without_lengths_replaces_the_long_prompt_price_too() -> None:
    _, long = bands(
        *BOTH_KINDS,
        ("standard", "output", 200_001, START, END, "22.5"),
        own=(("standard", "output", 0, START, END, "14"),),
    )

    assert (long["input_tokens_from"], long["output_usd_per_mtok"]) == (200_001, 14)


# Regions and contracts ---------------------------------------------------------------------------


def test_a_region_multiplies_every_kind_and_leaves_the_other_regions() -> None:
    elsewhere, us = bands(
        *BOTH_KINDS,
        multipliers="select 'p' as provider, '*' as model, 'us' as region, "
        f"timestamp '{START}' as valid_from, timestamp '{END}' as valid_to, "
        "1.1::decimal(9, 6) as multiplier_ratio",
    )

    # 3 · 1.1 and 15 · 1.1; cached input costs what input does
    assert (elsewhere["region"], usd(elsewhere)) == ("", [3, 3, 3, 3, 15])
    third = Decimal("3.3")
    assert (us["region"], usd(us)) == ("us", [third, third, third, third, Decimal("16.5")])


def test_a_discount_comes_off_the_list_price_of_the_region() -> None:
    _, us = bands(
        *BOTH_KINDS,
        contracts=contract(discount="0.2"),
        multipliers="select 'p' as provider, '*' as model, 'us' as region, "
        f"timestamp '{START}' as valid_from, timestamp '{END}' as valid_to, "
        "1.1::decimal(9, 6) as multiplier_ratio",
    )

    # 3 · 1.1 · 0.8 = 2.64, 15 · 1.1 · 0.8 = 13.2; the list price stays
    assert (contracted(us)[0], contracted(us)[4]) == (Decimal("2.64"), Decimal("13.2"))
    assert usd(us)[4] == Decimal("16.5")


def test_a_contract_rate_stands_as_written_and_no_region_multiplies_it() -> None:
    _, us = bands(
        *BOTH_KINDS,
        contracts=contract(kind="output", usd="12"),
        multipliers="select 'p' as provider, '*' as model, 'us' as region, "
        f"timestamp '{START}' as valid_from, timestamp '{END}' as valid_to, "
        "1.1::decimal(9, 6) as multiplier_ratio",
    )

    assert (contracted(us)[0], contracted(us)[4]) == (Decimal("3.3"), 12)


def test_without_a_contract_the_contracted_price_is_the_list_price() -> None:
    [row] = bands(*BOTH_KINDS)

    assert (contracted(row), row["has_contract"]) == (usd(row), False)


def test_a_contract_holds_until_before_the_instant_of_its_end() -> None:
    rows = bands(*BOTH_KINDS, contracts=contract(discount="0.5", end=NEW_YEAR))

    assert [(row["valid_from"], contracted(row)[4]) for row in rows] == [
        (START, Decimal("7.5")),
        (NEW_YEAR, 15),
    ]


def test_the_contract_row_that_says_most_holds() -> None:
    rows = " union all ".join(
        (
            contract(discount="0.1"),
            contract(tier="standard", region="us", usd="9"),
            contract(kind="output", usd="8"),
            contract(model="m", usd="7"),
        )
    )
    elsewhere, us = bands(*BOTH_KINDS, contracts=rows)

    # model before kind before tier and region: 7 everywhere
    assert [contracted(row)[4] for row in (elsewhere, us)] == [7, 7]


def test_a_kind_says_more_than_tier_and_region_together() -> None:
    rows = f"{contract(tier='standard', region='us', usd='9')} union all " + contract(
        kind="output", usd="8"
    )
    elsewhere, us = bands(*BOTH_KINDS, contracts=rows)

    assert (contracted(elsewhere)[4], contracted(us)[4], contracted(us)[0]) == (8, 8, 9)


def test_a_contract_prices_a_model_that_no_list_has() -> None:
    rows = f"{contract(provider='q', model='maker/n', kind='output', usd='4')} union all " + (
        contract(provider="q", model="maker/n", kind="uncached_input", usd="2")
    )
    *_, row = bands(*BOTH_KINDS, contracts=rows)

    assert (row["model_id"], row["service_tier"]) == ("maker/N", "standard")
    assert (usd(row), contracted(row)) == ([None] * 5, [2, 2, 2, 2, 4])


def test_a_contract_makes_no_tier_that_the_list_does_not_have() -> None:
    rows = bands(*BOTH_KINDS, contracts=contract(discount="0.1"))

    assert {row["service_tier"] for row in rows} == {"standard"}
