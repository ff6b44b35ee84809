-- Every model of the catalog with the numbers of its architecture; a closed one has a row for each
-- of its stand-ins. `fixed_params` are read at any batch; each expert touched adds `expert_params`.
-- grain: model_id, architecture_id

with

served as (
    select
        stg_models.model_id,
        stg_models.developer,
        stg_models.is_open,
        stg_models.stand_in_tier,
        stg_models.context_tokens,
        coalesce(stg_models.architecture_id, stg_stand_ins.architecture_id) as architecture_id,
        stg_stand_ins.bytes_per_weight as told_bytes_per_weight
    from stg_models
    left join stg_stand_ins on stg_models.stand_in_tier = stg_stand_ins.stand_in_tier
),

used as (
    select distinct int_usage_groups.model_id
    from int_usage_groups
    where int_usage_groups.month = getvariable('report_month')
)

select
    served.model_id,
    served.developer,
    served.is_open,
    used.model_id is not null as is_used,
    served.stand_in_tier,
    served.context_tokens,
    served.architecture_id,
    arch.architecture_class,
    coalesce(served.told_bytes_per_weight, arch.bytes_per_weight) as bytes_per_weight,
    arch.layers,
    arch.experts,
    arch.active_experts,
    (parts.mixing_params + parts.active_ffn_params)::double as body_params,
    parts.head_params,
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
    weight_bytes(
        coalesce(served.told_bytes_per_weight, arch.bytes_per_weight),
        parts.mixing_params
        + parts.held_ffn_params
        + parts.head_params * case when arch.has_tied_embeddings then 1 else 2 end
    )::double as held_weight_bytes,
    parts.attention_flop_per_pair,
    parts.kv_bytes_per_position,
    parts.state_bytes,
    coalesce(raw_architectures.source, raw_models.source) as source,
    raw_architectures.source_date
from served
inner join stg_architectures as arch on served.architecture_id = arch.architecture_id
inner join int_architectures as parts on served.architecture_id = parts.architecture_id
left join raw_architectures on served.architecture_id = raw_architectures.architecture_id
left join raw_models on served.model_id = raw_models.model_id
left join used on served.model_id = used.model_id
order by used.model_id is null, lower(served.model_id), served.architecture_id
