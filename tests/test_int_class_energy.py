"""A class has an energy with its range; stand-ins blend, terms add up, rates share out exactly."""

import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_GPU_J, EXAMPLE_LAW_J, Book, rows_of

from pipeline import warehouse
from pipeline.settings import Deployment, Settings

EXAMPLE = {
    "input_tokens": 900,
    "cache_read_tokens": 0,
    "output_tokens": 300,
    "query_class": "chat",
}
STAND_INS = ("meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B", "openai/gpt-oss-120b")
CLOSED = "claude-haiku-4-5"  # of the tier that these stand in for
BATCH_1, BATCH_2, BATCH_16 = (
    "deepseek-ai/DeepSeek-R1-Distill-Llama-8B",  # all three shaped like Llama-3.1-8B
    "meta-llama/Meta-Llama-3-8B",
    "meta-llama/Llama-3.1-8B",
)
ASSUMED = "meta-llama/Llama-3.1-70B"
TOLD = (
    *(Deployment(model, batch=16) for model in (*STAND_INS, CLOSED)),
    Deployment(BATCH_1, batch=1),
    Deployment(BATCH_2, batch=2),
)
# host 1.43 · idle 1.12 · PUE 1.20
FACILITY = 1.43 * 1.12 * 1.20
ROWS = [
    *({**EXAMPLE, "model_name": model} for model in (*STAND_INS, CLOSED, BATCH_1, BATCH_2)),
    {**EXAMPLE, "model_name": ASSUMED},
    {**EXAMPLE, "model_name": "acme-1"},
    # a class of several requests, some of them without output, without input or in a bucket
    {"query_class": "rag", "input_tokens": 900, "cache_read_tokens": 450, "output_tokens": 300},
    {"query_class": "rag", "input_tokens": 20, "output_tokens": 0},
    {"query_class": "rag", "input_tokens": 0, "output_tokens": 0},
    {"query_class": "rag", "input_tokens": 9_000, "output_tokens": 2_000, "request_count": 10},
    {"query_class": "rag", "model_name": CLOSED, "input_tokens": 900, "output_tokens": 300},
    {"query_class": "rag", "model_name": CLOSED, "input_tokens": 90, "output_tokens": 3_000},
    {"query_class": "other", "input_tokens": 0, "output_tokens": 0},
    {"query_class": "reasoning", "input_tokens": 9_000_000, "output_tokens": 1},
    {"query_class": "agentic", "billed_cost_usd": "1"},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS, settings=Settings(deployments=TOLD), targets=["int_class_energy"])


def energies(book: Book, query_class: str = "chat") -> dict[str, dict[str, Any]]:
    """Return the rows of a class by model."""
    rows = rows_of(book, f"select * from int_class_energy where query_class = '{query_class}'")
    return {row["model_id"]: row for row in rows}


def test_the_value_is_the_law_times_the_measured_bias(book: Book) -> None:
    row = energies(book)[BATCH_1]

    assert (row["energy_j"], row["bias_factor"]) == (pytest.approx(EXAMPLE_LAW_J), DENSE_BIAS)
    assert row["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J, rel=1e-9)


def test_a_closed_models_energy_is_the_geometric_mean_of_its_stand_ins(book: Book) -> None:
    rows = energies(book)

    product = math.prod(rows[model]["gpu_energy_j"] for model in STAND_INS)
    assert rows[CLOSED]["gpu_energy_j"] == pytest.approx(product ** (1 / 3), rel=1e-12)


def test_a_closed_model_has_no_architecture_and_no_work_of_its_own(book: Book) -> None:
    row = energies(book)[CLOSED]

    assert row["stand_in_tier"] == "small"
    assert {row[name] for name in ("architecture_class", "gpu_count", "prefill_flop")} == {None}


def test_the_three_terms_add_up_to_the_energy(book: Book) -> None:
    rows = rows_of(book, "select * from int_class_energy")

    assert [
        row["prefill_energy_j"] + row["kv_cache_energy_j"] + row["next_token_energy_j"]
        for row in rows
    ] == [pytest.approx(row["energy_j"], rel=1e-12) for row in rows]


def test_the_terms_of_a_closed_model_keep_the_proportions_of_its_stand_ins(book: Book) -> None:
    rows = energies(book)

    def mean_of(term: str) -> float:
        return math.prod(float(rows[model][term]) for model in STAND_INS) ** (1 / 3)

    assert rows[CLOSED]["prefill_energy_j"] / rows[CLOSED]["kv_cache_energy_j"] == pytest.approx(
        mean_of("prefill_energy_j") / mean_of("kv_cache_energy_j"), rel=1e-12
    )


def test_a_larger_batch_takes_less_energy(book: Book) -> None:
    rows = energies(book)

    assert [rows[model]["batch"] for model in (BATCH_1, BATCH_2, BATCH_16)] == [1, 2, 16]
    assert (
        rows[BATCH_1]["gpu_energy_j"]
        > rows[BATCH_2]["gpu_energy_j"]
        > rows[BATCH_16]["gpu_energy_j"]
    )


def test_a_batch_of_two_saves_half_of_what_a_batch_shares(book: Book) -> None:
    rows = energies(book)

    # weights and launches: 300 · (1.394e-10 · 15,009,316,864 + 0.0227 · 32) J
    shared_j = 300 * (1.394e-10 * 15_009_316_864 + 0.0227 * 32)
    assert rows[BATCH_1]["energy_j"] - rows[BATCH_2]["energy_j"] == pytest.approx(shared_j / 2)


def test_at_a_told_batch_the_range_is_that_of_the_grade(book: Book) -> None:
    row = energies(book)[BATCH_1]

    # grade B, 0.74 to 1.35; the coefficients, little in doubt where the batch is 1, add theirs
    assert row["evidence_grade"] == "B"
    assert row["energy_low_j"] / row["gpu_energy_j"] == pytest.approx(0.74, abs=0.02)
    assert row["energy_high_j"] / row["gpu_energy_j"] == pytest.approx(1.35, abs=0.03)


def test_the_range_is_the_5_and_95_percent_of_the_draws(book: Book) -> None:
    drawn: dict[tuple[str, str], list[float]] = {}
    for row in rows_of(book, "select * from int_class_draws"):
        key = (row["model_id"], row["query_class"])
        drawn.setdefault(key, []).append(row["facility_energy_kwh"])
    rows = rows_of(book, "select * from int_class_energy where batch is not null")

    assert len(rows) == len(drawn) == 9
    for row in rows:
        ends = statistics.quantiles(
            drawn[row["model_id"], row["query_class"]], n=20, method="inclusive"
        )
        assert row["facility_energy_low_kwh"] == pytest.approx(ends[0], rel=1e-12)
        assert row["facility_energy_high_kwh"] == pytest.approx(ends[-1], rel=1e-12)


def test_a_value_that_no_world_reaches_ends_its_range(book: Book) -> None:
    book.execute("begin")
    book.execute("update int_class_draws set gpu_energy_j = gpu_energy_j / 1000")
    energy_sql = warehouse.models()["int_class_energy"].sql
    rows = rows_of(book, f"select * from ({energy_sql}) where batch is not null")
    book.execute("rollback")

    assert {row["energy_high_j"] == row["gpu_energy_j"] for row in rows} == {True}
    assert {row["energy_low_j"] < 0.1 * row["gpu_energy_j"] for row in rows} == {True}


def test_an_a_whose_draws_spread_beyond_20_percent_is_a_b(book: Book) -> None:
    book.execute("begin")
    book.execute("update int_class_doubts set evidence_grade = 'A'")
    energy_sql = warehouse.models()["int_class_energy"].sql
    rows = rows_of(book, f"select * from ({energy_sql}) where batch is not null")
    book.execute("rollback")

    half_widths = {
        row["model_id"]: (row["energy_high_j"] - row["energy_low_j"]) / 2 / row["gpu_energy_j"]
        for row in rows
    }
    assert half_widths[BATCH_1] == pytest.approx(0.32, abs=0.01)  # as on another stack
    assert {row["evidence_grade"] for row in rows} == {"B"}


def test_an_assumed_batch_widens_the_range(book: Book) -> None:
    rows = energies(book)

    def width(model: str) -> float:
        return math.log(rows[model]["energy_high_j"] / rows[model]["energy_low_j"])

    # Both are of grade B. Of Llama-3.1-70B on four GPUs a batch shares, per request of 300 passes:
    shared_j = 300 * (1.394e-10 * 2 * 69_501_714_432 + 0.0227 * 80 * 4)
    fixed_j = rows[ASSUMED]["energy_j"] - shared_j / 8
    ends = [fixed_j + shared_j / batch for batch in (64, 1)]
    assert width(BATCH_1) == pytest.approx(0.64, abs=0.02)
    assert width(ASSUMED) == pytest.approx(math.hypot(math.log(ends[1] / ends[0]), 0.64), rel=0.06)


def test_host_idle_and_cooling_ride_on_the_energy_with_their_doubt(book: Book) -> None:
    row = energies(book)[BATCH_1]

    assert row["facility_ratio"] == pytest.approx(FACILITY)
    assert row["facility_energy_kwh"] == pytest.approx(row["gpu_energy_j"] * FACILITY / 3.6e6)
    # upwards more than downwards: 2.0 / 1.43, 1.5 / 1.12 and 1.35 / 1.20 are the doubts
    assert row["facility_energy_high_kwh"] / row["facility_energy_kwh"] == pytest.approx(
        1.76, abs=0.02
    )


def test_every_value_lies_in_its_range(book: Book) -> None:
    rows = rows_of(book, "select * from int_class_energy")

    assert [
        row["model_id"]
        for row in rows
        if not row["energy_low_j"] <= row["gpu_energy_j"] <= row["energy_high_j"]
        or not row["facility_energy_low_kwh"]
        <= row["facility_energy_kwh"]
        <= row["facility_energy_high_kwh"]
    ] == []


def test_the_rates_share_out_exactly_the_energy_of_the_class(book: Book) -> None:
    rows = rows_of(
        book,
        """
        select
            energy.model_id,
            energy.query_class,
            energy.gpu_energy_j,
            prefilled_tokens::double * energy_j_per_prefilled_token
            + (prefill_pairs + decode_pairs)::double * energy_j_per_pair
            + prompts::double * energy_j_per_prompt
            + cache_positions::double * energy_j_per_cache_position
            + decode_steps::double * energy_j_per_decode_step
            + passes::double * energy_j_per_pass as shared_out_j
        from int_class_energy as energy
        inner join int_class_moments as moments
            using (month, provider, model_id, query_class)
        where gpu_energy_j > 0
        """,
    )

    assert {(row["model_id"], row["query_class"]): row["shared_out_j"] for row in rows} == {
        (row["model_id"], row["query_class"]): pytest.approx(row["gpu_energy_j"], rel=1e-12)
        for row in rows
    }


def test_requests_without_any_input_took_no_energy(book: Book) -> None:
    [row] = energies(book, "other").values()

    assert (row["gpu_energy_j"], row["evidence_grade"]) == (0, "A")


@pytest.mark.parametrize(
    ("query_class", "model"),
    [
        pytest.param("chat", "acme-1", id="an unknown model"),
        pytest.param("reasoning", BATCH_16, id="a request that does not fit"),
        pytest.param("agentic", BATCH_16, id="a bill without lengths"),
    ],
)
def test_what_cannot_be_known_has_no_energy(book: Book, query_class: str, model: str) -> None:
    assert model not in energies(book, query_class)
