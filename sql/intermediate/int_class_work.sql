-- Summed work of one model and class on one architecture, and its price in joules.
-- Work is whole numbers and exact.
-- grain: month, provider, model_id, query_class, architecture_id

with

work as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.passes,
        deployments.architecture_id,
        deployments.gpu_count,
        batches.batch,
        sizes.body_params,
        sizes.head_params,
        sizes.attention_flop_per_pair,
        sizes.kv_bytes_per_position,
        sizes.state_bytes,
        sizes.weight_bytes,
        sets.a_j_per_flop,
        sets.b_j_per_kv_byte,
        sets.c_j_per_weight_byte,
        sets.s_j_per_layer_step,
        sets.s_j_per_step,
        sizes.layers,
        moments.mean_input_tokens,
        moments.prefilled_tokens,
        moments.prompts,
        prefill_flop(
            sizes.body_params, sizes.head_params, sizes.attention_flop_per_pair,
            moments.prefilled_tokens, moments.prefill_pairs, moments.prompts
        ) as prefill_flop,
        decode_flop(sizes.body_params, sizes.head_params, moments.decode_steps) as decode_flop,
        decode_attention_flop(sizes.attention_flop_per_pair, moments.decode_pairs)
            as decode_attention_flop,
        kv_read_bytes(sizes.kv_bytes_per_position, moments.cache_positions)
        + state_moved_bytes(sizes.state_bytes, moments.passes) as kv_read_bytes,
        weight_read_bytes(sizes.weight_bytes, moments.passes) as weight_read_bytes,
        layer_steps(sizes.layers, moments.passes, deployments.gpu_count) as layer_steps
    from int_class_moments as moments
    inner join int_batches as batches
        on
            moments.month = batches.month
            and moments.provider = batches.provider
            and moments.model_id = batches.model_id
            and moments.query_class = batches.query_class
    inner join int_deployments as deployments
        on
            moments.provider = deployments.provider
            and moments.model_id = deployments.model_id
    inner join stg_coefficients as sets
        on deployments.coefficient_set_id = sets.coefficient_set_id
    inner join int_model_work as sizes
        on
            deployments.architecture_id = sizes.architecture_id
            and deployments.bytes_per_weight = sizes.bytes_per_weight
            and batches.batch = sizes.batch
)

select
    work.month::varchar as month,
    work.provider::varchar as provider,
    work.model_id::varchar as model_id,
    work.query_class::varchar as query_class,
    work.architecture_id::varchar as architecture_id,
    work.batch::double as batch,
    work.gpu_count::integer as gpu_count,
    work.prefill_flop::decimal(38, 0) as prefill_flop,
    work.decode_flop::decimal(38, 0) as decode_flop,
    work.decode_attention_flop::decimal(38, 0) as decode_attention_flop,
    work.kv_read_bytes::decimal(38, 0) as kv_read_bytes,
    work.weight_read_bytes::decimal(38, 0) as weight_read_bytes,
    work.layer_steps::decimal(38, 0) as layer_steps,
    prefill_energy_j(work.a_j_per_flop, work.prefill_flop)::double as prefill_energy_j,
    kv_cache_energy_j(
        work.a_j_per_flop, work.b_j_per_kv_byte, work.kv_read_bytes, work.decode_attention_flop
    )::double as kv_cache_energy_j,
    next_token_energy_j(
        work.a_j_per_flop, work.c_j_per_weight_byte, work.s_j_per_layer_step, work.s_j_per_step,
        work.decode_flop, work.weight_read_bytes, work.layer_steps,
        work.passes * work.gpu_count, work.batch
    )::double as next_token_energy_j,
    prefill_energy_j(work.a_j_per_flop, 2 * work.body_params)::double
        as energy_j_per_prefilled_token,
    prefill_energy_j(work.a_j_per_flop, work.attention_flop_per_pair)::double as energy_j_per_pair,
    prefill_energy_j(work.a_j_per_flop, 2 * work.head_params)::double as energy_j_per_prompt,
    kv_cache_energy_j(work.a_j_per_flop, work.b_j_per_kv_byte, work.kv_bytes_per_position, 0)
    ::double as energy_j_per_cache_position,
    prefill_energy_j(work.a_j_per_flop, 2 * (work.body_params + work.head_params))::double
        as energy_j_per_decode_step,
    (
        next_token_energy_j(
            work.a_j_per_flop, work.c_j_per_weight_byte, work.s_j_per_layer_step,
            work.s_j_per_step, 0, work.weight_bytes, work.layers * work.gpu_count, work.gpu_count,
            work.batch
        )
        + kv_cache_energy_j(
            work.a_j_per_flop, work.b_j_per_kv_byte, state_moved_bytes(work.state_bytes, 1), 0
        )
    )::double as energy_j_per_pass,
    case
        when work.kv_bytes_per_position > 0
            then
                optimum_output_tokens(
                    work.a_j_per_flop, work.b_j_per_kv_byte, work.body_params,
                    work.attention_flop_per_pair, work.kv_bytes_per_position,
                    work.mean_input_tokens,
                    work.mean_input_tokens
                    - work.prefilled_tokens::double / work.prompts::double
                )
    end::double as optimum_output_tokens
from work
