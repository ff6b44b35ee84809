-- What one pass of an architecture costs in work, at one batch (experts touched depend on it).
-- The only place that knows how many experts a batch touches, and precision.
-- grain: architecture_id, bytes_per_weight, batch

with

batches as (
    select
        int_deployments.architecture_id,
        int_deployments.bytes_per_weight,
        int_batches.batch
    from int_batches
    inner join int_deployments
        on
            int_batches.provider = int_deployments.provider
            and int_batches.model_id = int_deployments.model_id
    where int_batches.batch is not null
    union
    select
        int_deployments.architecture_id,
        int_deployments.bytes_per_weight,
        int_batch_ladder.batch
    from int_batch_ladder
    inner join int_deployments
        on
            int_batch_ladder.provider = int_deployments.provider
            and int_batch_ladder.model_id = int_deployments.model_id
),

sized as (
    select
        batches.architecture_id,
        batches.bytes_per_weight,
        batches.batch,
        arch.layers,
        parts.mixing_params,
        parts.active_ffn_params,
        ffn_params(
            arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn,
            arch.ffn,
            case
                when arch.experts > 0
                    then experts_touched(arch.experts, arch.active_experts, batches.batch)
                else 0
            end,
            arch.shared_ffn
        ) as touched_ffn_params,
        parts.head_params,
        parts.attention_flop_per_pair,
        parts.kv_bytes_per_position,
        parts.state_bytes
    from batches
    inner join stg_architectures as arch on batches.architecture_id = arch.architecture_id
    inner join int_architectures as parts on batches.architecture_id = parts.architecture_id
)

select
    sized.architecture_id::varchar as architecture_id,
    sized.bytes_per_weight::double as bytes_per_weight,
    sized.batch::double as batch,
    sized.layers::integer as layers,
    (sized.mixing_params + sized.active_ffn_params)::double as body_params,
    sized.head_params::double as head_params,
    sized.attention_flop_per_pair::double as attention_flop_per_pair,
    sized.kv_bytes_per_position::double as kv_bytes_per_position,
    sized.state_bytes::double as state_bytes,
    weight_bytes(
        sized.bytes_per_weight,
        sized.mixing_params + sized.touched_ffn_params + sized.head_params
    )::double as weight_bytes
from sized
