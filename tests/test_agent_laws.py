"""A growing context costs step by step what the closed forms say, and caches pay when they do."""

import math
import random
from fractions import Fraction
from typing import NamedTuple

import pytest

from pipeline.laws import agents, work

Exact = Fraction


class Case(NamedTuple):
    """Joules of a token, pair and position, and the lengths of an agent's steps; all exact."""

    token_j: Exact
    pair_j: Exact
    position_j: Exact
    n: int  # context
    kept: int
    grown: int  # new input tokens of a step
    m: int


def cases(count: int = 50) -> list[Case]:
    dice = random.Random("agents")  # noqa: S311 no secret
    return [
        Case(
            token_j=Exact(dice.randint(1, 1000), 10**3),
            pair_j=Exact(dice.randint(1, 1000), 10**8),
            position_j=Exact(dice.randint(1, 1000), 10**7),
            n=(n := dice.randint(100, 90_000)),
            kept=dice.randint(1, n - 1),
            grown=dice.randint(0, 5_000),
            m=dice.randint(1, 2_000),
        )
        for _ in range(count)
    ]


def step_j(case: Case, input_tokens: int, cached_tokens: int) -> Exact:
    """Return what of a step's energy depends on its context, by the counts of the law of work."""
    n, k, m = Exact(input_tokens), Exact(cached_tokens), Exact(case.m)
    pairs = work.prefill_pairs(n, k, 1, 1) + work.decode_pairs(n, m, 1, 1, 1)
    return Exact(
        case.token_j * work.prefilled_tokens(n, k, 1)
        + case.pair_j * pairs
        + case.position_j * work.cache_positions(n, m, 1, 1, 1)
    )


@pytest.mark.parametrize("case", cases())
def test_each_cached_step_after_compaction_saves_the_same(case: Case) -> None:
    saved = [
        step_j(case, case.n + case.grown * t, case.n + case.grown * (t - 1))
        - step_j(case, case.kept + case.grown * t, case.kept + case.grown * (t - 1))
        for t in (1, 2, 7)
    ]

    expected = agents.cached_step_saving_energy_j(
        case.pair_j, case.position_j, case.n, case.kept, case.grown, case.m
    )
    assert saved == [expected] * 3


@pytest.mark.parametrize("case", cases())
def test_each_uncached_step_after_compaction_saves_more_than_the_one_before(case: Case) -> None:
    n, kept = Exact(case.n), Exact(case.kept)
    first = agents.recomputed_step_saving_energy_j(
        case.token_j, case.pair_j, case.position_j, n, kept, case.m
    )
    growth = agents.recomputed_step_growth_energy_j(case.pair_j, n, kept, case.grown)

    for t in (0, 1, 2, 7):
        grown = case.grown * t
        assert (
            step_j(case, case.n + grown, 0) - step_j(case, case.kept + grown, 0)
            == first + growth * t
        )


def test_the_first_whole_step_at_or_after_the_horizon_is_the_first_that_has_paid() -> None:
    dice = random.Random("horizon")  # noqa: S311 no secret
    for _ in range(200):
        once, first, growth = dice.uniform(1, 1e5), dice.uniform(1, 1e3), dice.uniform(0, 50)
        saved, steps = 0.0, 0
        while saved < once:
            steps += 1
            saved += first + growth * steps

        assert math.ceil(agents.growing_paying_steps(once, first, growth)) == steps


def test_a_saving_that_does_not_grow_pays_after_the_plain_quotient() -> None:
    assert agents.growing_paying_steps(100, 8, 0) == pytest.approx(12.5)
    assert agents.paying_steps(100, 8) == 12.5


def test_savings_of_3_4_5_and_6_pay_18_after_four_steps() -> None:
    # first 2, growing by 1: 3 + 4 + 5 + 6 = 18
    assert agents.growing_paying_steps(18, 2, 1) == pytest.approx(4)


def test_a_five_minute_write_pays_after_0_28_reads_and_an_hour_after_1_11() -> None:
    # input 3, read 0.30, writes 3.75 and 6 USD: 0.75 / 2.7 and 3 / 2.7
    assert agents.cache_write_paying_reads(3, 0.3, 3.75) == pytest.approx(0.75 / 2.7)
    assert agents.cache_write_paying_reads(3, 0.3, 6) == pytest.approx(3 / 2.7)
    assert round(0.75 / 2.7, 2) == 0.28
    assert round(3 / 2.7, 2) == 1.11


def total(steps: int, power_of: str) -> Exact:
    """Return the pairs, or tokens, that steps of a context growing by 10 prefill in all."""
    lengths = [Exact(10 * t) for t in range(1, steps + 1)]
    if power_of == "tokens":
        return sum((work.prefilled_tokens(n, 0, 1) for n in lengths), Exact(0))
    if power_of == "pairs":
        return sum((work.prefill_pairs(n, 0, 1, 1) for n in lengths), Exact(0))
    return sum((work.prefill_pairs(n, n - 10, 1, 1) for n in lengths), Exact(0))


@pytest.mark.parametrize(("what", "factor"), [("tokens", 4), ("pairs", 8), ("cached pairs", 4)])
def test_twice_the_steps_take_4_times_the_tokens_and_uncached_8_times_the_pairs(
    what: str, factor: int
) -> None:
    assert float(total(2_000, what) / total(1_000, what)) == pytest.approx(factor, rel=0.002)
