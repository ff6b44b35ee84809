"""What a transformer has to do for its requests, counted exactly: FLOP, bytes and layer-steps.

Every function uses only + − × ÷, powers, abs and floor division, so one text serves plain numbers,
Fractions (exact) and sympy symbols (from which `pipeline.dialects` prints SQL). A token moment is
a sum over tokens that depends on lengths alone; work is moments times numbers of the architecture.
Lengths are means over `request_count` requests; the ratios E[n²]/mean², E[n·m]/(mean·mean) and
E[m²]/mean² correct their products, and are 1 for a single request.

Source: derived from operation and byte counts of the decoder-only transformer: one prefill pass
over n tokens of which k are cached, then m − 1 decode passes.
"""

from typing import Any

Number = Any  # int, float, Fraction or a sympy expression: the functions are generic over them

# Token moments -------------------------------------------------------------------------------


def prefilled_tokens(input_tokens: Number, cached_tokens: Number, request_count: Number) -> Number:
    """Return the tokens that run through the prefill pass: those not read from the cache."""
    return request_count * (input_tokens - cached_tokens)


def prefill_pairs(
    input_tokens: Number,
    cached_tokens: Number,
    request_count: Number,
    input_squared_ratio: Number,
) -> Number:
    """Return the (new token, context token) pairs of the causal prefill."""
    return (
        request_count
        * (
            input_squared_ratio * (input_tokens * input_tokens - cached_tokens * cached_tokens)
            + input_tokens
            - cached_tokens
        )
        / 2
    )


def decode_pairs(
    input_tokens: Number,
    output_tokens: Number,
    request_count: Number,
    input_output_ratio: Number,
    output_squared_ratio: Number,
) -> Number:
    """Return the (new token, context token) pairs of the m − 1 decode passes; 0 for m < 1."""
    per_request = (
        input_output_ratio * input_tokens * (2 * output_tokens)
        + output_squared_ratio * output_tokens * output_tokens
        - 2 * input_tokens
        - output_tokens
    ) / 2
    return request_count * _never_negative(per_request)


def cache_positions(
    input_tokens: Number,
    output_tokens: Number,
    request_count: Number,
    input_output_ratio: Number,
    output_squared_ratio: Number,
) -> Number:
    """Return the KV-cache positions read over the m passes of an answer."""
    return (
        request_count
        * (
            input_output_ratio * input_tokens * (2 * output_tokens)
            + output_squared_ratio * output_tokens * output_tokens
            - output_tokens
        )
        / 2
    )


def decode_steps(output_tokens: Number, request_count: Number) -> Number:
    """Return the decode passes: the first output token comes out of the prefill pass."""
    return request_count * _never_negative(output_tokens - 1)


def recomputed_tokens(input_tokens: Number, output_tokens: Number) -> Number:
    """Return the tokens that m passes read where no cache is kept: n, then n + 1, and so on."""
    return input_tokens * output_tokens + output_tokens * (output_tokens - 1) / 2


def recomputed_pairs(input_tokens: Number, output_tokens: Number) -> Number:
    """Return the causal pairs of m passes where no cache is kept: the sum of L·(L + 1) / 2."""
    n, m = input_tokens, output_tokens
    squares = m * n * n + n * m * (m - 1) + (m - 1) * m * (2 * m - 1) / 6
    return (squares + recomputed_tokens(n, m)) / 2


# Numbers of the architecture -----------------------------------------------------------------


def attention_params(
    layers: Number, hidden: Number, heads: Number, kv_heads: Number, head_dim: Number
) -> Number:
    """Return the weights of MHA, GQA or MQA attention: query, key, value and output projections."""
    return layers * (2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim)


def latent_attention_params(
    layers: Number,
    hidden: Number,
    heads: Number,
    q_lora_rank: Number,
    kv_lora_rank: Number,
    nope_head_dim: Number,
    rope_head_dim: Number,
    v_head_dim: Number,
) -> Number:
    """Return the weights of multi-head latent attention: down and up projections, output."""
    query = hidden * q_lora_rank + q_lora_rank * heads * (nope_head_dim + rope_head_dim)
    key_value = hidden * (kv_lora_rank + rope_head_dim)
    up = kv_lora_rank * heads * (nope_head_dim + v_head_dim)
    return layers * (query + key_value + up + heads * v_head_dim * hidden)


def latent_query_params(
    layers: Number, hidden: Number, heads: Number, nope_head_dim: Number, rope_head_dim: Number
) -> Number:
    """Return the weights of the query projection of latent attention that has it whole.

    `latent_attention_params` counts none where `q_lora_rank` is 0; these are the ones to add.
    """
    return layers * hidden * heads * (nope_head_dim + rope_head_dim)


def attention_gate_params(
    layers: Number, hidden: Number, heads: Number, head_dim: Number
) -> Number:
    """Return the weights of a gate on the output of attention, as wide as the query."""
    return layers * hidden * heads * head_dim


def state_layer_params(layers: Number, params_per_layer: Number) -> Number:
    """Return the weights of the layers that keep a state of one size in place of a cache."""
    return layers * params_per_layer


def ffn_params(
    layers: Number,
    dense_layers: Number,
    hidden: Number,
    ffn_matrices: Number,
    dense_ffn: Number,
    expert_ffn: Number,
    experts_used: Number,
    shared_ffn: Number,
) -> Number:
    """Return the FFN weights in use: dense layers whole, expert layers by `experts_used`."""
    dense = dense_layers * dense_ffn
    sparse = (layers - dense_layers) * (expert_ffn * experts_used + shared_ffn)
    return ffn_matrices * hidden * (dense + sparse)


def experts_touched(experts: Number, active_experts: Number, batch: Number) -> Number:
    """Return the experts of a layer that a batch of tokens is expected to touch in one pass."""
    return experts * (1 - (1 - active_experts / experts) ** batch)


def head_params(vocab: Number, hidden: Number) -> Number:
    """Return the weights of the output head."""
    return vocab * hidden


def attention_flop_per_pair(layers: Number, heads: Number, head_dim: Number) -> Number:
    """Return the FLOP of QKᵀ and PV for one (new token, context token) pair."""
    return 4 * layers * heads * head_dim


def latent_attention_flop_per_pair(
    layers: Number, heads: Number, kv_lora_rank: Number, rope_head_dim: Number
) -> Number:
    """Return the FLOP per pair where attention works on the latent: scores and values."""
    return 2 * layers * heads * (2 * kv_lora_rank + rope_head_dim)


def kv_bytes_per_position(
    bytes_per_kv_element: Number, layers: Number, kv_heads: Number, head_dim: Number
) -> Number:
    """Return the cache bytes of one position: keys and values of every layer."""
    return 2 * bytes_per_kv_element * layers * kv_heads * head_dim


def latent_kv_bytes_per_position(
    bytes_per_kv_element: Number, layers: Number, kv_lora_rank: Number, rope_head_dim: Number
) -> Number:
    """Return the cache bytes of one position under MLA: the latent and its rotary part."""
    return bytes_per_kv_element * layers * (kv_lora_rank + rope_head_dim)


def state_bytes(layers: Number, state_bytes_per_layer: Number) -> Number:
    """Return the bytes that the state of one request takes, however long it is."""
    return layers * state_bytes_per_layer


def weight_bytes(bytes_per_weight: Number, params: Number) -> Number:
    """Return the bytes that `params` weights take, rounded to whole bytes."""
    return (2 * bytes_per_weight * params + 1) // 2


def batch_max(
    usable_frac: Number,
    gpu_count: Number,
    gpu_memory_gb: Number,
    held_weight_bytes: Number,
    kv_bytes: Number,
    context_tokens: Number,
    state_bytes: Number = 0,
) -> Number:
    """Return how many requests of `context_tokens` fit beside the weights; below 1: none fit.

    Args:
        usable_frac: Share of GPU memory that weights and cache may fill.
        gpu_count: GPUs of the deployment.
        gpu_memory_gb: Memory of one GPU in decimal gigabytes.
        held_weight_bytes: All weights, every expert and an untied embedding included.
        kv_bytes: Cache bytes per position.
        context_tokens: Input plus output tokens of one request.
        state_bytes: What layers without a cache keep of a request.
    """
    free_bytes = usable_frac * gpu_count * gpu_memory_gb * 10**9 - held_weight_bytes
    return free_bytes // (kv_bytes * context_tokens + state_bytes)


# Work ----------------------------------------------------------------------------------------


def prefill_flop(
    body_params: Number,
    head_params: Number,
    attention_flop_per_pair: Number,
    prefilled: Number,
    pairs: Number,
    prompts: Number,
) -> Number:
    """Return the FLOP of reading prompts: 2·P per token, Q per pair, one head pass a prompt."""
    return 2 * body_params * prefilled + attention_flop_per_pair * pairs + 2 * head_params * prompts


def decode_flop(body_params: Number, head_params: Number, steps: Number) -> Number:
    """Return the FLOP of passing each new token through the weights and the head."""
    return 2 * (body_params + head_params) * steps


def decode_attention_flop(attention_flop_per_pair: Number, pairs: Number) -> Number:
    """Return the FLOP of attending from each new token to its context."""
    return attention_flop_per_pair * pairs


def kv_read_bytes(kv_bytes: Number, positions: Number) -> Number:
    """Return the cache bytes read while writing answers."""
    return kv_bytes * positions


def state_moved_bytes(state_bytes: Number, passes: Number) -> Number:
    """Return the state bytes read and written over all passes; a cache is only read."""
    return 2 * state_bytes * passes


def weight_read_bytes(pass_weight_bytes: Number, passes: Number) -> Number:
    """Return the weight bytes streamed over all passes, before the batch shares them."""
    return pass_weight_bytes * passes


def layer_steps(layers: Number, passes: Number, gpu_count: Number) -> Number:
    """Return layers × passes × GPUs, before the batch shares them."""
    return layers * passes * gpu_count


def _never_negative(value: Number) -> Number:
    """Return max(value, 0), spelt so that symbols understand it too."""
    return (value + abs(value)) / 2


LAWS = (
    prefilled_tokens,
    prefill_pairs,
    decode_pairs,
    cache_positions,
    decode_steps,
    attention_params,
    latent_attention_params,
    latent_query_params,
    attention_gate_params,
    state_layer_params,
    ffn_params,
    experts_touched,
    head_params,
    attention_flop_per_pair,
    latent_attention_flop_per_pair,
    kv_bytes_per_position,
    latent_kv_bytes_per_position,
    state_bytes,
    weight_bytes,
    batch_max,
)

EXACT_LAWS = (
    prefill_flop,
    decode_flop,
    decode_attention_flop,
    kv_read_bytes,
    state_moved_bytes,
    weight_read_bytes,
    layer_steps,
)
