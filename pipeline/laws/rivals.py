"""Rival energy laws, each as its authors print it: pure functions of plain numbers.

Each returns the energy of one request in joules. Constants are arguments; their published values
stand in `data/reference/rival_coefficients.csv`. A form that knows no batch gives the energy of a
request served alone; who compares it with batched measurements divides it by the batch. Energies
are those of GPU boards: server and facility factors of the sources are arguments or left out.
"""

from pipeline.laws.facility import J_PER_KWH
from pipeline.laws.work import Number

J_PER_WH = 3_600
E = 2.718281828459045
BILLION = 1_000_000_000


def linear_j(
    input_j_per_token: Number,
    output_j_per_token: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return so many joules per input token and so many per output token.

    Source: The usual rule of thumb; the form is the interaction law's without its third term. No
        constants are published; ours are fitted to the rows of each coefficient set.
    Domain: One model on one GPU, served alone; with our constants, output shared by the batch.
    Ignores: Batch, context length, the model's shape.
    """
    return input_j_per_token * input_tokens + output_j_per_token * output_tokens


def linear_interaction_j(
    input_j_per_token: Number,
    output_j_per_token: Number,
    interaction_j_per_token2: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return a linear law with a term for input times output tokens.

    Source: Wilkins, Keshav and Mortier 2024, arXiv 2407.04014; thesis table 5.2.
    Domain: Seven models of 7 to 70 B on A100 40 GB, 8 to 2,048 tokens each way, one request at a
        time, without a KV cache. Constants are joules of one request, although the source speaks
        of a batch of 32.
    Ignores: The model's shape (three constants for each model), batch, the KV cache. Input
        constants are negative, so long prompts with short answers get negative energies.
    """
    return (
        input_j_per_token * input_tokens
        + output_j_per_token * output_tokens
        + interaction_j_per_token2 * input_tokens * output_tokens
    )


def parameters_tokens_j(j_per_param_token: Number, active_params: Number, tokens: Number) -> Number:
    """Return an energy proportional to parameters times tokens.

    Source: The usual back-of-the-envelope estimate. No constant of its own is published; ours are
        fitted to the rows of each coefficient set.
    Domain: Decode of large dense models, served alone; with our constants, shared by the batch.
    Ignores: Batch, context length, the cache, what prompts and answers differ in.
    """
    return j_per_param_token * active_params * tokens


def ecologits_0_8_j(
    kwh_per_billion_params_token: Number,
    kwh_per_token: Number,
    active_params: Number,
    output_tokens: Number,
    gpu_count: Number,
) -> Number:
    """Return the GPU energy of EcoLogits 0.1.0 to 0.8.2: linear in active parameters, per token.

    Source: github.com/genai-impact/ecologits, tags 0.1.0 to 0.8.2 (MPL-2.0): 8.91e-8 kWh for a
        billion active parameters and 1.43e-6 kWh, per output token and GPU.
    Domain: Answers of one request at a time; servers and PUE (1.2) are counted apart from it.
    Ignores: Input tokens, batch, context length, precision.
    """
    kwh = kwh_per_billion_params_token * (active_params / BILLION) + kwh_per_token
    return J_PER_KWH * kwh * output_tokens * gpu_count


def ecologits_0_9_j(
    wh_per_billion_params_token: Number,
    batch_exponent: Number,
    wh_per_token: Number,
    active_params: Number,
    output_tokens: Number,
    batch: Number,
    gpu_count: Number,
) -> Number:
    """Return the GPU energy of EcoLogits 0.9: the same line, falling exponentially with the batch.

    Source: github.com/genai-impact/ecologits, tags 0.9.0 and 0.9.1 (MPL-2.0): per output token and
        GPU alpha * exp(beta * batch) * billions of active parameters + gamma, in Wh.
    Domain: ML.ENERGY on H100, batch up to 512, up to 200 B parameters; the package itself always
        takes a batch of 64. Servers and PUE are counted apart from it.
    Ignores: Input tokens, context length, precision; gamma, 0.146 J a token, no batch lowers.
    """
    slope = wh_per_billion_params_token * E ** (batch_exponent * batch)
    wh = slope * (active_params / BILLION) + wh_per_token
    return J_PER_WH * wh * output_tokens * gpu_count


def ecologits_batch_j(
    compute_j_per_param_token: Number,
    weight_j_per_param_step: Number,
    step_j: Number,
    active_params: Number,
    output_tokens: Number,
    batch: Number,
) -> Number:
    """Return EcoLogits' form made aware of the batch: compute for each, weights and step shared.

    Source: Form by us after EcoLogits; no constants are published, so they are fitted.
    Domain: Answers at any batch.
    Ignores: Input tokens, context length, the cache.
    """
    shared = weight_j_per_param_step * active_params + step_j
    return output_tokens * (compute_j_per_param_token * active_params + shared / batch)


def epoch_ai_j(
    peak_flop_per_s: Number,
    utilisation_frac: Number,
    gpu_power_w: Number,
    power_frac: Number,
    pue_ratio: Number,
    active_params: Number,
    output_tokens: Number,
) -> Number:
    """Return the time of 2 FLOP per active parameter and output token, times a mean power.

    Source: Epoch AI 2025, "How much energy does ChatGPT use?": 9.89e14 FLOP/s, 10 % of it used,
        1,275 W a GPU with its share of the server, 70 % of it drawn, PUE 1.2.
    Domain: A large deployment on H100; the 10 % stand for its batch, so no batch divides it.
    Ignores: Input tokens, batch, context length, memory traffic.
    """
    busy_s = 2 * active_params * output_tokens / (utilisation_frac * peak_flop_per_s)
    return busy_s * gpu_power_w * power_frac * pue_ratio


def vartziotis_j(
    compute_j_per_flop: Number,
    memory_j_per_bit: Number,
    flop_per_param_token: Number,
    bits_per_element: Number,
    reference_params: Number,
    weight_scale: Number,
    weight_exponent: Number,
    cache_scale: Number,
    cache_exponent: Number,
    overhead_scale: Number,
    overhead_exponent: Number,
    params: Number,
    layers: Number,
    hidden: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return compute and memory energy as Vartziotis et al. print them.

    Source: Vartziotis et al. 2026, "From Tokens to Watt-hours": 0.52 pJ/FLOP, 11.68 pJ/bit, 6 FLOP
        a parameter and token; scales 0.10, 1.5 and 0.8 over (N / 24 B) to 0.8, 0.9 and 0.8.
    Domain: H100, FP16, one request at a time, GPU only. The printed formula does not give the
        printed table (8 B, 500 in and 500 out: 0.0189 Wh against 0.0118 printed).
    Ignores: Batch; shared keys and values (GQA); that weights are read once a token.
    """
    n, m = input_tokens, output_tokens
    triangle = n * m + m * (m - 1) / 2
    relative = params / reference_params
    flop = (
        flop_per_param_token * params * (n + m)
        + 2 * layers * hidden * n * n
        + 4 * layers * hidden * triangle
    )
    cache_bits = 2 * bits_per_element * hidden * layers
    bits = (
        bits_per_element * params * weight_scale * relative**weight_exponent
        + cache_bits * m
        + cache_bits * triangle * (1 + cache_scale * relative**cache_exponent)
    )
    overhead = 1 + overhead_scale * relative**overhead_exponent
    return compute_j_per_flop * flop + memory_j_per_bit * bits * overhead


def closed_form_j(
    prefill_j_per_token2: Number,
    prefill_j_per_token: Number,
    context_j_per_token2: Number,
    output_j_per_token: Number,
    input_tokens: Number,
    output_tokens: Number,
) -> Number:
    """Return A n² + B n + D (n m + m (m − 1) / 2) + C m, its constants calibrated on one model.

    Source: Form derived by us from the transformer's operations; SweetSpot (arXiv 2602.05695) and
        EdgeReasoning (arXiv 2511.01866) calibrate forms like it model by model. No constants.
    Domain: The one model on the one GPU and stack that it was calibrated on, served alone.
    Ignores: Batch and, carried to another model, that model's shape.
    """
    n, m = input_tokens, output_tokens
    return (
        prefill_j_per_token2 * n * n
        + prefill_j_per_token * n
        + context_j_per_token2 * (n * m + m * (m - 1) / 2)
        + output_j_per_token * m
    )


def simple_reading_a_j(
    attention_j_per_width_token2: Number,
    prefill_j_per_param_token: Number,
    context_j_per_width_token2: Number,
    next_token_j_per_param_token: Number,
    layers: Number,
    query_width: Number,
    kv_width: Number,
    body_params: Number,
    head_params: Number,
    input_tokens: Number,
    output_tokens: Number,
    batch: Number,
) -> Number:
    """Return the likeliest printed form of the SIMPLE law: four terms, four values.

    Source: Reading by us of what is public about SIMPLE (arXiv 2611.03330), whose formula and
        values are not public to us; who has the paper enters its four values in the table.
    Domain: Dense models of one GPU, one request at a time; the next-token term is divided by the
        batch here, which the paper has not.
    Ignores: Launch and idle power of a step, decode FLOP, experts, precision.
    """
    n, m = input_tokens, output_tokens
    prefill = (
        attention_j_per_width_token2 * layers * query_width * n * n
        + prefill_j_per_param_token * body_params * n
    )
    context = context_j_per_width_token2 * layers * kv_width * (n * m + m * (m - 1) / 2)
    next_token = next_token_j_per_param_token * (body_params + head_params) * m
    return prefill + context + next_token / batch


# What the methods of rivals need beside their law -----------------------------------------------


def ecologits_gpus(
    bits_per_weight: Number, memory_ratio: Number, gpu_memory_gb: Number, params: Number
) -> Number:
    """Return the GPUs that EcoLogits lets a model fill, before rounding up.

    Version 0.8.2 rounds up to whole GPUs, 0.9 to a power of two.
    """
    return memory_ratio * params * bits_per_weight / 8 / (gpu_memory_gb * BILLION)


def ecologits_server_j(
    latency_s_per_billion_params_token: Number,
    latency_s_per_request_token: Number,
    latency_s_per_token: Number,
    server_power_w: Number,
    server_gpus: Number,
    active_params: Number,
    output_tokens: Number,
    batch: Number,
    gpu_count: Number,
) -> Number:
    """Return the energy of the server around the GPUs of EcoLogits, without its PUE.

    The power of a server without its GPUs, for the time that the answer takes. Version 0.8.2 knows
    no batch: it is the batch of 1 that costs no time (`latency_s_per_request_token` 0).
    """
    token_s = (
        latency_s_per_billion_params_token * (active_params / BILLION)
        + latency_s_per_request_token * batch
        + latency_s_per_token
    )
    return token_s * output_tokens * server_power_w * gpu_count / server_gpus / batch


PARTS = (ecologits_gpus, ecologits_server_j)

LAWS = (
    linear_j,
    linear_interaction_j,
    parameters_tokens_j,
    ecologits_0_8_j,
    ecologits_0_9_j,
    ecologits_batch_j,
    epoch_ai_j,
    vartziotis_j,
    closed_form_j,
    simple_reading_a_j,
)
