"""The energy at any batch, from the summed work; at the effective one it is the report's own."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_GPU_J, Book, rows_of

from pipeline.reference import reference_rows
from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
ASSUMED = "meta-llama/Llama-3.1-70B"
QWEN = "Qwen/Qwen3-30B-A3B"
CLOSED = "claude-haiku-4-5"
EXAMPLE = {
    "input_tokens": 900,
    "cache_read_tokens": 0,
    "output_tokens": 300,
    "query_class": "chat",
}
LADDER = [1, 2, 4, 8, 16, 32, 64, 128, 256]
FACILITY = 1.43 * 1.12 * 1.20
# What a batch shares of the worked example: weights and launches of 300 passes.
SHARED_J = 300 * (1.394e-10 * 15_009_316_864 + 0.0227 * 32)
ROWS = [
    *({**EXAMPLE, "model_name": model} for model in (LLAMA, ASSUMED, QWEN, CLOSED, "acme-1")),
    # two requests of the same mean, and a class whose cache holds 21 of them
    {**EXAMPLE, "query_class": "rag", "input_tokens": 20_000, "output_tokens": 80},
    {**EXAMPLE, "query_class": "rag", "input_tokens": 20_000, "output_tokens": 120},
    {**EXAMPLE, "query_class": "reasoning", "input_tokens": 9_000_000},
    {"query_class": "other", "input_tokens": 0, "output_tokens": 0},
    {**EXAMPLE, "query_class": "summarization", "output_tokens": 0},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=3), Deployment(QWEN, batch=64)))
    return book_of(ROWS, settings=settings, targets=["mart_concurrency", "mart_energy_per_class"])


def line(book: Book, model: str = LLAMA, query_class: str = "chat") -> dict[float, dict[str, Any]]:
    """Return the rows of a model and class by batch."""
    rows = rows_of(book, "select * from mart_concurrency order by batch")
    return {
        row["batch"]: row
        for row in rows
        if (row["model_id"], row["query_class"]) == (model, query_class)
    }


def test_the_ladder_has_the_effective_batch_in_its_place(book: Book) -> None:
    rows = line(book)

    assert list(rows) == [1, 2, 3, *LADDER[2:]]
    assert [batch for batch, row in rows.items() if row["is_effective"]] == [3]
    assert {row["batch_source"] for row in rows.values()} == {"told"}


def test_the_ladder_ends_where_the_cache_is_full(book: Book) -> None:
    # 426,788 positions / 20,100 = 21.2
    assert list(line(book, query_class="rag")) == [1, 2, 3, 4, 8, 16]


def test_at_batch_one_the_worked_example_takes_what_it_takes_alone(book: Book) -> None:
    row = line(book)[1]

    assert row["energy_j_per_request"] == pytest.approx(EXAMPLE_GPU_J, rel=1e-9)
    assert row["energy_j_per_output_token"] == pytest.approx(EXAMPLE_GPU_J / 300, rel=1e-9)
    assert row["facility_energy_kwh_per_request"] == pytest.approx(
        EXAMPLE_GPU_J * FACILITY / 3.6e6, rel=1e-9
    )


@pytest.mark.parametrize("batch", [2, 3, 4, 256])
def test_a_batch_saves_all_but_its_share_of_what_it_shares(book: Book, batch: int) -> None:
    rows = line(book)

    saved = rows[1]["gpu_energy_j"] - rows[batch]["gpu_energy_j"]
    assert saved == pytest.approx(DENSE_BIAS * SHARED_J * (1 - 1 / batch), rel=1e-9)


def test_a_line_of_several_requests_divides_by_them(book: Book) -> None:
    row = line(book, query_class="rag")[1]

    assert (row["request_count"], row["output_tokens"]) == (2, 200)
    assert row["energy_j_per_request"] == row["gpu_energy_j"] / 2
    assert row["energy_j_per_output_token"] == row["gpu_energy_j"] / 200


def test_with_experts_a_larger_batch_reads_more_weights(book: Book) -> None:
    # 48 layers; 905,969,664 of attention, 48 · 3 · 2048 · 768 an expert, 151,936 · 2048 the head
    def shared_j(batch: int) -> float:
        touched = 128 * (1 - Fraction(120, 128) ** batch)
        weights = 2 * (905_969_664 + touched * 226_492_416 + 311_164_928)
        return float(300 * (1.394e-10 * float(weights) + 0.0227 * 48) / batch)

    rows = line(book, QWEN)
    saved = rows[1]["energy_j"] - rows[16]["energy_j"]
    assert saved == pytest.approx(shared_j(1) - shared_j(16), rel=1e-9)


def test_the_effective_row_is_that_of_the_energy_report(book: Book) -> None:
    found = {
        (row["model_id"], row["query_class"]): row
        for row in rows_of(book, "select * from mart_concurrency where is_effective")
    }
    reported = rows_of(book, "select * from mart_energy_per_class where batch is not null")

    assert {CLOSED, ASSUMED, QWEN} < {row["model_id"] for row in reported}
    for row in reported:
        mine = found.pop((row["model_id"], row["query_class"]))
        for name in (
            *("energy_j", "gpu_energy_j", "energy_low_j", "energy_high_j"),
            "facility_energy_kwh",
        ):
            assert mine[name] == pytest.approx(row[name], rel=1e-12, abs=0), name
        for name in ("batch", "batch_source", "batch_max", "evidence_grade", "output_tokens"):
            assert mine[name] == row[name]
    assert found == {}


def test_energy_per_request_never_rises_with_the_batch(book: Book) -> None:
    rows = rows_of(book, "select * from mart_concurrency order by model_id, query_class, batch")

    pairs = [
        (one["energy_j_per_request"], two["energy_j_per_request"])
        for one, two in pairwise(rows)
        if (one["model_id"], one["query_class"]) == (two["model_id"], two["query_class"])
    ]
    assert len(pairs) == len(rows) - 6  # lines
    assert all(two <= one for one, two in pairs)


def test_no_model_of_the_catalog_takes_more_energy_at_a_larger_batch(
    book_of: Callable[..., Book],
) -> None:
    ids = [each["model_id"] for each in reference_rows("models")]
    book = book_of(
        [{**EXAMPLE, "model_name": model} for model in ids], targets=["mart_concurrency"]
    )
    rows = rows_of(book, "select * from mart_concurrency order by provider, model_id, batch")

    assert len({row["model_id"] for row in rows}) == len(set(ids))
    assert [
        (one["model_id"], two["batch"])
        for one, two in pairwise(rows)
        if one["model_id"] == two["model_id"]
        and two["energy_j_per_request"] > one["energy_j_per_request"]
    ] == []


def test_without_output_no_batch_saves_anything(book: Book) -> None:
    rows = line(book, query_class="summarization").values()

    assert len({row["energy_j_per_request"] for row in rows}) == 1
    assert {row["energy_j_per_output_token"] for row in rows} == {None}


def test_a_batch_taken_as_given_has_the_range_of_the_grade_alone(book: Book) -> None:
    rows = line(book, ASSUMED)
    [grade] = [each for each in reference_rows("grade_ranges") if each["evidence_grade"] == "B"]

    assert {row["evidence_grade"] for row in rows.values()} == {"B"}
    for batch, row in rows.items():
        ends = (row["energy_low_j"] / row["gpu_energy_j"], row["energy_high_j"])
        if batch != 8:
            assert ends[0] == pytest.approx(float(grade["low_ratio"]))
            assert ends[1] == pytest.approx(row["gpu_energy_j"] * float(grade["high_ratio"]))
    # the assumed batch is in doubt itself
    assert rows[8]["energy_low_j"] < rows[8]["gpu_energy_j"] * float(grade["low_ratio"])


@pytest.mark.parametrize(
    ("model", "query_class"),
    [
        pytest.param("acme-1", "chat", id="an unknown model"),
        pytest.param(LLAMA, "reasoning", id="a request that does not fit"),
        pytest.param(LLAMA, "other", id="no work"),
    ],
)
def test_what_has_no_batch_has_no_line(book: Book, model: str, query_class: str) -> None:
    assert line(book, model, query_class) == {}


# Savings, world by world -----------------------------------------------------------------------


def worlds_of(book: Book, model: str, batch: float) -> list[dict[str, Any]]:
    return rows_of(
        book,
        f"select * from int_batch_draws where model_id = '{model}' and query_class = 'chat' "
        f"and batch = {batch} order by draw",
    )


def test_the_batch_in_force_has_no_saving_on_itself(book: Book) -> None:
    row = line(book)[3]

    assert [value for name, value in row.items() if name.startswith("saving_")] == [None] * 5
    assert row["assumption"] is None


def test_a_batch_told_is_sure_so_a_larger_one_saves_in_every_world(book: Book) -> None:
    rows = line(book)
    whole = EXAMPLE_GPU_J - DENSE_BIAS * SHARED_J * (1 - 1 / 3)

    # at 4 instead of 3 a pass costs each a quarter of what all share in place of a third
    assert rows[4]["saving_frac"] == pytest.approx(DENSE_BIAS * SHARED_J / 12 / whole, rel=1e-8)
    assert [rows[batch]["saving_positive_frac"] for batch in (1, 2, 4, 256)] == [0, 0, 1, 1]
    assert rows[4]["saving_low_frac"] < rows[4]["saving_frac"] < rows[4]["saving_high_frac"]
    assert rows[4]["assumption"] == "enough requests wait together to fill this batch"


def test_a_world_at_another_batch_is_its_own_prices_on_the_shared_part(book: Book) -> None:
    [one] = [row for row in worlds_of(book, LLAMA, 1) if row["draw"] == 7]
    [four] = [row for row in worlds_of(book, LLAMA, 4) if row["draw"] == 7]
    [eight] = [row for row in worlds_of(book, LLAMA, 8) if row["draw"] == 7]

    # What all share falls as 1 / batch, so from 1 to 4 it saves six times what 4 to 8 does.
    assert one["gpu_energy_j"] - four["gpu_energy_j"] == pytest.approx(
        6 * (four["gpu_energy_j"] - eight["gpu_energy_j"]), rel=1e-9
    )
    assert one["in_force_energy_j"] == four["in_force_energy_j"] == eight["in_force_energy_j"]


def test_what_is_in_force_in_a_world_is_what_the_class_takes_there(book: Book) -> None:
    for model in (LLAMA, QWEN, CLOSED):
        drawn = rows_of(
            book,
            f"select gpu_energy_j from int_class_draws where model_id = '{model}' "
            "and query_class = 'chat' order by draw",
        )
        in_force = [row["in_force_energy_j"] for row in worlds_of(book, model, 2)]
        assert in_force == pytest.approx([row["gpu_energy_j"] for row in drawn], rel=1e-9)


@pytest.mark.parametrize("model", [ASSUMED, CLOSED])
def test_an_assumed_batch_may_be_larger_already(book: Book, model: str) -> None:
    batches = rows_of(
        book,
        f"select distinct draw, batch from int_rate_draws where model_id = '{model}' "
        "and query_class = 'chat'",
    )
    rows = [row for row in line(book, model).values() if not row["is_effective"]]

    assert len(batches) == 256 and len(rows) > 5
    for row in rows:  # it saves in the worlds that are served at less
        below = sum(world["batch"] < row["batch"] for world in batches)
        assert row["saving_positive_frac"] == below / 256


def test_a_saving_is_more_the_larger_the_batch(book: Book) -> None:
    for model in (LLAMA, QWEN, CLOSED):
        rows = [row for row in line(book, model).values() if not row["is_effective"]]
        for smaller, larger in pairwise(rows):
            assert smaller["saving_frac"] < larger["saving_frac"]
            assert smaller["saving_positive_frac"] <= larger["saving_positive_frac"]
