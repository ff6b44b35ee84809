"""A task is its requests together where it has an id, else the request itself."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

LENGTHS = {"input_tokens": 90, "output_tokens": 30}
# The month names the case.
CASES: dict[str, Rows] = {
    "2026-01": [  # three tries of one task, solved at the third
        {"task_id": "t", "is_solved": False},
        {"task_id": "t", "is_solved": None},
        {"task_id": "t", "is_solved": True},
    ],
    "2026-02": [{"task_id": "t", "is_solved": False}, {"task_id": "t", "is_solved": None}],
    "2026-03": [{"task_id": "t"}, {"task_id": "t"}],
    "2026-04": [{}, {"is_solved": True}, {"is_solved": False}],
    "2026-05": [{"request_count": 7, "input_tokens": 630}, {"task_id": "t"}],
    "2026-06": [{"task_id": "t", "query_class": "chat"}, {"task_id": "t", "query_class": "rag"}],
    "2026-07": [{"task_id": " "}, {"task_id": ""}],
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"occurred_at": f"{month}-05T10:00:00Z", **LENGTHS, **row}
        for month, cases in CASES.items()
        for row in cases
    ]
    return book_of(rows, targets=["int_class_tasks"])


def tasks(book: Book, month: str) -> list[tuple[Any, ...]]:
    """Return (tasks, solved, of unknown outcome) of every class."""
    return [
        (row["task_count"], row["solved_task_count"], row["unknown_outcome_task_count"])
        for row in rows_of(book, "select * from int_class_tasks order by query_class")
        if row["month"] == month
    ]


def test_three_tries_of_a_task_are_one_task_solved_by_any_of_them(book: Book) -> None:
    assert tasks(book, "2026-01") == [(1, 1, 0)]


def test_a_failed_try_makes_the_outcome_known(book: Book) -> None:
    assert tasks(book, "2026-02") == [(1, 0, 0)]


def test_a_task_without_any_outcome_is_a_task_but_never_solved(book: Book) -> None:
    assert tasks(book, "2026-03") == [(1, 0, 1)]


def test_a_request_without_a_task_is_a_task(book: Book) -> None:
    assert tasks(book, "2026-04") == [(3, 1, 1)]


def test_a_bucket_without_a_task_is_as_many_tasks_as_requests(book: Book) -> None:
    assert tasks(book, "2026-05") == [(7 + 1, 0, 8)]


def test_a_task_of_two_classes_counts_in_both(book: Book) -> None:
    assert tasks(book, "2026-06") == [(1, 0, 1), (1, 0, 1)]


def test_an_empty_task_id_is_none(book: Book) -> None:
    assert tasks(book, "2026-07") == [(2, 0, 2)]
