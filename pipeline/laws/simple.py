"""The price of work in joules: four parameters of a GPU and its serving stack, none of a model.

    prefill energy     = a · prefill FLOP
    KV-cache energy    = b · KV bytes read + a · decode attention FLOP
    next-token energy  = a · decode FLOP + (c · weight bytes read + s · layer-steps) / batch

a in J/FLOP, b in J per KV byte, c in J per weight byte, s in J per layer-step (or per step). The
structure is SIMPLE's: prefill, KV cache, next token; the form with batch and the values are ours,
fitted to open measurements (`data/reference/law_coefficients.csv`). All energies are those of the
GPU boards of one deployment, in joules.
"""

from pipeline.laws.work import Number

METHOD_VERSION = "simple-shaped 1"


def prefill_energy_j(a_j_per_flop: Number, prefill_flop: Number) -> Number:
    """Return the energy of reading prompts, in joules."""
    return a_j_per_flop * prefill_flop


def kv_cache_energy_j(
    a_j_per_flop: Number,
    b_j_per_kv_byte: Number,
    kv_read_bytes: Number,
    decode_attention_flop: Number,
) -> Number:
    """Return the energy of reading the cache and attending to it while writing, in joules."""
    return b_j_per_kv_byte * kv_read_bytes + a_j_per_flop * decode_attention_flop


def next_token_energy_j(
    a_j_per_flop: Number,
    c_j_per_weight_byte: Number,
    s_j_per_layer_step: Number,
    s_j_per_step: Number,
    decode_flop: Number,
    weight_read_bytes: Number,
    layer_steps: Number,
    steps: Number,
    batch: Number,
) -> Number:
    """Return the energy of passing new tokens through the weights, in joules.

    Weights and launch steps are shared by the batch. `steps` are passes × GPUs; a coefficient set
    gives either the cost per layer-step or the cost per step, the other is 0.
    """
    shared = (
        c_j_per_weight_byte * weight_read_bytes
        + s_j_per_layer_step * layer_steps
        + s_j_per_step * steps
    )
    return a_j_per_flop * decode_flop + shared / batch


def optimum_output_tokens(
    a_j_per_flop: Number,
    b_j_per_kv_byte: Number,
    body_params: Number,
    attention_flop_per_pair: Number,
    kv_bytes_per_position: Number,
    input_tokens: Number,
    cached_tokens: Number,
) -> Number:
    """Return the answer length of least energy per output token, unrounded, at least 1.

    Setting d(E/m)/dm to zero leaves only what does not grow with m (above) and what grows with m²
    (D, the joules per context token and output token, below). The next-token energy shifts the
    curve but not its lowest point.
    """
    context_token_energy_j = (
        b_j_per_kv_byte * kv_bytes_per_position + a_j_per_flop * attention_flop_per_pair
    )
    pairs = (input_tokens * (input_tokens - 1) - cached_tokens * (cached_tokens + 1)) / 2
    fixed_flop = 2 * body_params * (input_tokens - cached_tokens - 1) + (
        attention_flop_per_pair * pairs
    )
    return _at_least_one(2 * a_j_per_flop * fixed_flop / context_token_energy_j) ** 0.5


def _at_least_one(value: Number) -> Number:
    """Return max(value, 1), spelt so that symbols understand it too."""
    return (value + 1 + abs(value - 1)) / 2


LAWS = (prefill_energy_j, kv_cache_energy_j, next_token_energy_j, optimum_output_tokens)
