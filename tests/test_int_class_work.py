"""Summed work is exact, and its price in joules is the Python law's."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from conftest import Book, rows_of

from pipeline.laws import simple
from pipeline.settings import Deployment, Settings

MODEL = "meta-llama/Llama-3.1-8B"
ON_TWO_GPUS = "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"  # of the same shape
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat"}
AGENT = {
    "input_tokens": 68_000,
    "cache_read_tokens": 66_640,
    "output_tokens": 300,
    "query_class": "agentic",
}
ROWS = [
    EXAMPLE,
    AGENT,
    {**EXAMPLE, "query_class": "rag"},
    {**EXAMPLE, "query_class": "rag"},
    {**EXAMPLE, "output_tokens": 0, "query_class": "other"},
    {**EXAMPLE, "model_name": ON_TWO_GPUS},
]
WORK = (
    "prefill_flop",
    "decode_flop",
    "decode_attention_flop",
    "kv_read_bytes",
    "weight_read_bytes",
    "layer_steps",
)
TERMS = ("prefill_energy_j", "kv_cache_energy_j", "next_token_energy_j")
# The default coefficient set.
A, B = Fraction(1199, 10**15), Fraction(2551, 10**13)
C, S = Fraction(1394, 10**13), Fraction(227, 10**4)


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    told = (Deployment(MODEL, batch=1), Deployment(ON_TWO_GPUS, batch=1, gpu_count=2))
    return book_of(ROWS, settings=Settings(deployments=told), targets=["int_class_work"])


def worked(book: Book, query_class: str, model_id: str = MODEL) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from int_class_work")
        if (row["query_class"], row["model_id"]) == (query_class, model_id)
    ]
    return row


def by_law(row: dict[str, Any]) -> tuple[Fraction, Fraction, Fraction]:
    """Price a row's exact work at batch 1 by the Python law, in fractions."""
    work = {name: Fraction(row[name]) for name in WORK}
    return (
        simple.prefill_energy_j(A, work["prefill_flop"]),
        simple.kv_cache_energy_j(A, B, work["kv_read_bytes"], work["decode_attention_flop"]),
        simple.next_token_energy_j(
            A, C, S, 0, work["decode_flop"], work["weight_read_bytes"], work["layer_steps"],
            0, Fraction(1),
        ),
    )  # fmt: skip


def test_the_worked_example_does_exactly_its_work(book: Book) -> None:
    row = worked(book, "chat")

    assert {name: row[name] for name in WORK} == {
        "prefill_flop": 12_776_402_583_552,
        "decode_flop": 4_487_785_742_336,
        "decode_attention_flop": 164_600_217_600,
        "kv_read_bytes": 41_268_019_200,
        "weight_read_bytes": 300 * 15_009_316_864,
        "layer_steps": 300 * 32,
    }


def test_the_worked_example_takes_its_three_energies(book: Book) -> None:
    row = worked(book, "chat")

    assert [round(row[term], 6) for term in TERMS] == [15.318907, 10.724827, 850.990486]


def test_the_cached_agent_step_takes_its_three_energies(book: Book) -> None:
    row = worked(book, "agentic")

    assert [round(row[term], 6) for term in TERMS] == [80.316760, 696.412879, 850.990486]


@pytest.mark.parametrize("query_class", ["chat", "agentic", "rag", "other"])
def test_sql_and_the_python_law_agree(book: Book, query_class: str) -> None:
    row = worked(book, query_class)

    assert [row[term] for term in TERMS] == [
        pytest.approx(float(energy), rel=1e-12) for energy in by_law(row)
    ]


def test_two_equal_requests_do_twice_the_work(book: Book) -> None:
    one, two = worked(book, "chat"), worked(book, "rag")

    assert {name: two[name] for name in WORK} == {name: 2 * one[name] for name in WORK}


def test_answers_of_no_token_take_prefill_alone(book: Book) -> None:
    row = worked(book, "other")

    assert row["prefill_flop"] == 12_776_402_583_552
    assert [row[name] for name in WORK[1:]] == [0, 0, 0, 0, 0]
    assert [row[term] for term in TERMS[1:]] == [0, 0]


def test_each_gpu_takes_every_layer_step(book: Book) -> None:
    assert worked(book, "chat", ON_TWO_GPUS)["layer_steps"] == 2 * 300 * 32


def test_the_optimum_of_the_worked_example_is_947_79_tokens(book: Book) -> None:
    assert round(worked(book, "chat")["optimum_output_tokens"], 2) == 947.79
