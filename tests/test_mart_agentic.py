"""Agentic tasks without a cache, as logged and fully cached: tokens, joules and money by hand."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import DENSE_BIAS, Book, Rows, rows_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

AGENT = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "agentic"}
OWN = {"provider": "vllm", "query_class": "agentic"}
# The month names the case.
CASES: dict[str, Rows] = {
    "2026-01": [  # list prices in USD a million: input 3, read 0.30, write 3.75 and 6, output 15
        {
            **AGENT,
            **{"task_id": "t", "occurred_at": "2026-01-05T10:00:00Z"},
            **{"uncached_input_tokens": 0, "cache_read_tokens": 0, "output_tokens": 100},
            **{"cache_write_5m_tokens": 1_000},
        },
        {
            **AGENT,
            **{"task_id": "t", "occurred_at": "2026-01-05T10:01:00Z", "status": "failed"},
            **{"uncached_input_tokens": 500, "cache_read_tokens": 600, "output_tokens": 100},
            **{"cache_write_5m_tokens": 300, "cache_write_1h_tokens": 100},
        },
    ],
    "2026-02": [  # of own: three steps, the second of another class, the third too late
        {**OWN, "task_id": "t", "occurred_at": "2026-02-05T10:00:00Z", "input_tokens": 1_000},
        {
            **OWN,
            **{"task_id": "t", "occurred_at": "2026-02-05T10:01:00Z", "input_tokens": 1_400},
            "query_class": "chat",
        },
        {**OWN, "task_id": "t", "occurred_at": "2026-02-05T10:07:00Z", "input_tokens": 2_000},
    ],
    "2026-03": [  # a shorter step starts anew, the one after it follows
        {**OWN, "task_id": "t", "occurred_at": "2026-03-05T10:00:00Z", "input_tokens": 1_000},
        {**OWN, "task_id": "t", "occurred_at": "2026-03-05T10:01:00Z", "input_tokens": 200},
        {**OWN, "task_id": "t", "occurred_at": "2026-03-05T10:02:00Z", "input_tokens": 300},
    ],
    "2026-04": [{**OWN, "input_tokens": 1_000}, {**OWN, "input_tokens": 1_400}],  # of no task
    "2026-05": [
        {**OWN, "task_id": "t", "occurred_at": "2026-05-05T10:00:00Z", "is_cache_known": False},
        {**OWN, "task_id": "t", "occurred_at": "2026-05-05T10:01:00Z", "is_cache_known": False},
    ],
    "2026-06": [{"provider": "vllm", "task_id": "t", "query_class": "chat"}],  # no agent
    "2026-07": [{**OWN, "task_id": "t", "model_name": "acme-1"}],  # a model that nobody knows
}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    lengths = {"input_tokens": 900, "output_tokens": 300, "cache_read_tokens": 0}
    rows = []
    for month, cases in CASES.items():
        for row in cases:
            usage = lengths | {"occurred_at": f"{month}-05T10:00:00Z"} | row
            if usage.get("is_cache_known") is False:
                del usage["cache_read_tokens"]
            if "uncached_input_tokens" in usage:
                del usage["input_tokens"]
            rows.append(usage)
    return book_of(rows, targets=["mart_agentic"])


def states(book: Book, month: str) -> dict[str, Any]:
    rows = rows_of(book, f"select * from mart_agentic where month = '{month}'")
    return {row["cache_state"]: row for row in rows}


@pytest.mark.slow
def test_a_task_of_two_steps_costs_what_its_cache_lets_it(book: Book) -> None:
    found = {name: row["list_cost_usd"] for name, row in states(book, "2026-01").items()}

    assert found == {
        # 2,500 · 3 + 200 · 15 = 10,500 millionths
        "uncached": Decimal("0.010500"),
        # 500 · 3 + 600 · 0.3 + 1,300 · 3.75 + 100 · 6 + 200 · 15 = 10,155
        "as_cached": Decimal("0.010155"),
        # 1,000 · 0.3 + 1,500 · 3.75 + 200 · 15 = 8,925
        "fully_cached": Decimal("0.008925"),
    }
    saved = {name: row["saved_list_cost_usd"] for name, row in states(book, "2026-01").items()}
    assert saved == {
        "uncached": None,
        "as_cached": Decimal("0.000345"),
        "fully_cached": Decimal("0.001230"),
    }
    # list prices are exact, so what saves money does so in every draw
    sure = [
        states(book, "2026-01")[name]["cost_saving_probability_frac"]
        for name in ("uncached", "as_cached", "fully_cached")
    ]
    assert sure == [None, 1, 1]


def test_failed_steps_count_and_a_task_counts_once(book: Book) -> None:
    row = states(book, "2026-01")["as_cached"]

    assert (row["task_count"], row["request_count"], row["failed_request_count"]) == (1, 2, 1)
    assert row["list_cost_usd_per_task"] == pytest.approx(0.010155)


def test_what_no_later_step_reads_back_is_an_unread_write(book: Book) -> None:
    row = states(book, "2026-01")["as_cached"]

    # of the 1,000 of the first step the second reads 600; of its own 300 + 100 nobody reads any
    assert row["cache_write_tokens"] == 1_400
    assert row["unread_cache_write_tokens"] == 400 + 400
    # above plain input: 700 · (3.75 − 3) + 100 · (6 − 3) = 825 millionths
    assert row["unread_cache_write_usd"] == Decimal("0.000825")
    assert row["unfollowed_cache_write_tokens"] == 0


def test_writes_pay_after_the_reads_that_the_price_rows_imply(book: Book) -> None:
    row = states(book, "2026-01")["as_cached"]

    assert row["cache_write_5m_paying_reads_ratio"] == pytest.approx((3.75 - 3) / (3 - 0.3))
    assert row["cache_write_1h_paying_reads_ratio"] == pytest.approx((6 - 3) / (3 - 0.3))


# 1.199e-12 J/FLOP times the bias: of a token in prefill, and of a pair of tokens
TOKEN_J = DENSE_BIAS * 1.199e-12 * 2 * 6_979_321_856
PAIR_J = DENSE_BIAS * 1.199e-12 * 524_288


def test_a_cached_step_saves_the_prefill_of_what_it_finds(book: Book) -> None:
    found = states(book, "2026-02")

    # the second step finds 1,000 of 1,400; the third begins 6 minutes after it, too late
    assert {name: row["cache_read_tokens"] for name, row in found.items()} == {
        "uncached": 0,
        "as_cached": 0,
        "fully_cached": 1_000,
    }
    saved_j = TOKEN_J * 1_000 + PAIR_J * 1_000 * 1_001 / 2
    assert found["uncached"]["gpu_energy_j"] == found["as_cached"]["gpu_energy_j"]
    assert found["as_cached"]["gpu_energy_j"] - found["fully_cached"][
        "gpu_energy_j"
    ] == pytest.approx(saved_j)
    facility = 1.43 * 1.12 * 1.20 / 3.6e6
    assert found["fully_cached"]["saved_facility_energy_kwh"] == pytest.approx(saved_j * facility)


def test_all_steps_of_an_agentic_task_count_whatever_their_class(book: Book) -> None:
    row = states(book, "2026-02")["as_cached"]

    assert (row["task_count"], row["request_count"], row["input_tokens"]) == (1, 3, 4_400)
    energy = rows_of(
        book, "select sum(gpu_energy_j) as j from int_class_energy where month = '2026-02'"
    )
    assert row["gpu_energy_j"] == pytest.approx(energy[0]["j"])


def test_the_three_shares_are_the_whole_in_every_state(book: Book) -> None:
    for month in ("2026-01", "2026-02", "2026-03"):
        for row in states(book, month).values():
            shares = row["prefill_frac"] + row["kv_cache_frac"] + row["next_token_frac"]
            assert shares == pytest.approx(1)


def test_a_step_shorter_than_the_one_before_finds_nothing(book: Book) -> None:
    # 1,000, then 200 anew, then 300 that finds 200
    assert states(book, "2026-03")["fully_cached"]["cache_read_tokens"] == 200


@pytest.mark.parametrize(("month", "tasks"), [("2026-04", 2), ("2026-05", 1)])
def test_without_an_order_or_known_caches_nothing_is_said_of_a_full_cache(
    book: Book, month: str, tasks: int
) -> None:
    row = states(book, month)["fully_cached"]

    assert row["task_count"] == tasks
    assert row["reason"] == "no steps of a task in order whose cached tokens the log tells"
    quantities = ("gpu_energy_j", "list_cost_usd", "saved_facility_energy_kwh", "cache_read_tokens")
    assert [row[name] for name in quantities] == [None] * 4


def test_where_a_log_tells_no_cached_tokens_no_saving_is_claimed(book: Book) -> None:
    row = states(book, "2026-05")["as_cached"]

    assert row["reason"] == "the log tells no cached tokens"
    assert (row["saved_facility_energy_kwh"], row["saving_probability_frac"]) == (None, None)


def test_a_month_without_agents_has_no_line(book: Book) -> None:
    assert states(book, "2026-06") == {}


def test_an_unknown_model_has_no_energy_and_grade_u(book: Book) -> None:
    row = states(book, "2026-07")["as_cached"]

    assert (row["gpu_energy_j"], row["evidence_grade"], row["unmeasured_request_count"]) == (
        None,
        "U",
        1,
    )


def test_the_range_of_a_saving_is_that_of_prefill_and_facility_in_the_draws(book: Book) -> None:
    row = states(book, "2026-02")["fully_cached"]

    assert row["saving_probability_frac"] == 1  # prefill takes energy in every world
    assert not row["is_within_noise"]
    low, middle, high = (row[f"saved_facility_energy_{end}_kwh"] for end in ("low", "p50", "high"))
    value = row["saved_facility_energy_kwh"]
    assert low < value < high
    assert 0.85 < middle / value < 1.25


def test_what_saves_nothing_is_within_noise(book: Book) -> None:
    row = states(book, "2026-02")["as_cached"]

    assert (row["saved_facility_energy_kwh"], row["saving_probability_frac"]) == (0, 0)
    assert row["is_within_noise"]


def test_every_line_says_what_it_rests_on(book: Book) -> None:
    row = states(book, "2026-02")["fully_cached"]

    assert (row["batch"], row["evidence_grade"], row["method_version"]) == (
        8,
        "B",
        "simple-shaped 1",
    )
    assert "cache_life_s" in row["assumption"]


STEPS = st.lists(
    st.tuples(
        st.integers(1, 5_000),  # input
        st.floats(0, 1),  # share read from a cache
        st.integers(0, 400),  # seconds after the step before
        st.integers(0, 300),  # output
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.slow
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=STEPS)
def test_caching_never_raises_energy(book_of: Callable[..., Book], steps: list[Any]) -> None:
    second, rows = 0, []
    for input_tokens, cached_frac, pause, output_tokens in steps:
        second += pause
        rows.append(
            {
                **OWN,
                **{"task_id": "t", "input_tokens": input_tokens, "output_tokens": output_tokens},
                "cache_read_tokens": int(input_tokens * cached_frac),
                "occurred_at": f"2026-10-05T10:{second // 60:02d}:{second % 60:02d}Z",
            }
        )
    found = states(book_of(rows, targets=["mart_agentic"]), "2026-10")

    joules = [found[name]["gpu_energy_j"] for name in ("uncached", "as_cached", "fully_cached")]
    assert joules == sorted(joules, reverse=True)


def test_a_real_coding_session_reads_what_the_step_before_left(
    samples: Path, build: Callable[..., Book]
) -> None:
    session = samples / "logs" / "tracelab_claude_session.jsonl.gz"
    book = build(session, assume={"class": "agentic"})
    found = states(book, "2026-06")

    assert (found["as_cached"]["task_count"], found["as_cached"]["request_count"]) == (1, 10)
    # its provider's cache misses 3,037 of 397,105 tokens that the steps before had sent
    assert found["as_cached"]["cache_read_tokens"] == 394_068
    assert found["fully_cached"]["cache_read_tokens"] == 397_105
    # of 21,086 written only those of the last step are never read: 797 at 1.25 USD a million
    assert found["as_cached"]["unread_cache_write_tokens"] == 797
    assert found["as_cached"]["unread_cache_write_usd"] == Decimal("0.00099625")


@pytest.mark.slow
def test_steps_of_one_instant_give_the_same_in_any_order(book_of: Callable[..., Book]) -> None:
    alike = {**OWN, "task_id": "t", "input_tokens": 900, "output_tokens": 300}
    rows = [
        alike | {"query_class": name, "cache_read_tokens": 0}
        for name in ("agentic", "chat", "agentic", "rag")
    ]

    def found(rows: Rows) -> Rows:
        book = book_of(rows, targets=["mart_agentic"])
        return rows_of(book, "select * from mart_agentic order by all")

    assert found(rows) == found(rows[::-1]) == found([*rows[2:], *rows[:2]])
