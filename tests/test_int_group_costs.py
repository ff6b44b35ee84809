"""Usage costs its tokens at the list price of its instant, to the last digit, unless billed."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from conftest import Book, rows_of

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
O3 = {"provider": "openai", "model_name": "o3"}
TURBO = {"provider": "openai", "model_name": "gpt-4-turbo"}
BATCH = {**SONNET, "is_batch": True, "input_tokens": 1_000_000, "output_tokens": 0}

DEEPSEEK = {"provider": "deepseek", "model_name": "deepseek-chat", "input_tokens": 1_000_000}
OPUS = {"provider": "anthropic", "model_name": "claude-opus-4-8"}
CLOCKS = {
    "00:00:00": "0.135",
    "00:29:59.999999": "0.135",
    "00:30:00": "0.27",
    "16:29:59.999999": "0.27",
    "16:30:00": "0.135",
    "23:59:59.999999": "0.135",
}

# One row, or a few, for each case; the team names the case and keeps its costs apart.
ROWS = [
    {
        "team": "four buckets",
        **SONNET,
        "uncached_input_tokens": 1_234,
        "cache_read_tokens": 100_001,
        "cache_write_5m_tokens": 777,
        "cache_write_1h_tokens": 55,
        "output_tokens": 321,
    },
    {"team": "200,000 tokens", **SONNET, "input_tokens": 200_000, "output_tokens": 1},
    {"team": "200,001 tokens", **SONNET, "input_tokens": 200_001, "output_tokens": 1},
    {
        "team": "200,001 tokens, mostly cached",
        **SONNET,
        "uncached_input_tokens": 1,
        "cache_read_tokens": 200_000,
        "output_tokens": 1,
    },
    {
        "team": "a bucket of two",
        **SONNET,
        "input_tokens": 300_000,
        "output_tokens": 2,
        "request_count": 2,
    },
    {
        "team": "before the change",
        **O3,
        "occurred_at": "2025-06-09T23:59:59.999999Z",
        "input_tokens": 1_000,
        "output_tokens": 100,
    },
    {
        "team": "at the change",
        **O3,
        "occurred_at": "2025-06-10T00:00:00Z",
        "input_tokens": 1_000,
        "output_tokens": 100,
    },
    {"team": "batch too early", **BATCH, "occurred_at": "2026-10-13T23:59:59Z"},
    {"team": "batch in time", **BATCH, "occurred_at": "2026-10-14T00:00:00Z"},
    {
        "team": "no cache price",
        **TURBO,
        "uncached_input_tokens": 1,
        "cache_read_tokens": 999,
        "output_tokens": 0,
    },
    {
        "team": "billed",
        **SONNET,
        "input_tokens": 1_000,
        "output_tokens": 0,
        "billed_cost_usd": "0.002",
    },
    {
        "team": "billed at nothing",
        **SONNET,
        "input_tokens": 1_000,
        "output_tokens": 0,
        "billed_cost_usd": "0",
    },
    {"team": "billed alone", "model_name": "acme-1", "billed_cost_usd": "0.000000000001"},
    {
        "team": "unpriced",
        "provider": "openai",
        "model_name": "acme-1",
        "input_tokens": 9,
        "output_tokens": 9,
    },
    {"team": "own server", "model_name": "acme-1", "input_tokens": 9, "output_tokens": 9},
    {
        "team": "unknown tier",
        **SONNET,
        "service_tier": "flex",
        "input_tokens": 9,
        "output_tokens": 9,
    },
    {
        "team": "unpriced bucket",
        "provider": "openai",
        "model_name": "acme-1",
        "input_tokens": 9,
        "output_tokens": 9,
        "request_count": 3,
    },
    *({"team": "three rows", **SONNET, "input_tokens": 1, "output_tokens": 0} for _ in range(3)),
    {
        "team": "half billed",
        **SONNET,
        "input_tokens": 1_000,
        "output_tokens": 0,
        "billed_cost_usd": "0.002",
    },
    *(
        {**DEEPSEEK, "team": clock, "occurred_at": f"2026-10-05T{clock}Z", "output_tokens": 0}
        for clock in CLOCKS
    ),
    {
        **DEEPSEEK,
        "team": "a day's bucket",
        "occurred_at": "2026-10-05T00:00:00Z",
        "bucket_end_at": "2026-10-06T00:00:00Z",
        "request_count": 2,
        "output_tokens": 0,
    },
    {"team": "us", **OPUS, "region": "US", "input_tokens": 1_000, "output_tokens": 10},
    {"team": "elsewhere", **OPUS, "region": "mars", "input_tokens": 1_000, "output_tokens": 10},
    {
        "team": "us batch",
        **OPUS,
        "occurred_at": "2026-10-20T10:00:00Z",
        "region": "us",
        "is_batch": True,
        "input_tokens": 1_000,
        "output_tokens": 10,
    },
    {"team": "half billed", **SONNET, "input_tokens": 1_000, "output_tokens": 0},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, targets=["int_group_costs"])


def costs(book: Book, team: str) -> list[dict[str, Any]]:
    return [
        row
        for row in rows_of(book, "select * from int_group_costs order by is_billed")
        if row["team"] == team
    ]


def list_cost(book: Book, team: str) -> Decimal | None:
    [row] = costs(book, team)
    cost: Decimal | None = row["list_cost_usd"]
    return cost


def test_every_bucket_of_tokens_has_its_price(book: Book) -> None:
    # 1,234 · 3 + 100,001 · 0.30 + 777 · 3.75 + 55 · 6 + 321 · 15
    #   = 3,702 + 30,000.3 + 2,913.75 + 330 + 4,815 = 41,761.05 dollars per million
    assert list_cost(book, "four buckets") == Decimal("0.04176105")


def test_a_prompt_of_200_000_tokens_has_the_short_price(book: Book) -> None:
    # 200,000 · 3 + 1 · 15 = 600,015
    assert list_cost(book, "200,000 tokens") == Decimal("0.600015")


def test_one_token_more_re_prices_the_whole_request(book: Book) -> None:
    # 200,001 · 6 + 1 · 22.50 = 1,200,028.5
    assert list_cost(book, "200,001 tokens") == Decimal("1.2000285")


def test_cached_tokens_count_towards_the_length_of_the_prompt(book: Book) -> None:
    # 1 · 6 + 200,000 · 0.60 + 1 · 22.50 = 120,028.5
    assert list_cost(book, "200,001 tokens, mostly cached") == Decimal("0.1200285")


def test_a_bucket_is_priced_by_the_mean_length_of_its_prompts(book: Book) -> None:
    # 150,000 each: 300,000 · 3 + 2 · 15 = 900,030
    assert list_cost(book, "a bucket of two") == Decimal("0.90003")


def test_a_price_holds_until_before_the_instant_of_its_change(book: Book) -> None:
    # 1,000 · 10 + 100 · 40 = 14,000
    assert list_cost(book, "before the change") == Decimal("0.014")


def test_a_new_price_holds_from_the_instant_of_its_change(book: Book) -> None:
    # 1,000 · 2 + 100 · 8 = 2,800
    assert list_cost(book, "at the change") == Decimal("0.0028")


def test_a_batch_request_before_there_was_a_batch_price_is_unpriced(book: Book) -> None:
    [row] = costs(book, "batch too early")

    assert (row["cost_usd"], row["cost_source"], row["unpriced_request_count"]) == (None, None, 1)


def test_a_batch_request_has_the_batch_price(book: Book) -> None:
    # a million tokens a request: the long price, 1,000,000 · 3 (standard: 6)
    assert list_cost(book, "batch in time") == Decimal(3)


@pytest.mark.parametrize(("clock", "usd"), CLOCKS.items())
def test_an_hour_of_the_day_prices_from_its_first_microsecond(
    book: Book, clock: str, usd: str
) -> None:
    # a million tokens at the peak price of 00:30 to 16:30 UTC, or the other
    assert list_cost(book, clock) == Decimal(usd)


def test_a_bucket_of_a_day_has_the_dearest_hours_price(book: Book) -> None:
    assert list_cost(book, "a day's bucket") == Decimal("0.27")


def test_a_region_with_its_own_multiplier_costs_that_much_more(book: Book) -> None:
    # (1,000 · 5 + 10 · 25) · 1.1 = 5,775 dollars per million
    assert list_cost(book, "us") == Decimal("0.005775")


def test_a_region_that_no_rule_names_costs_the_list_price(book: Book) -> None:
    assert list_cost(book, "elsewhere") == Decimal("0.00525")


def test_the_regions_multiplier_goes_on_top_of_the_batch_price(book: Book) -> None:
    # batch halves it: (1,000 · 2.5 + 10 · 12.5) · 1.1 = 2,887.5 dollars per million
    assert list_cost(book, "us batch") == Decimal("0.0028875")


def test_cached_tokens_without_a_price_of_their_own_cost_what_input_does(book: Book) -> None:
    # (1 + 999) · 10
    assert list_cost(book, "no cache price") == Decimal("0.01")


def test_what_was_billed_wins_over_the_list_price_beside_it(book: Book) -> None:
    [row] = costs(book, "billed")

    assert (row["cost_usd"], row["cost_source"]) == (Decimal("0.002"), "billed")
    assert row["list_cost_usd"] == Decimal("0.003")


def test_a_bill_of_nothing_is_a_bill(book: Book) -> None:
    [row] = costs(book, "billed at nothing")

    assert (row["cost_usd"], row["cost_source"]) == (0, "billed")


def test_a_bill_needs_neither_a_known_model_nor_tokens(book: Book) -> None:
    [row] = costs(book, "billed alone")

    assert (row["cost_usd"], row["list_cost_usd"]) == (Decimal("0.000000000001"), None)
    assert row["unpriced_request_count"] == 0


def test_without_price_and_bill_the_cost_is_unknown_and_counted(book: Book) -> None:
    [row] = costs(book, "unpriced")

    assert (row["cost_usd"], row["cost_source"], row["unpriced_request_count"]) == (None, None, 1)


def test_an_own_server_without_its_bill_is_counted_apart_from_the_unpriced(book: Book) -> None:
    [row] = costs(book, "own server")

    assert (row["cost_usd"], row["unpriced_reason"]) == (None, "no GPU bill")
    assert (row["unpriced_request_count"], row["no_gpu_bill_request_count"]) == (0, 1)


@pytest.mark.parametrize(
    ("team", "reason"),
    [
        ("unpriced", "no list price for this model"),
        ("unknown tier", "no price for this service tier"),
        ("batch too early", "no price on that day"),
    ],
)
def test_what_is_unpriced_says_why(book: Book, team: str, reason: str) -> None:
    [row] = costs(book, team)

    assert (row["cost_usd"], row["unpriced_reason"]) == (None, reason)


def test_a_tier_without_a_price_never_has_the_standard_one(book: Book) -> None:
    [row] = costs(book, "unknown tier")

    assert (row["list_cost_usd"], row["unpriced_request_count"]) == (None, 1)


def test_an_unpriced_bucket_counts_all_its_requests(book: Book) -> None:
    [row] = costs(book, "unpriced bucket")

    assert row["unpriced_request_count"] == 3


def test_a_group_costs_the_sum_of_its_rows(book: Book) -> None:
    # 3 · 1 · 3 = 9 dollars per million
    assert list_cost(book, "three rows") == Decimal("0.000009")


def test_billed_and_listed_requests_of_a_group_are_kept_apart(book: Book) -> None:
    assert [(row["cost_usd"], row["cost_source"]) for row in costs(book, "half billed")] == [
        (Decimal("0.003"), "list"),
        (Decimal("0.002"), "billed"),
    ]
