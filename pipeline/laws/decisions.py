"""What follows from the price of work: the next token's energy, and the batch that a price implies.

One more token of input or output changes the work of a request by counts that depend on its
lengths n and m alone (differences of the sums in `pipeline.laws.work`), so its energy is linear in
the joules of one token, pair, position and pass. Only the pass is shared by a batch.
"""

from pipeline.laws.work import Number


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


LAWS = (next_input_token_energy_j, next_output_token_energy_j, implied_batch)
