-- One architecture behind one model that a month may be replayed on: as the month runs it, or, for
-- models of the catalog that no log names, as a public API with the default coefficients.
-- grain: provider, model_id, architecture_id

with

-- The set that int_deployments takes where nothing is told.
ranked_sets as (
    select
        stg_coefficients.coefficient_set_id,
        stg_coefficients.gpu,
        row_number() over (
            order by
                stg_coefficients.gpu = 'H100-SXM' desc,
                stg_coefficients.is_default desc,
                stg_coefficients.coefficient_set_id asc
        ) as set_rank
    from stg_coefficients
),

unlogged as (
    select
        catalog.provider,
        catalog.model_id,
        catalog.hosting_kind,
        stg_models.stand_in_tier,
        stg_models.context_tokens,
        coalesce(stg_models.architecture_id, stg_stand_ins.architecture_id) as architecture_id,
        coalesce(stg_stand_ins.bytes_per_weight, own.bytes_per_weight) as bytes_per_weight
    from int_catalog_models as catalog
    inner join stg_models on catalog.model_id = stg_models.model_id
    left join stg_stand_ins on stg_models.stand_in_tier = stg_stand_ins.stand_in_tier
    left join stg_architectures as own on stg_models.architecture_id = own.architecture_id
    left join int_hosts
        on catalog.provider = int_hosts.provider and catalog.model_id = int_hosts.model_id
    where int_hosts.model_id is null
),

sized as (
    select
        unlogged.provider,
        unlogged.model_id,
        unlogged.hosting_kind,
        unlogged.stand_in_tier,
        unlogged.context_tokens,
        unlogged.architecture_id,
        unlogged.bytes_per_weight,
        arch.architecture_class,
        sets.coefficient_set_id,
        stg_gpus.memory_gb as gpu_memory_gb,
        parts.kv_bytes_per_position,
        parts.state_bytes,
        weight_bytes(
            unlogged.bytes_per_weight,
            parts.mixing_params
            + parts.held_ffn_params
            + parts.head_params * case when arch.has_tied_embeddings then 1 else 2 end
        ) as held_weight_bytes
    from unlogged
    inner join stg_architectures as arch on unlogged.architecture_id = arch.architecture_id
    inner join int_architectures as parts on unlogged.architecture_id = parts.architecture_id
    inner join ranked_sets as sets on sets.set_rank = 1
    inner join stg_gpus on sets.gpu = stg_gpus.gpu
)

select
    hosts.provider::varchar as provider,
    hosts.model_id::varchar as model_id,
    hosts.architecture_id::varchar as architecture_id,
    hosts.hosting_kind::varchar as hosting_kind,
    hosts.stand_in_tier::varchar as stand_in_tier,
    hosts.context_tokens::bigint as context_tokens,
    hosts.architecture_class::varchar as architecture_class,
    hosts.bytes_per_weight::double as bytes_per_weight,
    hosts.coefficient_set_id::varchar as coefficient_set_id,
    hosts.is_own_set::boolean as is_own_set,
    hosts.gpu_memory_gb::double as gpu_memory_gb,
    hosts.gpu_count::integer as gpu_count,
    hosts.told_batch::double as told_batch,
    hosts.kv_bytes_per_position::double as kv_bytes_per_position,
    hosts.state_bytes::double as state_bytes,
    hosts.held_weight_bytes::double as held_weight_bytes
from int_deployments as hosts
union all
select
    sized.provider::varchar as provider,
    sized.model_id::varchar as model_id,
    sized.architecture_id::varchar as architecture_id,
    sized.hosting_kind::varchar as hosting_kind,
    sized.stand_in_tier::varchar as stand_in_tier,
    sized.context_tokens::bigint as context_tokens,
    sized.architecture_class::varchar as architecture_class,
    sized.bytes_per_weight::double as bytes_per_weight,
    sized.coefficient_set_id::varchar as coefficient_set_id,
    true::boolean as is_own_set,
    sized.gpu_memory_gb::double as gpu_memory_gb,
    round(
        pow(
            2,
            greatest(
                ceil(
                    log2(
                        sized.held_weight_bytes * (1 + headroom.value)
                        / (sized.gpu_memory_gb * 1000000000)
                    )
                ),
                0
            )
        )
    )::integer as gpu_count,
    null::double as told_batch,
    sized.kv_bytes_per_position::double as kv_bytes_per_position,
    sized.state_bytes::double as state_bytes,
    sized.held_weight_bytes::double as held_weight_bytes
from sized
inner join stg_assumptions as headroom on headroom.assumption = 'weights_headroom_frac'
