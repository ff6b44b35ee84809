-- One architecture behind one model at one provider: where it runs and which coefficients price it.
-- A closed model has one row per stand-in. The settings win over what an input assumes, and both
-- over the default. A GPU without a coefficient set of its own borrows the default set.
-- grain: provider, model_id, architecture_id

with

hosts as (
    select distinct
        int_models.provider,
        int_models.model_id,
        int_models.hosting_kind
    from int_models
    where int_models.is_known_model
),

told_by_inputs as (
    select
        int_models.provider,
        int_models.model_id,
        max(raw_inputs.assumed_gpu) as gpu,
        max(raw_inputs.assumed_stack) as stack,
        max(raw_inputs.assumed_batch)::double as batch
    from int_logged_names
    inner join int_models
        on
            int_logged_names.logged_provider = int_models.logged_provider
            and int_logged_names.logged_model_name = int_models.logged_model_name
            and int_logged_names.used_on >= int_models.valid_from
            and int_logged_names.used_on < int_models.valid_to
    inner join raw_inputs on int_logged_names.input_id = raw_inputs.input_id
    group by all
),

placed as (
    select
        hosts.provider,
        hosts.model_id,
        hosts.hosting_kind,
        stg_models.stand_in_tier,
        stg_models.context_tokens,
        coalesce(told.gpu, told_by_inputs.gpu) as told_gpu,
        coalesce(told.stack, told_by_inputs.stack) as told_stack,
        coalesce(told.batch, told_by_inputs.batch) as told_batch,
        told.gpu_count as told_gpu_count,
        coalesce(told.replicas, 1) as replicas,
        coalesce(stg_models.architecture_id, stg_stand_ins.architecture_id) as architecture_id,
        coalesce(stg_stand_ins.bytes_per_weight, own.bytes_per_weight) as bytes_per_weight
    from hosts
    inner join stg_models on hosts.model_id = stg_models.model_id
    left join stg_stand_ins on stg_models.stand_in_tier = stg_stand_ins.stand_in_tier
    left join stg_architectures as own on stg_models.architecture_id = own.architecture_id
    left join raw_deployments as told on hosts.model_id = told.model_id
    left join told_by_inputs
        on
            hosts.provider = told_by_inputs.provider
            and hosts.model_id = told_by_inputs.model_id
),

ranked_sets as (
    select
        placed.provider,
        placed.model_id,
        placed.architecture_id,
        stg_coefficients.coefficient_set_id,
        stg_coefficients.gpu = placed.told_gpu or placed.told_gpu is null as is_own_set,
        row_number() over (
            partition by placed.provider, placed.model_id, placed.architecture_id
            order by
                coalesce(stg_coefficients.gpu = placed.told_gpu, false) desc,
                coalesce(
                    starts_with(lower(stg_coefficients.stack), lower(placed.told_stack)), false
                ) desc,
                stg_coefficients.gpu = 'H100-SXM' desc,
                stg_coefficients.is_default desc,
                stg_coefficients.coefficient_set_id asc
        ) as set_rank
    from placed
    cross join stg_coefficients
),

counted as (
    select
        placed.provider,
        placed.model_id,
        placed.architecture_id,
        placed.hosting_kind,
        placed.stand_in_tier,
        placed.context_tokens,
        placed.bytes_per_weight,
        placed.told_batch,
        placed.told_gpu_count,
        placed.replicas,
        arch.architecture_class,
        ranked_sets.is_own_set,
        stg_coefficients.coefficient_set_id,
        stg_coefficients.stack,
        coalesce(placed.told_gpu, stg_coefficients.gpu) as gpu,
        parts.kv_bytes_per_position,
        parts.state_bytes,
        weight_bytes(
            placed.bytes_per_weight,
            parts.mixing_params
            + parts.held_ffn_params
            + parts.head_params * case when arch.has_tied_embeddings then 1 else 2 end
        ) as held_weight_bytes
    from placed
    inner join stg_architectures as arch on placed.architecture_id = arch.architecture_id
    inner join int_architectures as parts on placed.architecture_id = parts.architecture_id
    inner join ranked_sets
        on
            placed.provider = ranked_sets.provider
            and placed.model_id = ranked_sets.model_id
            and placed.architecture_id = ranked_sets.architecture_id
            and ranked_sets.set_rank = 1
    inner join stg_coefficients
        on ranked_sets.coefficient_set_id = stg_coefficients.coefficient_set_id
)

select
    counted.provider::varchar as provider,
    counted.model_id::varchar as model_id,
    counted.architecture_id::varchar as architecture_id,
    counted.hosting_kind::varchar as hosting_kind,
    counted.stand_in_tier::varchar as stand_in_tier,
    counted.context_tokens::bigint as context_tokens,
    counted.architecture_class::varchar as architecture_class,
    counted.bytes_per_weight::double as bytes_per_weight,
    counted.gpu::varchar as gpu,
    counted.stack::varchar as stack,
    stg_gpus.memory_gb::double as gpu_memory_gb,
    counted.coefficient_set_id::varchar as coefficient_set_id,
    counted.is_own_set::boolean as is_own_set,
    coalesce(
        counted.told_gpu_count::integer,
        round(
            pow(
                2,
                greatest(
                    ceil(
                        log2(
                            counted.held_weight_bytes * (1 + headroom.value)
                            / (stg_gpus.memory_gb * 1000000000)
                        )
                    ),
                    0
                )
            )
        )::integer
    )::integer as gpu_count,
    counted.replicas::integer as replicas,
    counted.told_batch::double as told_batch,
    counted.kv_bytes_per_position::double as kv_bytes_per_position,
    counted.state_bytes::double as state_bytes,
    counted.held_weight_bytes::double as held_weight_bytes
from counted
inner join stg_gpus on counted.gpu = stg_gpus.gpu
inner join stg_assumptions as headroom on headroom.assumption = 'weights_headroom_frac'
