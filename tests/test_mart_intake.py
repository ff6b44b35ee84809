"""Every row of every file has one outcome, with its reason."""

from collections.abc import Callable

import pytest
from conftest import Book, rows_of

GOOD = {"input_tokens": 90, "output_tokens": 30}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    first = [
        {**GOOD, "request_id": "r1"},
        {**GOOD, "request_id": "r2"},
        {**GOOD, "request_id": "r2"},
        {**GOOD, "input_tokens": -1},
        {**GOOD, "input_tokens": -2},
        {**GOOD, "input_tokens": 1.5, "model_name": ""},
        {},
    ]
    return book_of(first, [{**GOOD, "request_id": "r1"}], targets=["mart_intake"])


def outcomes(book: Book, number: int) -> list[tuple[str, str, int]]:
    rows = rows_of(book, "select * from mart_intake order by outcome, reason")
    return [
        (row["outcome"], row["reason"], row["row_count"])
        for row in rows
        if row["source_file"] == f"usage-{number}.jsonl"
    ]


def test_rows_are_counted_by_outcome_and_reason(book: Book) -> None:
    assert outcomes(book, 1) == [
        ("accepted", "", 2),
        ("duplicate", "same request again", 1),
        ("rejected", "model_missing; tokens_not_whole", 1),
        ("rejected", "no_usage", 1),
        ("rejected", "tokens_negative", 2),
    ]


def test_a_request_of_an_earlier_file_is_a_duplicate(book: Book) -> None:
    assert outcomes(book, 2) == [("duplicate", "same request again", 1)]


def test_every_row_read_has_one_outcome(book: Book) -> None:
    assert sum(count for _, _, count in outcomes(book, 1)) == 7


def test_the_form_of_the_file_stands_beside_it(book: Book) -> None:
    assert rows_of(book, "select distinct source_format from mart_intake") == [
        {"source_format": "general"}
    ]
