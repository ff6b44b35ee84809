"""The answer length of least energy per output token, and what lying elsewhere costs."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_GPU_J, Book, rows_of

from pipeline.laws import simple, work
from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
CLOSED = "claude-haiku-4-5"
EXAMPLE = {"input_tokens": 900, "cache_read_tokens": 0, "query_class": "chat"}
ROWS = [
    *({**EXAMPLE, "output_tokens": m} for m in (100, 200, 300, 400, 500)),
    *({**EXAMPLE, "query_class": "reasoning", "output_tokens": 4_000} for _ in range(2)),
    *({**EXAMPLE, "model_name": CLOSED, "output_tokens": m} for m in (200, 400)),
    {**EXAMPLE, "query_class": "rag", "output_tokens": 300},
    *({**EXAMPLE, "query_class": "other", "output_tokens": 0} for _ in range(2)),
    *({**EXAMPLE, "model_name": "acme-1", "output_tokens": 30} for _ in range(2)),
    {"query_class": "summarization", "input_tokens": 0, "output_tokens": 0},
    {**EXAMPLE, "query_class": "agentic", "input_tokens": 9_000, "output_tokens": 3_000}
    | {"request_count": 10},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_sweet_spot", "mart_energy_per_class"])


def line(book: Book, model: str = LLAMA, query_class: str = "chat") -> dict[str, Any]:
    [row] = rows_of(
        book,
        f"select * from mart_sweet_spot where model_id = '{model}' "
        f"and query_class = '{query_class}'",
    )
    return row


def token_energy_j(n: int, m: float, batch: int) -> float:
    """Return the law's energy per output token of Llama-3.1-8B, from FLOP and bytes."""
    a, b, c, s = 1.199e-12, 2.551e-10, 1.394e-10, 0.0227
    body, head, pair, kv, layers = 6_979_321_856, 525_336_576, 524_288, 131_072, 32
    prefill = 2 * body * n + pair * n * (n + 1) / 2 + 2 * head
    decode = 2 * (body + head) * (m - 1)
    attention = pair * ((n + m - 1) * (n + m) - n * (n + 1)) / 2
    cache = kv * (n * m + m * (m - 1) / 2)
    shared = c * 2 * (body + head) * m + s * layers * m
    return (a * (prefill + decode + attention) + b * cache + shared / batch) / m


def test_three_hundred_tokens_are_the_worked_example_and_its_optimum(book: Book) -> None:
    # mean of 100 to 500 is 300: 1,008.589 J a request, 3.361964 J a token; least at 947.79
    row = line(book)

    assert row["mean_output_tokens"] == 300
    assert row["optimum_output_tokens"] == pytest.approx(947.79, abs=0.005)
    assert row["energy_j_per_output_token_at_mean"] == pytest.approx(EXAMPLE_GPU_J / 300)
    assert row["energy_j_per_output_token_at_optimum"] == pytest.approx(
        DENSE_BIAS * token_energy_j(900, row["optimum_output_tokens"], 1)
    )
    assert row["penalty_frac"] == pytest.approx(
        token_energy_j(900, 300, 1) / token_energy_j(900, row["optimum_output_tokens"], 1) - 1
    )
    assert row["mean_against_optimum"] == "shorter"


def test_where_answers_lie_is_where_those_of_single_requests_lie(book: Book) -> None:
    # five answers: the 10 % one is 100 + 0.4 · 100, the 90 % one 400 + 0.6 · 100
    row = line(book)

    assert [row[f"output_{p}_tokens"] for p in ("p10", "p50", "p90")] == [140, 300, 460]
    best = token_energy_j(900, row["optimum_output_tokens"], 1)
    assert row["penalty_at_p10_frac"] == pytest.approx(token_energy_j(900, 140, 1) / best - 1)
    assert row["penalty_at_p90_frac"] == pytest.approx(token_energy_j(900, 460, 1) / best - 1)


def test_buckets_have_a_mean_but_no_quantiles(book: Book) -> None:
    row = line(book, query_class="agentic")  # 10 requests of 900 in, 300 out

    assert (row["mean_output_tokens"], row["output_p50_tokens"]) == (300, None)
    assert row["optimum_output_tokens"] == pytest.approx(947.79, abs=0.005)


def test_the_optimum_is_that_of_a_search(book: Book) -> None:
    found = min(range(1, 5_000), key=lambda m: token_energy_j(900, m, 1))

    assert found == 948 == round(line(book)["optimum_output_tokens"])


@pytest.mark.parametrize(
    ("batch", "least", "most"), [(1, 0.006, 0.03), (64, 0.20, 0.31)], ids=["alone", "batch 64"]
)
@pytest.mark.parametrize("n", [250, 900, 4_000])
@pytest.mark.parametrize("miss", [0.25, 4])
def test_missing_the_optimum_fourfold_costs_little_alone_and_much_in_a_batch(
    n: int, miss: float, batch: int, least: float, most: float
) -> None:
    best = min(range(1, 5_000), key=lambda m: token_energy_j(n, m, batch))

    penalty = token_energy_j(n, best * miss, batch) / token_energy_j(n, best, batch) - 1
    assert least < penalty < most


def test_the_search_and_the_law_price_a_token_alike() -> None:
    flop = work.prefill_flop(
        6_979_321_856, 525_336_576, 524_288, 900, work.prefill_pairs(900, 0, 1, 1), 1
    )
    assert token_energy_j(900, 1, 1) - token_energy_j(0, 1, 1) == pytest.approx(
        simple.prefill_energy_j(1.199e-12, flop - 2 * 525_336_576) + 2.551e-10 * 131_072 * 900
    )


def test_a_longer_answer_than_the_optimum_is_told_as_longer(book: Book) -> None:
    row = line(book, query_class="reasoning")

    assert row["mean_against_optimum"] == "longer"
    assert row["energy_j_per_task"] == pytest.approx(
        DENSE_BIAS * 4_000 * token_energy_j(900, 4_000, 1)
    )


def test_a_shorter_answer_takes_less_in_all_on_either_side_of_the_optimum() -> None:
    energies = [m * token_energy_j(900, m, 64) for m in range(1, 4_000)]

    assert energies == sorted(energies)


def test_a_penalty_lies_in_its_range_and_closed_models_have_one_too(book: Book) -> None:
    for row in (line(book), line(book, CLOSED)):
        assert row["penalty_low_frac"] <= row["penalty_frac"] <= row["penalty_high_frac"]
        assert row["penalty_low_frac"] < row["penalty_p50_frac"] < row["penalty_high_frac"]
    # alone, the curve is so flat that worlds with dear cache reads have their optimum before 300
    assert 0.9 < line(book)["penalty_positive_frac"] < 1
    assert line(book, CLOSED)["batch"] == 64
    assert line(book, CLOSED)["penalty_frac"] > 10 * line(book)["penalty_frac"]


def test_the_optimum_is_that_of_the_energy_report(book: Book) -> None:
    pairs = rows_of(
        book,
        "select spot.optimum_output_tokens as found, energy.optimum_output_tokens as expected "
        "from mart_sweet_spot as spot "
        "inner join mart_energy_per_class as energy using (month, provider, model_id, query_class) "
        "where spot.reason is null",
    )

    assert len(pairs) == 4
    assert all(row["found"] == row["expected"] for row in pairs)


@pytest.mark.parametrize(
    ("model", "query_class", "reason"),
    [
        (LLAMA, "rag", "a single request"),
        (LLAMA, "summarization", "no request with input"),
        (LLAMA, "other", "no output to share the energy"),
        ("acme-1", "chat", "no energy: the model or its place on GPUs is unknown"),
    ],
)
def test_where_there_is_not_enough_nothing_is_said(
    book: Book, model: str, query_class: str, reason: str
) -> None:
    row = line(book, model, query_class)

    assert row["reason"] == reason
    said = ("optimum_output_tokens", "penalty_frac", "penalty_p50_frac", "mean_against_optimum")
    assert [row[name] for name in said] == [None] * 4
