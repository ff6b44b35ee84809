"""How much of a month is known: each share counts exactly the rows that it speaks of."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, rows_of

LENGTHS = {"input_tokens": 90, "output_tokens": 30}
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
# The month names the case; its first row counts, and stands there twice; its second does not.
CASES: dict[str, list[dict[str, Any]]] = {
    "priced_request": [{**LENGTHS, **SONNET}, LENGTHS],
    "billed_request": [{**LENGTHS, "billed_cost_usd": "1"}, LENGTHS],
    "measured_request": [LENGTHS, {**LENGTHS, "model_name": "acme-1"}],
    "measurable_request": [LENGTHS, {"output_tokens": None, "billed_cost_usd": "1"}],
    "known_model_request": [LENGTHS, {**LENGTHS, "model_name": "acme-1"}],
    "cache_known_request": [{**LENGTHS, "cache_read_tokens": 0}, LENGTHS],
    "explicit_class_request": [
        {**LENGTHS, "query_class": "chat"},
        {**LENGTHS, "query_class": "poetry"},
    ],
    "attributed_request": [{**LENGTHS, "team": "ops"}, {**LENGTHS, "team": " "}],
    "known_outcome_request": [{**LENGTHS, "is_solved": False}, LENGTHS],
    "buckets": [{**LENGTHS, **SONNET, "request_count": 3}, LENGTHS],
    # 30 + 30 of 80 output tokens
    "priced_output": [{**LENGTHS, **SONNET}, {**LENGTHS, "output_tokens": 20}],
    "measured_output": [LENGTHS, {**LENGTHS, "output_tokens": 20, "model_name": "acme-1"}],
    "no_output": [{**LENGTHS, "output_tokens": 0}],
}
MONTHS = {case: f"20{10 + i // 12}-{i % 12 + 1:02d}" for i, case in enumerate(CASES)}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"occurred_at": f"{MONTHS[case]}-05T10:00:00Z", **row}
        for case, cases in CASES.items()
        for row in (cases[0], *cases)
    ]
    return book_of(rows, targets=["mart_coverage"])


def month(book: Book, case: str) -> dict[str, Any]:
    [row] = rows_of(book, f"select * from mart_coverage where month = '{MONTHS[case]}'")
    return row


@pytest.mark.parametrize(
    "share",
    [
        "priced_request",
        "measured_request",
        "known_model_request",
        "cache_known_request",
        "explicit_class_request",
        "attributed_request",
        "known_outcome_request",
    ],
)
def test_two_of_three_requests_are_two_thirds(book: Book, share: str) -> None:
    row = month(book, share)

    assert (row[f"{share}_count"], row[f"{share}_frac"]) == (2, pytest.approx(2 / 3))


def test_a_bill_prices_a_request_too(book: Book) -> None:
    assert month(book, "billed_request")["priced_request_count"] == 2


def test_a_row_without_lengths_is_not_measured(book: Book) -> None:
    row = month(book, "measurable_request")

    assert (row["request_count"], row["measured_request_count"]) == (3, 2)


def test_a_bucket_counts_as_its_requests(book: Book) -> None:
    row = month(book, "buckets")

    assert (row["request_count"], row["priced_request_count"]) == (3 + 3 + 1, 6)


@pytest.mark.parametrize("share", ["priced_output", "measured_output"])
def test_output_tokens_have_shares_of_their_own(book: Book, share: str) -> None:
    row = month(book, share)

    assert (row["output_tokens"], row[f"{share}_tokens"], row[f"{share}_frac"]) == (80, 60, 0.75)


def test_of_no_output_there_is_no_share(book: Book) -> None:
    assert month(book, "no_output")["priced_output_frac"] is None
