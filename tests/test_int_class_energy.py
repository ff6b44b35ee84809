"""A class has an energy with its range; stand-ins blend, terms add up, rates share out exactly."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_GPU_J, EXAMPLE_LAW_J, Book, rows_of

from pipeline import warehouse
from pipeline.reference import reference_rows
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
    # half of the tokens do not say what was cached
    {**EXAMPLE, "query_class": "summarization", "model_name": BATCH_1},
    {**EXAMPLE, "query_class": "summarization", "model_name": BATCH_1, "cache_read_tokens": None},
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

    # grade B, 0.74 to 1.35, is wider than the bias, 0.93 / 1.15 to 1.30 / 1.15
    assert row["evidence_grade"] == "B"
    assert (row["low_ratio"], row["high_ratio"]) == (pytest.approx(0.74), pytest.approx(1.35))


def test_a_bias_that_is_wider_than_the_grade_makes_the_range(book: Book) -> None:
    row = energies(book)["Qwen/Qwen3-30B-A3B"]
    [bias] = [
        each for each in reference_rows("bias_factors") if each["architecture_class"] == "moe"
    ]

    # grade C, 0.5 to 2.0
    assert row["evidence_grade"] == "C"
    assert row["low_ratio"] == pytest.approx(
        min(0.5, float(bias["bias_low"]) / float(bias["bias_factor"]))
    )
    assert row["high_ratio"] == pytest.approx(
        max(2.0, float(bias["bias_high"]) / float(bias["bias_factor"]))
    )


def test_the_doubt_of_an_assumed_batch_adds_in_squares_of_logs(book: Book) -> None:
    row = energies(book)[ASSUMED]

    # Llama-3.1-70B on four GPUs: what the batch shares, per request of 300 passes
    shared_j = 300 * (1.394e-10 * 2 * 69_501_714_432 + 0.0227 * 80 * 4)
    fixed_j = row["energy_j"] - shared_j / 8
    low = math.hypot(math.log((fixed_j + shared_j / 64) / row["energy_j"]), math.log(0.74))
    high = math.hypot(math.log((fixed_j + shared_j / 1) / row["energy_j"]), math.log(1.35))
    assert row["low_ratio"] == pytest.approx(math.exp(-low))
    assert row["high_ratio"] == pytest.approx(math.exp(high))


def test_stand_ins_further_apart_than_their_grade_make_the_range(book: Book) -> None:
    book.execute("begin")
    book.execute(
        "update raw_bias_factors set bias_factor = 50, bias_low = 50, bias_high = 50 "
        "where architecture_class = 'moe'"
    )
    energy_sql = warehouse.models()["int_class_energy"].sql
    rows = rows_of(book, f"select * from ({energy_sql}) where query_class = 'chat'")
    book.execute("rollback")

    by_model = {row["model_id"]: row for row in rows}
    singles = [by_model[model]["gpu_energy_j"] for model in STAND_INS]
    row = by_model[CLOSED]
    assert row["low_ratio"] == pytest.approx(min(singles) / row["gpu_energy_j"])
    assert row["high_ratio"] == pytest.approx(max(singles) / row["gpu_energy_j"])


def test_host_idle_and_cooling_ride_on_the_energy_with_their_doubt(book: Book) -> None:
    row = energies(book)[BATCH_1]

    doubts = (math.log(1.35), math.log(2.0 / 1.43), math.log(1.5 / 1.12), math.log(1.35 / 1.20))
    assert row["facility_ratio"] == pytest.approx(FACILITY)
    assert row["facility_high_ratio"] == pytest.approx(math.exp(math.hypot(*doubts)))


def test_every_value_lies_in_its_range(book: Book) -> None:
    rows = rows_of(book, "select * from int_class_energy")

    assert [
        row["model_id"]
        for row in rows
        if not row["facility_low_ratio"]
        <= row["low_ratio"]
        <= 1
        <= row["high_ratio"]
        <= row["facility_high_ratio"]
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


def test_an_unknown_cached_share_lowers_the_low_end(book: Book) -> None:
    row = energies(book, "summarization")[BATCH_1]

    # 5 % of a summary's input comes from the cache; half of the input does not say; prefill is
    # 15.318907 of 877.034220 J: 1 − 0.05 · 0.5 · 0.017466… beside the 0.74 of grade B
    cached = 1 - 0.05 * 0.5 * 15.318907 / 877.034220
    assert row["low_ratio"] == pytest.approx(
        math.exp(-math.hypot(math.log(0.74), math.log(cached))), rel=1e-9
    )
    assert row["high_ratio"] == pytest.approx(1.35)
