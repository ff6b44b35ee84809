"""How many items of shared input a call should hold: by the closed form, by search, by limits."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import DENSE_BIAS, Book, rows_of

from pipeline.settings import Deployment, Settings

LLAMA = "meta-llama/Llama-3.1-8B"
GPT = {"provider": "openai", "model_name": "gpt-5-mini"}
WORK = {
    "query_class": "batch_extraction",
    "input_tokens": 3_000,
    "cache_read_tokens": 200,
    "output_tokens": 10,
}
ROWS = [
    *(WORK for _ in range(2)),
    *(WORK | GPT for _ in range(2)),
    # answers of 5,000 tokens: two would pass 8,192
    *(WORK | {"query_class": "summarization", "output_tokens": 5_000} for _ in range(2)),
    # one item of 72,000 tokens more and the context of 131,072 is full
    *(WORK | {"query_class": "rag", "input_tokens": 80_000} for _ in range(2)),
    *(WORK | {"query_class": "chat"} for _ in range(2)),
    *(WORK | {"model_name": "acme-1"} for _ in range(2)),
    WORK | {"model_name": "Qwen/Qwen3-32B"},
    *(WORK | {"model_name": "Qwen/Qwen3-8B", "output_tokens": 0} for _ in range(2)),
    *(WORK | {"model_name": "Qwen/Qwen3-4B", "cache_read_tokens": 2_999} for _ in range(2)),
]
SHARED = 0.4  # of the input of batch extraction


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=4, gpu="H100-SXM", gpu_count=1),))
    return book_of(ROWS, settings=settings, targets=["mart_items_per_call"])


def line(book: Book, model: str = LLAMA, query_class: str = "batch_extraction") -> dict[str, Any]:
    [row] = rows_of(
        book,
        f"select * from mart_items_per_call where model_id = '{model}' "
        f"and query_class = '{query_class}'",
    )
    return row


def item_energy_j(
    items: int, lengths: tuple[float, float, float, float], batch: float = 4, room: float = 1e9
) -> float:
    """Return GPU joules per item of Llama-3.1-8B, from FLOP and bytes of one call.

    Lengths are shared, cached, an item's input and its output; `room` is what the cache holds of
    each request of the batch, and longer calls make the batch smaller.
    """
    a, b, body, head, pair, kv = 1.199e-12, 2.551e-10, 6_979_321_856, 525_336_576, 524_288, 131_072
    shared, k, item, output = lengths
    n, m = shared + items * item, items * output
    prefill = 2 * body * (n - k) + pair * (n * (n + 1) - k * (k + 1)) / 2 + 2 * head
    decode = 2 * (body + head) * (m - 1) + pair * ((n + m - 1) * (n + m) - n * (n + 1)) / 2
    cache = kv * (n * m + m * (m - 1) / 2)
    shared_j = (1.394e-10 * 15_009_316_864 + 0.0227 * 32) * m / min(batch, batch * room / (n + m))
    return DENSE_BIAS * (a * (prefill + decode) + b * cache + shared_j) / items


# of 3,000 tokens 1,200 are shared, 200 of these cached; an item adds 1,800 and writes 10
LENGTHS = (1_200, 200, 1_800, 10)


def test_the_items_are_those_of_a_search_and_the_saving_is_the_difference(book: Book) -> None:
    row = line(book)
    best = min(range(1, 100), key=lambda items: item_energy_j(items, LENGTHS))

    assert row["best_items"] == best == 3
    assert row["best_items_limit"] is None
    assert row["energy_j_per_single_item"] == pytest.approx(item_energy_j(1, LENGTHS))
    assert row["saving_j_per_item"] == pytest.approx(
        item_energy_j(1, LENGTHS) - item_energy_j(3, LENGTHS)
    )


def test_the_optimum_is_the_arithmetic_of_the_law(book: Book) -> None:
    # once: 2aP · 999 + aQ · (1,200 · 1,199 − 200 · 201) / 2 = 16.719677 + 0.439595 J
    # growing: aQ · 1,800² / 2 + (b · KV + aQ) · (1,800 · 10 + 10² / 2) = 1.018367 + 0.614875 J
    # sqrt(17.159272 / 1.633241) = 3.24134
    assert line(book)["optimum_items"] == pytest.approx(3.24134, abs=1e-5)


def test_calls_beyond_the_cache_are_served_in_a_smaller_batch(book_of: Callable[..., Book]) -> None:
    # 426,788 positions // 3,010 = 141 requests of 3,010 tokens; three items take 6,630
    settings = Settings(deployments=(Deployment(LLAMA, batch=200, gpu="H100-SXM", gpu_count=1),))
    row = line(book_of([WORK, WORK], settings=settings, targets=["mart_items_per_call"]))
    found = {items: item_energy_j(items, LENGTHS, 141, 3_010) for items in range(1, 100)}

    assert (row["batch"], row["cache_items"]) == (141, 1)
    assert row["best_items"] == min(found, key=lambda items: found[items])
    assert row["energy_j_per_item"] == pytest.approx(found[row["best_items"]])
    assert row["energy_j_per_item"] > item_energy_j(row["best_items"], LENGTHS, 141)


def test_cost_falls_up_to_the_limit_that_comes_first(book: Book) -> None:
    # the context holds (131,072 − 1,200) / 1,810 = 71.8 items, an answer 8,192 / 10 = 819
    row = line(book)
    assert (row["cost_items"], row["cost_items_limit"]) == (71, "context")

    wordy = line(book, query_class="summarization")  # 8,192 / 5,000
    assert (wordy["cost_items"], wordy["cost_items_limit"]) == (1, "longest answer")
    assert (wordy["best_items"], wordy["saving_j_per_item"]) == (1, 0)
    assert wordy["saving_positive_frac"] == 0
    ends = [wordy[f"saving_{end}_j_per_item"] for end in ("low", "p50", "high")]
    assert ends == [0, 0, 0]  # alone against alone, in every draw

    long = line(book, query_class="rag")  # (131,072 − 8,000) / 72,010
    assert (long["cost_items"], long["cost_items_limit"]) == (1, "context")


def test_the_money_is_the_shared_input_that_is_paid_once(book: Book) -> None:
    row = line(book, "gpt-5-mini")
    [(uncached, cached)] = book.execute(
        "select uncached_input_usd_per_mtok, cache_read_usd_per_mtok from int_price_bands "
        "inner join int_usage_groups using (price_band_id) "
        "where int_usage_groups.model_id = 'gpt-5-mini'"
    ).fetchall()
    shared_usd = (1_000 * float(uncached) + 200 * float(cached)) / 1e6

    assert row["best_items"] == 2
    assert float(row["saving_usd_per_item"]) == pytest.approx(
        shared_usd * (1 - 1 / row["best_items"])
    )
    assert float(row["cost_items_saving_usd_per_item"]) == pytest.approx(
        shared_usd * (1 - 1 / row["cost_items"])
    )
    assert row["evidence_grade"] == "D"
    # even 450 shared tokens, of them 200 cached, are bought once instead of twice
    assert row["cost_saving_positive_frac"] == row["cost_items_saving_positive_frac"] == 1


def test_own_servers_save_no_listed_money(book: Book) -> None:
    row = line(book)

    assert (row["saving_usd_per_item"], row["saving_p50_usd_per_item"]) == (None, None)
    assert row["cost_saving_positive_frac"] is row["cost_items_saving_positive_frac"] is None


@pytest.mark.parametrize("model", [LLAMA, "gpt-5-mini"])
def test_a_saving_names_its_assumption_and_has_its_range(book: Book, model: str) -> None:
    row = line(book, model)

    assert row["assumption"] == "shared_input_frac_batch_extraction"
    assert row["shared_input_frac"] == SHARED
    assert row["evidence_grade"] in ("C", "D")
    low, middle, high = (row[f"saving_{end}_j_per_item"] for end in ("low", "p50", "high"))
    assert low < middle < high
    assert low <= row["saving_j_per_item"] <= high
    # three draws of sixteen share 450 tokens only, of which 200 are cached: they save nothing
    assert row["saving_positive_frac"] == pytest.approx(13 / 16)


def test_what_settings_fix_has_no_doubt_of_its_own(book_of: Callable[..., Book]) -> None:
    settings = Settings(
        deployments=(Deployment(LLAMA, batch=4),),
        assumptions={"shared_input_frac_batch_extraction": 0.9},
    )
    row = line(book_of([WORK, WORK], settings=settings, targets=["mart_items_per_call"]))

    assert row["shared_input_low_frac"] == row["shared_input_high_frac"] == 0.9
    assert row["item_input_tokens"] == pytest.approx(300)
    assert row["saving_positive_frac"] == 1


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("acme-1", "no energy: the model or its place on GPUs is unknown"),
        ("Qwen/Qwen3-32B", "a single request"),
        ("Qwen/Qwen3-8B", "no output of an item"),
        ("Qwen/Qwen3-4B", "no input of an item: all of it is cached"),
    ],
)
def test_where_there_is_not_enough_nothing_is_said(book: Book, model: str, reason: str) -> None:
    row = line(book, model)

    assert row["reason"] == reason
    said = ("optimum_items", "best_items", "saving_j_per_item", "saving_usd_per_item")
    assert [row[name] for name in said] == [None] * 4


def test_work_that_shares_nothing_by_assumption_is_left_out(book: Book) -> None:
    assert rows_of(book, "select 1 from mart_items_per_call where query_class = 'chat'") == []
