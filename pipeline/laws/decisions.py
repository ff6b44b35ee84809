"""What follows from the price of work: next tokens, implied batches, whole requests, items a call.

One more token of input or output changes the work of a request by counts that depend on its
lengths n and m alone (differences of the sums in `pipeline.laws.work`), so its energy is linear in
the joules of one token, pair, position and pass. Only the pass is shared by a batch.
"""

from pipeline.laws.work import (
    Number,
    cache_positions,
    decode_pairs,
    decode_steps,
    prefill_pairs,
)


def next_input_token_energy_j(
    prefilled_token_energy_j: Number,
    pair_energy_j: Number,
    cache_position_energy_j: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return the energy of one more uncached input token, in joules; no batch shares any of it.

    It is prefilled, attends to n + 1 tokens, is attended to by the m − 1 tokens that are written
    after the first, and is read from the cache in each of the m passes.

    Args:
        prefilled_token_energy_j: Energy of a token in the prefill pass, attention left out.
        pair_energy_j: Energy of one (new token, context token) pair.
        cache_position_energy_j: Energy of reading one position of the cache once.
        input_tokens: n, tokens of input in all.
        output_tokens: m, at least 1.
    """
    return (
        prefilled_token_energy_j
        + pair_energy_j * (input_tokens + output_tokens)
        + cache_position_energy_j * output_tokens
    )


def next_output_token_energy_j(
    decode_step_energy_j: Number,
    pair_energy_j: Number,
    cache_position_energy_j: Number,
    state_pass_energy_j: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return the energy of one more output token without what a batch shares, in joules.

    It is one decode step more, which attends to n + m tokens and reads as many positions.

    Args:
        decode_step_energy_j: Energy of a token's FLOP in a decode pass, attention left out.
        pair_energy_j: Energy of one (new token, context token) pair.
        cache_position_energy_j: Energy of reading one position of the cache once.
        state_pass_energy_j: Energy of reading and writing the state of layers without a cache.
        input_tokens: n, tokens of input in all.
        output_tokens: m, at least 1.
    """
    return (
        decode_step_energy_j
        + state_pass_energy_j
        + (pair_energy_j + cache_position_energy_j) * (input_tokens + output_tokens)
    )


def implied_batch(
    price_ratio: Number,
    input_token_energy_j: Number,
    output_token_energy_j: Number,
    shared_pass_energy_j: Number,
) -> Number:
    """Return the batch at which energies of an output and an input token stand as their prices do.

    Solves (output + shared / batch) / input = price ratio. Zero or below zero: there is no such
    batch, since an output token takes more than its price says even where nothing is left to share
    (the caller asks first whether ratio · input > output). Below 1: output is priced above what a
    request served alone takes.

    Args:
        price_ratio: Price of an output token over that of an uncached input token.
        input_token_energy_j: `next_input_token_energy_j`.
        output_token_energy_j: `next_output_token_energy_j`.
        shared_pass_energy_j: Energy of one pass that the batch shares: weights and launch steps.
    """
    return shared_pass_energy_j / (price_ratio * input_token_energy_j - output_token_energy_j)


def request_energy_j(
    prefilled_token_energy_j: Number,
    pair_energy_j: Number,
    prompt_energy_j: Number,
    cache_position_energy_j: Number,
    decode_step_energy_j: Number,
    pass_energy_j: Number,
    input_tokens: Number,
    cached_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return the energy of one request from the joules of what it is made of.

    Args:
        prefilled_token_energy_j: Energy of a token in the prefill pass, attention left out.
        pair_energy_j: Energy of one (new token, context token) pair.
        prompt_energy_j: Energy of the output head in the prefill pass.
        cache_position_energy_j: Energy of reading one position of the cache once.
        decode_step_energy_j: Energy of a token's FLOP in a decode pass, attention left out.
        pass_energy_j: What a pass costs a request beside, its share of the batch's included.
        input_tokens: n, tokens of input in all.
        cached_tokens: k, part of them read from a prefix cache.
        output_tokens: m.
    """
    n, k, m = input_tokens, cached_tokens, output_tokens
    return (
        prefilled_token_energy_j * (n - k)
        + pair_energy_j * (prefill_pairs(n, k, 1, 1) + decode_pairs(n, m, 1, 1, 1))
        + prompt_energy_j
        + cache_position_energy_j * cache_positions(n, m, 1, 1, 1)
        + decode_step_energy_j * decode_steps(m, 1)
        + pass_energy_j * m
    )


def least_energy_items(
    prefilled_token_energy_j: Number,
    pair_energy_j: Number,
    cache_position_energy_j: Number,
    shared_tokens: Number,
    cached_tokens: Number,
    item_input_tokens: Number,
    item_output_tokens: Number,
    crowding_energy_j: Number,
) -> Number:
    """Return the items per call of least energy per item, unrounded, at least 1.

    A call of j items reads the shared tokens n0 once, k0 of them from a cache, then n1 a item, and
    writes m1 a item. What does not grow with j (the prefill of what is shared) falls per item as
    1 / j; what grows with j² (every item attends to those before it and re-reads them from the
    cache) rises as j. The rest is the same for every item.

    Args:
        prefilled_token_energy_j: 2·a·P, energy of a token in the prefill pass.
        pair_energy_j: a·Q, energy of one (new token, context token) pair.
        cache_position_energy_j: b·KV, energy of reading one position of the cache once.
        shared_tokens: n0, input that all items share, at least 1.
        cached_tokens: k0, part of it read from a prefix cache.
        item_input_tokens: n1, input of one item.
        item_output_tokens: m1, output of one item.
        crowding_energy_j: What else grows with j²: where longer calls leave room for a smaller
            batch, pass · m1 · (n1 + m1) over the tokens that a request has room for; else 0.
    """
    n0, k0, n1, m1 = shared_tokens, cached_tokens, item_input_tokens, item_output_tokens
    once_j = prefilled_token_energy_j * (n0 - k0 - 1) + pair_energy_j * (
        (n0 * (n0 - 1) - k0 * (k0 + 1)) / 2
    )
    growing_j = (
        pair_energy_j * n1 * n1 / 2
        + (cache_position_energy_j + pair_energy_j) * (n1 * m1 + m1 * m1 / 2)
        + crowding_energy_j
    )
    squared = once_j / growing_j
    return ((squared + 1 + abs(squared - 1)) / 2) ** 0.5


LAWS = (
    next_input_token_energy_j,
    next_output_token_energy_j,
    implied_batch,
    request_energy_j,
    least_energy_items,
)
