"""One more token costs what the law says, and the implied batch is where prices meet energies."""

import random
from fractions import Fraction
from typing import NamedTuple

import pytest

from pipeline.laws import decisions, simple, work

Exact = Fraction


class Case(NamedTuple):
    """An architecture, coefficients and lengths; numbers are exact."""

    body: int
    head: int
    pair_flop: int
    kv_bytes: int
    state_bytes: int
    weight_bytes: int
    layers: int
    gpus: int
    a: Exact
    b: Exact
    c: Exact
    s: Exact
    n: int
    k: int
    m: int


def cases(count: int = 50) -> list[Case]:
    dice = random.Random("decisions")  # noqa: S311 no secret

    def some(low: int, high: int) -> int:
        return dice.randint(low, high)

    def joules(scale: int) -> Exact:
        return Exact(some(1, 1000), 10**scale)

    return [
        Case(
            body=some(10**8, 10**11),
            head=some(10**6, 10**9),
            pair_flop=some(10**4, 10**7),
            kv_bytes=some(10**3, 10**6),
            state_bytes=some(0, 10**8),
            weight_bytes=some(10**9, 10**11),
            layers=some(8, 120),
            gpus=some(1, 8),
            a=joules(14),
            b=joules(12),
            c=joules(12),
            s=joules(4),
            n=(n := some(2, 20_000)),
            k=some(0, n - 1),
            m=some(1, 5_000),
        )
        for _ in range(count)
    ]


def energy_j(case: Case, n: int, m: int, batch: Exact) -> Exact:
    """Return the energy of a request by the law itself."""
    pairs = work.prefill_pairs(n, case.k, 1, 1)
    prefill = work.prefill_flop(case.body, case.head, case.pair_flop, n - case.k, Exact(pairs), 1)
    attention = work.decode_attention_flop(case.pair_flop, Exact(work.decode_pairs(n, m, 1, 1, 1)))
    cache = work.kv_read_bytes(case.kv_bytes, Exact(work.cache_positions(n, m, 1, 1, 1)))
    moved = cache + work.state_moved_bytes(case.state_bytes, m)
    return Exact(
        simple.prefill_energy_j(case.a, prefill)
        + simple.kv_cache_energy_j(case.a, case.b, moved, attention)
        + simple.next_token_energy_j(
            case.a,
            case.c,
            case.s,
            0,
            work.decode_flop(case.body, case.head, m - 1),
            work.weight_read_bytes(case.weight_bytes, m),
            work.layer_steps(case.layers, m, case.gpus),
            m * case.gpus,
            batch,
        )
    )


def parts(case: Case) -> tuple[Exact, Exact, Exact]:
    """Return the next input token, the next output token's own part, and what a pass shares."""
    pair, position = case.a * case.pair_flop, case.b * case.kv_bytes
    return (
        decisions.next_input_token_energy_j(2 * case.a * case.body, pair, position, case.n, case.m),
        decisions.next_output_token_energy_j(
            2 * case.a * (case.body + case.head),
            pair,
            position,
            2 * case.b * case.state_bytes,
            case.n,
            case.m,
        ),
        case.c * case.weight_bytes + case.s * case.layers * case.gpus,
    )


@pytest.mark.parametrize("case", cases())
def test_the_next_token_is_the_difference_of_two_requests(case: Case) -> None:
    batch = Exact(7, 2)
    before = energy_j(case, case.n, case.m, batch)
    next_input, next_output, shared = parts(case)

    assert energy_j(case, case.n + 1, case.m, batch) - before == next_input
    assert energy_j(case, case.n, case.m + 1, batch) - before == next_output + shared / batch


@pytest.mark.parametrize("case", cases())
def test_at_the_implied_batch_energies_stand_as_prices_do(case: Case) -> None:
    next_input, next_output, shared = parts(case)
    ratio = (next_output + shared / 37) / next_input  # what a batch of 37 would charge

    assert decisions.implied_batch(ratio, next_input, next_output, shared) == 37


@pytest.mark.parametrize("case", cases(20))
def test_the_closed_form_is_what_a_search_finds(case: Case) -> None:
    next_input, next_output, shared = (float(part) for part in parts(case))
    ratio = (next_output + shared / 5) / next_input * 1.3
    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = (low * high) ** 0.5
        is_too_small = (next_output + shared / middle) / next_input > ratio
        low, high = (middle, high) if is_too_small else (low, middle)

    found = decisions.implied_batch(ratio, next_input, next_output, shared)

    assert found == pytest.approx(low, rel=1e-9)


def test_a_dearer_output_implies_a_smaller_batch() -> None:
    batches = [decisions.implied_batch(ratio, 1, 2, 100) for ratio in (2.5, 3, 4, 102)]

    assert batches == [200, 100, 50, 1]


def test_a_price_below_an_output_tokens_own_work_implies_no_batch() -> None:
    assert decisions.implied_batch(1.5, 1, 2, 100) < 0


def rates(case: Case, batch: Exact) -> tuple[Exact, Exact, Exact, Exact, Exact, Exact]:
    """Return the joules of a token, a pair, a prompt, a position, a step and a pass."""
    shared = case.c * case.weight_bytes + case.s * case.layers * case.gpus
    return (
        2 * case.a * case.body,
        case.a * case.pair_flop,
        2 * case.a * case.head,
        case.b * case.kv_bytes,
        2 * case.a * (case.body + case.head),
        shared / batch + 2 * case.b * case.state_bytes,
    )


@pytest.mark.parametrize("case", cases(20))
def test_a_request_from_its_rates_is_the_request_of_the_law(case: Case) -> None:
    batch = Exact(7, 2)

    found = decisions.request_energy_j(*rates(case, batch), Exact(case.n), case.k, Exact(case.m))

    assert found == energy_j(case, case.n, case.m, batch)


def item_energy_j(case: Case, own: tuple[int, int], items: Exact) -> Exact:
    """Return the energy per item of a call of the case's input and of items of `own` lengths."""
    n1, m1 = own
    lengths = (case.n + items * n1, Exact(case.k), items * m1)
    return Exact(decisions.request_energy_j(*rates(case, Exact(8)), *lengths)) / items


@pytest.mark.parametrize("case", cases())
def test_no_number_of_items_takes_less_than_the_one_of_the_closed_form(case: Case) -> None:
    own = (case.m % 97 + 1, case.m % 31 + 1)
    token, pair, _, position, _, _ = rates(case, Exact(8))

    best = decisions.least_energy_items(
        float(token), float(pair), float(position), case.n, case.k, *own, 0
    )
    there = item_energy_j(case, own, Exact(best))

    for other in (best * 0.9, best * 1.1, best / 4, best * 4, best + 1):
        if other >= 1:  # a call has one item at least
            assert there < item_energy_j(case, own, Exact(other))


def test_the_items_of_least_energy_of_llama_are_those_of_a_search() -> None:
    # Llama-3.1-8B, 2,000 shared tokens, items of 200 tokens in and 50 out
    a, b, body, pair, kv = 1.199e-12, 2.551e-10, 6_979_321_856, 524_288, 131_072
    head, shared = 525_336_576, 1.394e-10 * 15_009_316_864 + 0.0227 * 32

    def energy_per_item_j(items: int) -> float:
        n, m = 2_000 + 200 * items, 50 * items
        prefill = 2 * body * n + pair * n * (n + 1) / 2 + 2 * head
        decode = 2 * (body + head) * (m - 1) + pair * ((n + m - 1) * (n + m) - n * (n + 1)) / 2
        cache = kv * (n * m + m * (m - 1) / 2)
        return (a * (prefill + decode) + b * cache + shared * m / 8) / items

    best = decisions.least_energy_items(2 * a * body, a * pair, b * kv, 2_000, 0, 200, 50, 0)

    # once 1.6736e-2 · 1,999 + 6.2862e-7 · 1,999,000 = 34.712 J
    # growing 6.2862e-7 · 20,000 + 3.4065e-5 · (10,000 + 1,250) = 0.39581 J; sqrt(34.712 / 0.39581)
    assert best == pytest.approx(9.3647, abs=5e-4)
    assert min(range(1, 200), key=energy_per_item_j) == 9


def test_what_is_cached_whole_needs_no_company() -> None:
    assert decisions.least_energy_items(1, 1, 1, 100, 99, 10, 10, 0) == 1


def test_where_longer_calls_leave_room_for_a_smaller_batch_fewer_items_are_best() -> None:
    # 10 J once, 0.1 J growing with the square; 0.3 J more of it where the cache is full
    free = decisions.least_energy_items(10, 0, 0.1, 2, 0, 0.5, 1, 0)
    crowded = decisions.least_energy_items(10, 0, 0.1, 2, 0, 0.5, 1, 0.3)

    assert (free, crowded) == (pytest.approx(10), pytest.approx(5))  # sqrt(10/0.1), sqrt(10/0.4)
