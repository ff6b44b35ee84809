-- Summed work of a month, provider, model and class on one architecture, for the workbook's laws.
-- `fixed_params` are read at any batch; each expert that the batch touches adds one share more.
-- grain: month_start, provider, model_id, query_class, architecture_id

select
    (work.month || '-01')::date as month_start,
    work.provider,
    work.model_id,
    work.query_class,
    work.architecture_id,
    deployments.architecture_class,
    deployments.coefficient_set_id,
    case
        when own_bias.bias_factor is not null then own_bias.coefficient_set_id
        when any_bias.bias_factor is not null then any_bias.coefficient_set_id
    end as bias_set_id,
    coalesce(own_bias.bias_factor, any_bias.bias_factor, 1)::double as bias_factor,
    deployments.bytes_per_weight,
    work.gpu_count,
    arch.layers,
    arch.experts,
    arch.active_experts,
    (
        parts.mixing_params
        + parts.head_params
        + ffn_params(
            arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn,
            arch.ffn, 0, arch.shared_ffn
        )
    )::double as fixed_params,
    (
        ffn_params(
            arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn,
            arch.ffn, 1, arch.shared_ffn
        )
        - ffn_params(
            arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn,
            arch.ffn, 0, arch.shared_ffn
        )
    )::double as expert_params,
    sizes.weight_bytes,
    sizes.body_params,
    sizes.head_params,
    sizes.attention_flop_per_pair,
    sizes.kv_bytes_per_position,
    sizes.state_bytes,
    moments.passes::double as passes,
    work.prefill_flop::double as prefill_flop,
    work.decode_flop::double as decode_flop,
    work.decode_attention_flop::double as decode_attention_flop,
    work.kv_read_bytes::double as kv_read_bytes,
    work.layer_steps::double as layer_steps,
    work.batch,
    work.prefill_energy_j,
    work.kv_cache_energy_j,
    work.next_token_energy_j,
    work.energy_j_per_prefilled_token,
    work.energy_j_per_pair,
    work.energy_j_per_prompt,
    work.energy_j_per_cache_position,
    work.energy_j_per_decode_step,
    work.energy_j_per_pass,
    sets.a_j_per_flop,
    sets.b_j_per_kv_byte,
    sets.c_j_per_weight_byte,
    sets.s_j_per_layer_step,
    sets.s_j_per_step
from int_class_work as work
inner join int_class_moments as moments
    on
        work.month = moments.month
        and work.provider = moments.provider
        and work.model_id = moments.model_id
        and work.query_class = moments.query_class
inner join int_deployments as deployments
    on
        work.provider = deployments.provider
        and work.model_id = deployments.model_id
        and work.architecture_id = deployments.architecture_id
inner join int_model_work as sizes
    on
        deployments.architecture_id = sizes.architecture_id
        and deployments.bytes_per_weight = sizes.bytes_per_weight
        and work.batch = sizes.batch
inner join stg_architectures as arch on deployments.architecture_id = arch.architecture_id
inner join int_architectures as parts on deployments.architecture_id = parts.architecture_id
inner join stg_coefficients as sets on deployments.coefficient_set_id = sets.coefficient_set_id
left join stg_bias_factors as own_bias
    on
        deployments.architecture_class = own_bias.architecture_class
        and deployments.coefficient_set_id = own_bias.coefficient_set_id
left join stg_bias_factors as any_bias
    on
        deployments.architecture_class = any_bias.architecture_class
        and any_bias.coefficient_set_id = '*'
where
    work.month <= getvariable('report_month')
    and work.month >= getvariable('first_month')
order by all
