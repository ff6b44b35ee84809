"""A row of usage becomes sums over tokens: exact for a request, corrected for a bucket."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, rows_of

HOUR_END = "2026-10-05T11:00:00Z"
# Dispersion factors of class chat: E[n²]/mean² 1.92, E[nm]/(mean · mean) 0.92, E[m²]/mean² 1.6;
# its mean answer has 211 tokens.
CHAT = {"query_class": "chat"}
ROWS = [
    {"team": "worked example", "input_tokens": 900, "output_tokens": 300},
    {"team": "no output", "input_tokens": 900, "output_tokens": 0},
    {"team": "one output", "input_tokens": 900, "output_tokens": 1},
    {"team": "no input", "input_tokens": 0, "output_tokens": 0},
    {"team": "lost input", "input_tokens": 0, "output_tokens": 300},
    {"team": "all cached", "input_tokens": 900, "cache_read_tokens": 900, "output_tokens": 1},
    {"team": "all but one", "input_tokens": 900, "cache_read_tokens": 899, "output_tokens": 1},
    {"team": "some cached", "input_tokens": 900, "cache_read_tokens": 600, "output_tokens": 1},
    {"team": "bill alone", "output_tokens": None, "billed_cost_usd": "1"},
    {
        "team": "bucket",
        **CHAT,
        "input_tokens": 10_000,
        "output_tokens": 2_000,
        "request_count": 10,
    },
    {
        "team": "cached bucket",
        **CHAT,
        "input_tokens": 10_000,
        "cache_read_tokens": 4_000,
        "output_tokens": 2_000,
        "request_count": 10,
    },
    {
        "team": "wholly cached bucket",
        **CHAT,
        "input_tokens": 10_000,
        "cache_read_tokens": 10_000,
        "output_tokens": 10,
        "request_count": 10,
    },
    {
        "team": "cached bucket of single tokens",
        **CHAT,
        "input_tokens": 10,
        "cache_read_tokens": 10,
        "output_tokens": 10,
        "request_count": 10,
    },
    {
        "team": "uncounted bucket",
        **CHAT,
        "input_tokens": 11_000,
        "output_tokens": 2_222,
        "bucket_end_at": HOUR_END,
    },
    {
        "team": "small uncounted bucket",
        **CHAT,
        "input_tokens": 11_000,
        "output_tokens": 10,
        "bucket_end_at": HOUR_END,
    },
    {
        "team": "bucket of one",
        **CHAT,
        "input_tokens": 900,
        "output_tokens": 300,
        "request_count": 1,
        "bucket_end_at": HOUR_END,
    },
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, targets=["int_requests"])


def request(book: Book, team: str) -> dict[str, Any]:
    [row] = [row for row in rows_of(book, "select * from int_requests") if row["team"] == team]
    return row


def moments(book: Book, team: str) -> dict[str, int | None]:
    row = request(book, team)
    return {
        name: row[name]
        for name in (
            "prefilled_tokens",
            "prefill_pairs",
            "decode_pairs",
            "cache_positions",
            "decode_steps",
        )
    }


def test_a_request_has_the_moments_of_the_worked_example(book: Book) -> None:
    assert moments(book, "worked example") == {
        "prefilled_tokens": 900,
        "prefill_pairs": 405_450,  # 900 · 901 / 2
        "decode_pairs": 313_950,  # (1,199 · 1,200 − 900 · 901) / 2
        "cache_positions": 314_850,  # 900 · 300 + 300 · 299 / 2
        "decode_steps": 299,
    }


def test_an_answer_of_no_token_is_prefill_alone(book: Book) -> None:
    assert moments(book, "no output") == {
        "prefilled_tokens": 900,
        "prefill_pairs": 405_450,
        "decode_pairs": 0,
        "cache_positions": 0,
        "decode_steps": 0,
    }


def test_the_first_token_of_an_answer_reads_the_cache_without_a_decode_step(book: Book) -> None:
    found = moments(book, "one output")

    assert (found["cache_positions"], found["decode_steps"], found["decode_pairs"]) == (900, 0, 0)


def test_a_request_without_input_has_no_work_but_is_measurable(book: Book) -> None:
    row = request(book, "no input")

    assert (row["has_work"], row["is_measurable"]) == (False, True)
    assert set(moments(book, "no input").values()) == {None}


def test_an_answer_to_no_input_is_not_measurable(book: Book) -> None:
    row = request(book, "lost input")

    assert (row["has_work"], row["is_measurable"]) == (False, False)


def test_a_row_without_lengths_is_not_measurable(book: Book) -> None:
    row = request(book, "bill alone")

    assert (row["has_work"], row["is_measurable"]) == (False, False)


def test_of_a_cached_prompt_only_the_rest_is_prefilled(book: Book) -> None:
    found = moments(book, "some cached")

    # 900 · 901 / 2 − 600 · 601 / 2
    assert (found["prefilled_tokens"], found["prefill_pairs"]) == (300, 405_450 - 180_300)


def test_the_last_token_of_a_prompt_is_always_prefilled(book: Book) -> None:
    assert moments(book, "all cached") == moments(book, "all but one")
    # one token, which attends to all 900
    assert moments(book, "all cached")["prefill_pairs"] == 900


def test_a_wholly_cached_prompt_keeps_its_record(book: Book) -> None:
    assert request(book, "all cached")["cache_read_tokens"] == 900


def test_a_bucket_has_the_moments_of_scattered_lengths(book: Book) -> None:
    # ten requests of 1,000 in and 200 out
    assert moments(book, "bucket") == {
        "prefilled_tokens": 10_000,
        "prefill_pairs": 9_605_000,  # 10 · (1.92 · 1,000² + 1,000) / 2
        # 10 · (0.92 · 1,000 · 2 · 200 + 1.6 · 200² − 2 · 1,000 − 200) / 2 = 5 · 429,800
        "decode_pairs": 2_149_000,
        # 10 · (368,000 + 64,000 − 200) / 2 = 5 · 431,800
        "cache_positions": 2_159_000,
        "decode_steps": 1_990,  # 10 · (200 − 1)
    }


def test_cached_lengths_of_a_bucket_scatter_as_input_does(book: Book) -> None:
    found = moments(book, "cached bucket")

    # 10 · (1.92 · (1,000² − 400²) + 1,000 − 400) / 2 = 5 · 1,613,400
    assert (found["prefilled_tokens"], found["prefill_pairs"]) == (6_000, 8_067_000)


@pytest.mark.parametrize("team", ["wholly cached bucket", "cached bucket of single tokens"])
def test_every_request_of_a_bucket_prefills_a_token(book: Book, team: str) -> None:
    assert moments(book, team)["prefilled_tokens"] == 10


def test_an_uncounted_bucket_has_as_many_requests_as_mean_answers(book: Book) -> None:
    row = request(book, "uncounted bucket")

    # 2,222 / 211 = 10.53
    assert (row["request_count"], row["is_request_count_guessed"]) == (11, True)


def test_an_uncounted_bucket_has_at_least_one_request(book: Book) -> None:
    # 10 / 211 rounds to 0
    assert request(book, "small uncounted bucket")["request_count"] == 1


def test_an_uncounted_bucket_scatters_as_a_counted_one(book: Book) -> None:
    # 11 · (1.92 · 1,000² + 1,000) / 2
    assert moments(book, "uncounted bucket")["prefill_pairs"] == 10_565_500


def test_a_bucket_of_one_request_is_that_request(book: Book) -> None:
    assert moments(book, "bucket of one") == moments(book, "worked example")
    assert not request(book, "bucket of one")["is_bucket"]
