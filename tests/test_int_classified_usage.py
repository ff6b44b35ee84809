"""A class in the log wins; otherwise the shape decides, each rule exactly at its edge."""

from collections.abc import Callable
from typing import Any

import duckdb
import pytest
from conftest import Book, rows_of

from pipeline.reference import reference_rows

Shape = dict[str, Any]


def shape(n: int, m: int, **other: Any) -> Shape:  # noqa: ANN401 any column of a log
    """Return a request of n input tokens in all and m output tokens."""
    return {"input_tokens": n, "output_tokens": m, **other}


EDGES: list[tuple[str, Shape]] = [
    # agentic: n >= 20,000 and half of it read from the cache
    ("agentic", shape(20_000, 60, cache_read_tokens=10_000)),
    ("rag", shape(20_000, 60, cache_read_tokens=9_999)),
    ("rag", shape(19_999, 60, cache_read_tokens=19_998)),
    ("agentic", shape(20_000, 0, cache_read_tokens=20_000)),
    # reasoning: half of the output, or a long output beyond the input
    ("reasoning", shape(500, 100, reasoning_tokens=50)),
    ("chat", shape(500, 100, reasoning_tokens=49)),
    ("reasoning", shape(1_999, 2_000)),
    ("chat", shape(2_000, 2_000)),
    ("chat", shape(1_998, 1_999)),
    # rag: n >= 3,000, m >= 60, m at most a tenth of n
    ("rag", shape(3_000, 300)),
    ("summarization", shape(3_000, 301)),
    ("rag", shape(3_000, 60)),
    ("code_completion", shape(3_000, 59)),
    ("summarization", shape(2_999, 60)),
    # summarization: 1,500 <= n < 8,000, m >= 60, m at most a quarter of n
    ("summarization", shape(1_500, 375)),
    ("chat", shape(1_500, 376)),
    ("summarization", shape(1_500, 60)),
    ("code_completion", shape(1_499, 60)),
    ("chat", shape(1_499, 61)),
    ("summarization", shape(7_999, 801)),
    ("chat", shape(8_000, 801)),
    # code completion: m <= 60 and n >= 200
    ("code_completion", shape(200, 60)),
    ("chat", shape(200, 61)),
    ("chat", shape(199, 60)),
    # chat: anything else with input
    ("chat", shape(1, 0)),
    ("other", shape(0, 60)),
    # batch: before all shapes
    ("batch_extraction", shape(20_000, 60, cache_read_tokens=20_000, is_batch=True)),
    ("batch_extraction", shape(0, 0, is_batch=True)),
]
CASES: dict[str, Shape] = {
    "logged": shape(500, 100, query_class="RAG"),
    "logged over batch": shape(500, 100, query_class="chat", is_batch=True),
    "unlisted": shape(3_000, 300, query_class="poetry"),
    "no lengths": {"output_tokens": None, "billed_cost_usd": "1"},
    # 10 requests of 3,000 in and 300 out each
    "bucket": shape(30_000, 3_000, request_count=10),
    # as one request it would be agentic: 10 requests of 2,000 in, 1,000 cached, 400 out
    "cached bucket": shape(20_000, 4_000, cache_read_tokens=10_000, request_count=10),
    # cached, written to the cache and uncached tokens together are the input
    "cache writes": {
        "uncached_input_tokens": 1_000,
        "cache_read_tokens": 1_000,
        "cache_write_5m_tokens": 500,
        "cache_write_1h_tokens": 500,
        "output_tokens": 300,
    },
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    edges = [{"team": f"edge {number}", **row} for number, (_, row) in enumerate(EDGES)]
    cases = [{"team": name, **row} for name, row in CASES.items()]
    return book_of([*edges, *cases], targets=["int_classified_usage"])


def classified(book: Book, team: str) -> dict[str, Any]:
    [row] = [
        row for row in rows_of(book, "select * from int_classified_usage") if row["team"] == team
    ]
    return row


@pytest.mark.parametrize(
    ("number", "query_class"),
    [
        pytest.param(
            number,
            query_class,
            id=f"{query_class}: " + ", ".join(f"{key} {value}" for key, value in row.items()),
        )
        for number, (query_class, row) in enumerate(EDGES)
    ],
)
def test_the_shape_decides(book: Book, number: int, query_class: str) -> None:
    row = classified(book, f"edge {number}")

    assert (row["query_class"], row["class_source"]) == (query_class, "shape")


@pytest.mark.parametrize(
    ("case", "query_class"), [("logged", "rag"), ("logged over batch", "chat")]
)
def test_a_class_in_the_log_wins(book: Book, case: str, query_class: str) -> None:
    row = classified(book, case)

    assert (row["query_class"], row["class_source"]) == (query_class, "logged")


def test_an_unlisted_class_falls_back_to_the_shape(book: Book) -> None:
    row = classified(book, "unlisted")

    assert (row["query_class"], row["class_source"]) == ("rag", "shape")


def test_unknown_lengths_are_of_class_other(book: Book) -> None:
    assert classified(book, "no lengths")["query_class"] == "other"


@pytest.mark.parametrize(
    ("case", "query_class"), [("bucket", "rag"), ("cached bucket", "summarization")]
)
def test_a_bucket_is_judged_by_its_mean_lengths(book: Book, case: str, query_class: str) -> None:
    assert classified(book, case)["query_class"] == query_class


def test_cache_reads_and_writes_are_part_of_the_input(book: Book) -> None:
    row = classified(book, "cache writes")

    assert (row["input_tokens"], row["query_class"]) == (3_000, "rag")


def test_the_rules_are_those_that_the_reference_states() -> None:
    stated = sorted(reference_rows("query_classes"), key=lambda row: int(row["rule_order"]))
    branches = " ".join(
        f"when {row['rule'].replace(', or', ' or').replace('everything else', 'true')} "
        f"then '{row['query_class']}'"
        for row in stated
    )
    with duckdb.connect() as con:
        for query_class, row in EDGES:
            if row["input_tokens"] and row["output_tokens"]:  # lengths that the rules speak of
                con.execute(
                    f"select case {branches} end from (select $n as input_tokens, "
                    "$m as output_tokens, $k as cache_read_tokens, $r as reasoning_tokens, "
                    "$b::boolean as is_batch)",
                    {
                        "n": row["input_tokens"],
                        "m": row["output_tokens"],
                        "k": row.get("cache_read_tokens"),
                        "r": row.get("reasoning_tokens"),
                        "b": row.get("is_batch", False),
                    },
                )
                assert con.fetchall() == [(query_class,)], row
