"""What a growing context costs agents: when a written cache pays, and when compacting does.

An agent's step t reads a context of n + g·t tokens, g of them new, and writes m. Compacting has
the model write a summary of c tokens out of n, once; every later step then carries n − c tokens
less. Over T steps the tokens read, so money too, grow with T², cached or not. So does energy with
a cache. Without one each step attends anew from every token to every token before it: this term,
the pairs, grows with T³, all others with T².
"""

from pipeline.laws.work import Number


def cache_write_paying_reads(
    uncached_usd_per_mtok: Number, cache_read_usd_per_mtok: Number, cache_write_usd_per_mtok: Number
) -> Number:
    """Return how many reads of a token earn back what writing it to a cache cost above plain input.

    Solves write + reads · read = (1 + reads) · input; the caller asks first whether a read is
    cheaper than input. All prices in USD for a million tokens.
    """
    return (cache_write_usd_per_mtok - uncached_usd_per_mtok) / (
        uncached_usd_per_mtok - cache_read_usd_per_mtok
    )


def cached_step_saving_energy_j(
    pair_energy_j: Number,
    cache_position_energy_j: Number,
    context_tokens: Number,
    kept_tokens: Number,
    new_input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return the energy that a step saves after compaction, where the context is cached, in joules.

    Each token that is gone would have been read from the cache in m passes and attended to by the
    g new input tokens and the m − 1 tokens written after the first.

    Args:
        pair_energy_j: Energy of one (new token, context token) pair.
        cache_position_energy_j: Energy of reading one position of the cache once.
        context_tokens: n, tokens of context before compaction.
        kept_tokens: c, tokens of the summary in its place.
        new_input_tokens: g, new input tokens of a step.
        output_tokens: m, tokens that a step writes, at least 1.
    """
    return (context_tokens - kept_tokens) * (
        cache_position_energy_j * output_tokens
        + pair_energy_j * (new_input_tokens + output_tokens - 1)
    )


def recomputed_step_saving_energy_j(
    prefilled_token_energy_j: Number,
    pair_energy_j: Number,
    cache_position_energy_j: Number,
    context_tokens: Number,
    kept_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return the energy that a step saves after compaction, were it of n tokens, without a cache.

    Step t saves `recomputed_step_growth_energy_j` · t more, since its context has grown by g · t.
    Arguments are those of `cached_step_saving_energy_j`, and the energy of prefilling one token.
    """
    return (context_tokens - kept_tokens) * (
        prefilled_token_energy_j
        + cache_position_energy_j * output_tokens
        + pair_energy_j * ((context_tokens + kept_tokens + 1) / 2 + output_tokens - 1)
    )


def recomputed_step_growth_energy_j(
    pair_energy_j: Number, context_tokens: Number, kept_tokens: Number, new_input_tokens: Number
) -> Number:
    """Return by how much the saving of each step exceeds that of the one before, without a cache.

    The g tokens by which the context grows attend to the n − c tokens that are gone, in each step.
    """
    return (context_tokens - kept_tokens) * pair_energy_j * new_input_tokens


def paying_steps(once: Number, saved_per_step: Number) -> Number:
    """Return after how many steps what is spent once is saved, unrounded; any one unit."""
    return once / saved_per_step


def growing_paying_steps(once: Number, saved_per_step: Number, growth_per_step: Number) -> Number:
    """Return the same where step t saves `saved_per_step` + `growth_per_step` · t, unrounded.

    Solves saved · H + growth · H · (H + 1) / 2 = once, written so that a growth of 0 is allowed.
    """
    first = saved_per_step + growth_per_step / 2
    return 2 * once / (first + (first * first + 2 * growth_per_step * once) ** 0.5)


LAWS = (
    cache_write_paying_reads,
    cached_step_saving_energy_j,
    recomputed_step_saving_energy_j,
    recomputed_step_growth_energy_j,
    paying_steps,
    growing_paying_steps,
)
