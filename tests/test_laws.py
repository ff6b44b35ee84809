"""The law against hand-worked numbers, against brute force, and against what must always hold."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.laws import simple, work

# Llama-3.1-8B: 32 layers, hidden 4096, 32 query and 8 KV heads of 128, FFN 14336 gated, 128256.
LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, FFN, VOCAB = 32, 4096, 32, 8, 128, 14336, 128256
BODY = LAYERS * (2 * 4096 * 4096 + 2 * 4096 * 8 * 128 + 3 * 4096 * 14336)
HEAD = VOCAB * HIDDEN
PAIR = 4 * LAYERS * HEADS * HEAD_DIM
KV = 2 * 2 * LAYERS * KV_HEADS * HEAD_DIM
WEIGHTS = 2 * (BODY + HEAD)
# The default coefficient set, as fractions of a joule.
A, B, C, S = (
    Fraction(1199, 10**15),
    Fraction(2551, 10**13),
    Fraction(1394, 10**13),
    Fraction(227, 10**4),
)

tokens = st.integers(min_value=1, max_value=200_000)
outputs = st.integers(min_value=1, max_value=20_000)
batches = st.integers(min_value=1, max_value=512)


def work_of(n: int, k: int, m: int) -> dict[str, Fraction]:
    """Return the exact work of one request on Llama-3.1-8B."""
    n_, k_, m_ = Fraction(n), Fraction(k), Fraction(m)
    return {
        "prefill_flop": work.prefill_flop(
            BODY, HEAD, PAIR, work.prefilled_tokens(n_, k_, 1), work.prefill_pairs(n_, k_, 1, 1), 1
        ),
        "decode_flop": work.decode_flop(BODY, HEAD, work.decode_steps(m_, 1)),
        "decode_attention_flop": work.decode_attention_flop(
            PAIR, work.decode_pairs(n_, m_, 1, 1, 1)
        ),
        "kv_read_bytes": work.kv_read_bytes(KV, work.cache_positions(n_, m_, 1, 1, 1)),
        "weight_read_bytes": work.weight_read_bytes(WEIGHTS, m_),
        "layer_steps": work.layer_steps(LAYERS, m_, 1),
    }


def energies_of(n: int, k: int, m: int, batch: int = 1) -> tuple[Fraction, Fraction, Fraction]:
    """Return prefill, KV-cache and next-token energy of one request, exactly."""
    done = work_of(n, k, m)
    return (
        simple.prefill_energy_j(A, done["prefill_flop"]),
        simple.kv_cache_energy_j(A, B, done["kv_read_bytes"], done["decode_attention_flop"]),
        simple.next_token_energy_j(
            A, C, S, 0, done["decode_flop"], done["weight_read_bytes"], done["layer_steps"],
            Fraction(m), Fraction(batch),
        ),
    )  # fmt: skip


def test_the_architecture_of_the_worked_example_counts_as_by_hand() -> None:
    attention = work.attention_params(LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM)
    ffn = work.ffn_params(LAYERS, LAYERS, HIDDEN, 3, FFN, FFN, 0, 0)

    assert attention + ffn == BODY == 6_979_321_856
    assert work.head_params(VOCAB, HIDDEN) == HEAD == 525_336_576
    assert work.attention_flop_per_pair(LAYERS, HEADS, HEAD_DIM) == PAIR == 524_288
    assert work.kv_bytes_per_position(2, LAYERS, KV_HEADS, HEAD_DIM) == KV == 131_072
    assert work.weight_bytes(2, BODY + HEAD) == WEIGHTS == 15_009_316_864


def test_the_worked_example_does_exactly_this_work() -> None:
    done = work_of(900, 0, 300)

    assert done["prefill_flop"] == 12_776_402_583_552
    assert done["decode_flop"] == 4_487_785_742_336
    assert done["decode_attention_flop"] == 164_600_217_600
    assert done["kv_read_bytes"] == 41_268_019_200


def test_the_worked_example_takes_877_034220_joules() -> None:
    prefill, kv_cache, next_token = energies_of(900, 0, 300)

    assert round(float(prefill), 6) == 15.318907
    assert round(float(kv_cache), 6) == 10.724827
    assert round(float(next_token), 6) == 850.990486
    assert round(float(prefill + kv_cache + next_token), 6) == 877.034220


def test_the_cached_agent_step_takes_what_the_example_says() -> None:
    prefill, kv_cache, next_token = energies_of(68_000, 66_640, 300)

    assert [round(float(each), 6) for each in (prefill, kv_cache, next_token)] == [
        80.316760,
        696.412879,
        850.990486,
    ]


def test_the_optimum_of_the_worked_example_is_947_79_tokens() -> None:
    best = simple.optimum_output_tokens(float(A), float(B), BODY, PAIR, KV, 900, 0)

    assert round(best, 2) == 947.79


@given(n=st.integers(1, 60), cached_frac=st.floats(0, 0.999), m=st.integers(1, 40))
def test_closed_forms_equal_a_sum_over_tokens(n: int, cached_frac: float, m: int) -> None:
    k = min(int(n * cached_frac), n - 1)
    prefill = sum(2 * BODY + PAIR * position for position in range(k + 1, n + 1)) + 2 * HEAD
    decode = sum(2 * (BODY + HEAD) for _ in range(m - 1))
    attention = sum(PAIR * (n + step) for step in range(1, m))
    read = sum(KV * (n + step) for step in range(m))

    done = work_of(n, k, m)

    assert done["prefill_flop"] == prefill
    assert done["decode_flop"] == decode
    assert done["decode_attention_flop"] == attention
    assert done["kv_read_bytes"] == read


@given(n=tokens, first=outputs, rest=outputs)
def test_an_answer_in_two_goes_is_the_same_work_as_in_one(n: int, first: int, rest: int) -> None:
    one = work_of(n, 0, first + rest)
    two = [work_of(n, 0, first), work_of(n + first, n + first - 1, rest)]

    def flop(done: dict[str, Fraction]) -> Fraction:
        return done["prefill_flop"] + done["decode_flop"] + done["decode_attention_flop"]

    assert sum(map(flop, two)) == flop(one)
    for quantity in ("kv_read_bytes", "weight_read_bytes", "layer_steps"):
        assert sum(done[quantity] for done in two) == one[quantity]


@given(n=tokens, m=outputs, kv_heads=st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_sharing_keys_and_values_never_adds_work(n: int, m: int, kv_heads: int) -> None:
    shared = work.attention_params(LAYERS, HIDDEN, HEADS, kv_heads, HEAD_DIM)
    multi_head = work.attention_params(LAYERS, HIDDEN, HEADS, HEADS, HEAD_DIM)
    positions = work.cache_positions(Fraction(n), Fraction(m), 1, 1, 1)

    assert shared <= multi_head
    assert (
        work.kv_bytes_per_position(2, LAYERS, kv_heads, HEAD_DIM) * positions
        <= work.kv_bytes_per_position(2, LAYERS, HEADS, HEAD_DIM) * positions
    )


@given(n=tokens, k=tokens, m=outputs)
def test_caching_never_costs_energy(n: int, k: int, m: int) -> None:
    cached = min(k, n - 1)

    assert sum(energies_of(n, cached, m)) <= sum(energies_of(n, 0, m))


@given(n=tokens, m=outputs, batch=batches, more=batches)
def test_a_larger_batch_never_costs_a_request_more(n: int, m: int, batch: int, more: int) -> None:
    assert sum(energies_of(n, 0, m, batch + more)) < sum(energies_of(n, 0, m, batch))


@given(n=st.integers(2, 100_000), m=st.integers(1, 100_000), batch=batches)
def test_no_answer_length_beats_the_optimum(n: int, m: int, batch: int) -> None:
    best = simple.optimum_output_tokens(float(A), float(B), BODY, PAIR, KV, n, 0)

    def j_per_token(length: float) -> float:
        # Lengths between whole tokens too, as the closed form has them.
        positions = work.cache_positions(n, length, 1, 1, 1)
        pairs = work.decode_pairs(n, length, 1, 1, 1)
        prefill = simple.prefill_energy_j(
            float(A), work.prefill_flop(BODY, HEAD, PAIR, n, work.prefill_pairs(n, 0, 1, 1), 1)
        )
        cache = simple.kv_cache_energy_j(float(A), float(B), KV * positions, PAIR * pairs)
        rest = simple.next_token_energy_j(
            float(A), float(C), float(S), 0, 2 * (BODY + HEAD) * (length - 1),
            WEIGHTS * length, LAYERS * length, length, batch,
        )  # fmt: skip
        return float((prefill + cache + rest) / length)

    assert j_per_token(best) <= j_per_token(m) * (1 + 1e-9)


@pytest.mark.parametrize(("n", "k"), [(900, 0), (68_000, 66_640), (7, 0), (1, 0)])
def test_the_optimum_is_found_by_brute_force_too(n: int, k: int) -> None:
    best = simple.optimum_output_tokens(float(A), float(B), BODY, PAIR, KV, n, k)
    lengths = range(max(1, math.floor(best) - 60), math.ceil(best) + 60)
    by_force = min(lengths, key=lambda m: sum(energies_of(n, k, m)) / m)

    assert abs(by_force - best) < 1


def test_an_answer_of_no_token_is_prefill_alone() -> None:
    done = work_of(900, 0, 0)

    assert done["prefill_flop"] == 12_776_402_583_552
    assert [done[name] for name in list(done)[1:]] == [0, 0, 0, 0, 0]


def test_eight_of_128_experts_are_all_touched_by_a_large_batch_and_eight_by_one() -> None:
    assert work.experts_touched(Fraction(128), Fraction(8), 1) == 8
    # 128 · (1 − (15/16)²) = 128 · 31/256 = 15.5
    assert work.experts_touched(Fraction(128), Fraction(8), 2) == Fraction(31, 2)


def test_deepseek_v3_holds_576_values_a_layer_and_position() -> None:
    assert work.latent_kv_bytes_per_position(2, 61, 512, 64) == 2 * 61 * 576
    # per layer: 7168·1536 + 1536·128·192 + 7168·576 + 512·128·256 + 128·128·7168 = 187,105,280
    assert work.latent_attention_params(61, 7168, 128, 1536, 512, 128, 64, 128) == (
        61 * 187_105_280
    )


def test_a_bucket_of_equal_requests_is_the_sum_of_them() -> None:
    assert work.prefill_pairs(900, 100, 3, 1) == 3 * work.prefill_pairs(900, 100, 1, 1)
    assert work.cache_positions(900, 300, 3, 1, 1) == 3 * work.cache_positions(900, 300, 1, 1, 1)
    # two requests of 1 and 3 tokens: E[n²]/mean² = 5 / 4; pairs 1 + 6 = 7
    assert work.prefill_pairs(Fraction(2), 0, 2, Fraction(5, 4)) == 7


def test_batch_max_counts_the_requests_that_fit_beside_the_weights() -> None:
    # (0.9 · 80e9 − 16.06e9) / (131,072 · 1,200) = 355.6…
    held = 2 * (BODY + 2 * HEAD)

    assert work.batch_max(0.9, 1, 80, held, KV, 1_200) == 355
