"""The batch is logged, else told, else assumed by who hosts; the KV cache caps all of them."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.settings import Deployment, Settings

# Llama-3.1-8B on one GPU of 80 GB: 0.9 · 80 GB − 16,059,990,016 bytes of weights leaves
# 55,940,009,984 bytes, and a position takes 131,072: room for 426,788 positions.
ROOM = 426_788
EXAMPLE = {"input_tokens": 900, "output_tokens": 300}
TOLD_500 = "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"  # shaped like Llama-3.1-8B
TOLD_32 = "meta-llama/Meta-Llama-3-8B"

# The month names the case.
CASES: dict[str, Rows] = {
    "2026-01": [EXAMPLE],
    "2026-02": [{"input_tokens": ROOM - 1, "output_tokens": 1}],
    "2026-03": [{"input_tokens": ROOM, "output_tokens": 1}],
    "2026-04": [{**EXAMPLE, "model_name": TOLD_500}],
    "2026-05": [{**EXAMPLE, "model_name": TOLD_32}],
    "2026-06": [{**EXAMPLE, "provider": "together"}],
    "2026-07": [{**EXAMPLE, "provider": "ollama"}],
    "2026-08": [{"input_tokens": 0, "output_tokens": 0}],
    # 200 and 600 tokens, in one class: the mean request has 400
    "2026-09": [
        {"input_tokens": 190, "output_tokens": 10, "query_class": "chat", "model_name": TOLD_500},
        {"input_tokens": 590, "output_tokens": 10, "query_class": "chat", "model_name": TOLD_500},
    ],
    "2026-10": [{"input_tokens": 100_000, "output_tokens": 1, "model_name": "claude-haiku-4-5"}],
    "2026-11": [{"input_tokens": 20_000, "output_tokens": 100}],
    # requests that tell their time: three at once, of a model told to run 32 at once
    "2027-01": [{**EXAMPLE, "latency_s": 60, "model_name": TOLD_32}] * 3,
    # room for 426,788 / 200,100 = 2
    "2027-02": [{"input_tokens": 200_000, "output_tokens": 100, "latency_s": 60}] * 3,
    "2027-03": [{**EXAMPLE, "latency_s": 60, "provider": "together"}] * 3,
    "2027-04": [{**EXAMPLE, "latency_s": 60, "provider": "ollama"}] * 3,
    # three at once in one hour, one alone in another: 1,200 tokens in 300 + 300 passes
    "2027-05": [
        *[{**EXAMPLE, "latency_s": 60}] * 3,
        {**EXAMPLE, "latency_s": 60, "occurred_at": "2027-05-05T20:00:00Z"},
    ],
    # of the class one request in three has no time
    "2027-06": [
        *[{**EXAMPLE, "latency_s": 60, "model_name": TOLD_32}] * 2,
        {**EXAMPLE, "model_name": TOLD_32},
    ],
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"occurred_at": f"{month}-05T10:00:00Z", **row}
        for month, cases in CASES.items()
        for row in cases
    ]
    told = (Deployment(TOLD_500, batch=500), Deployment(TOLD_32, batch=32))
    return book_of(rows, settings=Settings(deployments=told), targets=["int_batches"])


def batch(book: Book, month: str) -> dict[str, Any]:
    [row] = [row for row in rows_of(book, "select * from int_batches") if row["month"] == month]
    return row


def limits(row: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    return (row["batch_low"], row["batch"], row["batch_high"])


def test_the_cache_holds_355_requests_of_the_worked_example(book: Book) -> None:
    # 426,788.4 positions / 1,200 = 355.7
    assert batch(book, "2026-01")["batch_max"] == 355


def test_a_told_batch_beyond_the_cache_is_capped(book: Book) -> None:
    assert limits(batch(book, "2026-04")) == (355, 355, 355)


def test_a_told_batch_has_no_range(book: Book) -> None:
    row = batch(book, "2026-05")

    assert (limits(row), row["batch_source"]) == ((32, 32, 32), "told")


@pytest.mark.parametrize(
    ("month", "kind", "expected"),
    [
        ("2026-01", "self_hosted", (1, 8, 64)),
        ("2026-06", "api", (16, 64, 256)),
        ("2026-07", "one_user", (1, 1, 1)),
    ],
)
def test_an_untold_batch_is_assumed_by_who_hosts(
    book: Book, month: str, kind: str, expected: tuple[int, int, int]
) -> None:
    row = batch(book, month)

    assert (limits(row), row["batch_source"]) == (expected, f"assumed for {kind}")


def test_a_logged_batch_wins_over_a_told_one(book: Book) -> None:
    row = batch(book, "2027-01")

    assert (limits(row), row["batch_source"]) == ((3, 3, 3), "logged latencies")


def test_a_logged_batch_beyond_the_cache_is_capped(book: Book) -> None:
    assert limits(batch(book, "2027-02")) == (2, 2, 2)


def test_a_logged_batch_ranges_as_its_hours_do(book: Book) -> None:
    assert limits(batch(book, "2027-05")) == (1, 2, 3)


def test_a_log_that_tells_too_few_times_leaves_the_told_batch(book: Book) -> None:
    row = batch(book, "2027-06")

    assert (limits(row), row["batch_source"]) == ((32, 32, 32), "told")


@pytest.mark.parametrize(("month", "kind"), [("2027-03", "api"), ("2027-04", "one_user")])
def test_who_does_not_serve_the_model_logs_no_batch(book: Book, month: str, kind: str) -> None:
    assert batch(book, month)["batch_source"] == f"assumed for {kind}"


def test_the_range_of_an_assumed_batch_is_capped_too(book: Book) -> None:
    # 426,788 / 20,100 = 21.2, between 8 and 64
    assert limits(batch(book, "2026-11")) == (1, 8, 21)


def test_the_mean_request_of_the_class_decides_the_cap(book: Book) -> None:
    # 426,788 / 400 = 1,066.97
    assert batch(book, "2026-09")["batch_max"] == 1_066


def test_a_request_that_just_fits_is_served_alone(book: Book) -> None:
    row = batch(book, "2026-02")

    assert (row["batch_max"], limits(row)) == (1, (1, 1, 1))


def test_a_request_that_does_not_fit_has_no_batch(book: Book) -> None:
    row = batch(book, "2026-03")

    assert (row["batch_max"], limits(row)) == (0, (None, None, None))


def test_requests_without_work_need_no_batch(book: Book) -> None:
    assert rows_of(book, "select batch from int_batches where month = '2026-08'") == []


def test_of_stand_ins_the_one_that_holds_least_caps_the_batch(book: Book) -> None:
    # Positions that fit beside the weights, each model on one GPU of 80 GB:
    #   Llama-3.1-8B          (72 GB − 16.06 GB) / 131,072 = 426,788   4 of 100,001
    #   Qwen3-30B-A3B         (72 GB − 61.04 GB) /  98,304 = 111,504   1
    #   gpt-oss-120b, 4 bits  (72 GB − 65.16 GB) /  73,728 =  92,763   0
    assert batch(book, "2026-10")["batch_max"] == 0
