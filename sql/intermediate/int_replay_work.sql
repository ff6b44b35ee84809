-- Summed work of a replay on one architecture, its price in joules, and how well founded that is.
-- Work is whole numbers and exact. The grade is that of the model's own requests where it served
-- the whole class, else by the rules of the grades: D for a stand-in, C for what is not dense, of
-- few bits or on a GPU without coefficients, else B; one lower for buckets, D for guessed counts.
-- grain: month, query_class, scope, provider, model_id, architecture_id

with

touched as (
    select
        batches.replay_number,
        batches.month,
        batches.query_class,
        batches.scope,
        batches.provider,
        batches.model_id,
        hosts.architecture_id,
        hosts.architecture_class,
        hosts.stand_in_tier,
        hosts.coefficient_set_id,
        hosts.gpu_count,
        hosts.bytes_per_weight,
        batches.batch,
        case when replays.own_prompts = replays.prompts then own.evidence_grade end
            as own_evidence_grade,
        case
            when hosts.stand_in_tier is not null or replays.has_guessed_counts then 4
            when
                hosts.architecture_class <> 'dense'
                or hosts.bytes_per_weight < 2
                or not hosts.is_own_set
                then 3
            else 2
        end
        + case when replays.has_buckets then 1 else 0 end as grade_rank,
        arch.layers,
        parts.mixing_params + parts.active_ffn_params as body_params,
        parts.head_params,
        parts.attention_flop_per_pair,
        parts.kv_bytes_per_position,
        parts.state_bytes,
        weight_bytes(
            hosts.bytes_per_weight,
            parts.mixing_params + parts.head_params
            + ffn_params(
                arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn,
                arch.ffn,
                case
                    when arch.experts > 0
                        then experts_touched(arch.experts, arch.active_experts, batches.batch)
                    else 0
                end,
                arch.shared_ffn
            )
        ) as weight_bytes
    from int_replay_batches as batches
    inner join int_replays as replays
        on
            batches.month = replays.month
            and batches.query_class = replays.query_class
            and batches.scope = replays.scope
            and batches.provider = replays.provider
            and batches.model_id = replays.model_id
    inner join int_replay_deployments as hosts
        on batches.provider = hosts.provider and batches.model_id = hosts.model_id
    inner join stg_architectures as arch on hosts.architecture_id = arch.architecture_id
    inner join int_architectures as parts on hosts.architecture_id = parts.architecture_id
    left join int_class_grades as own
        on
            batches.month = own.month
            and batches.query_class = own.query_class
            and batches.provider = own.provider
            and batches.model_id = own.model_id
    where batches.batch is not null
),

work as (
    select
        touched.replay_number,
        touched.month,
        touched.query_class,
        touched.scope,
        touched.provider,
        touched.model_id,
        touched.architecture_id,
        touched.architecture_class,
        touched.stand_in_tier,
        touched.coefficient_set_id,
        touched.gpu_count,
        touched.bytes_per_weight,
        touched.batch,
        coalesce(
            touched.own_evidence_grade,
            case least(touched.grade_rank, 4) when 2 then 'B' when 3 then 'C' else 'D' end
        ) as evidence_grade,
        replays.passes,
        prefill_flop(
            touched.body_params, touched.head_params, touched.attention_flop_per_pair,
            replays.prefilled_tokens, replays.prefill_pairs, replays.prompts
        ) as prefill_flop,
        decode_flop(touched.body_params, touched.head_params, replays.decode_steps)
            as decode_flop,
        decode_attention_flop(touched.attention_flop_per_pair, replays.decode_pairs)
            as decode_attention_flop,
        kv_read_bytes(touched.kv_bytes_per_position, replays.cache_positions)
        + state_moved_bytes(touched.state_bytes, replays.passes) as kv_read_bytes,
        weight_read_bytes(touched.weight_bytes, replays.passes) as weight_read_bytes,
        layer_steps(touched.layers, replays.passes, touched.gpu_count) as layer_steps
    from touched
    inner join int_replays as replays
        on
            touched.month = replays.month
            and touched.query_class = replays.query_class
            and touched.scope = replays.scope
            and touched.provider = replays.provider
            and touched.model_id = replays.model_id
)

select
    work.replay_number::integer as replay_number,
    work.month::varchar as month,
    work.query_class::varchar as query_class,
    work.scope::varchar as scope,
    work.provider::varchar as provider,
    work.model_id::varchar as model_id,
    work.architecture_id::varchar as architecture_id,
    work.architecture_class::varchar as architecture_class,
    work.stand_in_tier::varchar as stand_in_tier,
    work.coefficient_set_id::varchar as coefficient_set_id,
    work.bytes_per_weight::double as bytes_per_weight,
    work.gpu_count::integer as gpu_count,
    work.batch::double as batch,
    work.evidence_grade::varchar as evidence_grade,
    work.passes::double as passes,
    work.prefill_flop::decimal(38, 0) as prefill_flop,
    work.decode_flop::decimal(38, 0) as decode_flop,
    work.decode_attention_flop::decimal(38, 0) as decode_attention_flop,
    work.kv_read_bytes::decimal(38, 0) as kv_read_bytes,
    work.weight_read_bytes::decimal(38, 0) as weight_read_bytes,
    work.layer_steps::decimal(38, 0) as layer_steps,
    coalesce(own_bias.bias_factor, any_bias.bias_factor, 1)::double as bias_factor,
    (
        coalesce(own_bias.bias_low, any_bias.bias_low, 1)
        / coalesce(own_bias.bias_factor, any_bias.bias_factor, 1)
    )::double as bias_low_ratio,
    (
        coalesce(own_bias.bias_high, any_bias.bias_high, 1)
        / coalesce(own_bias.bias_factor, any_bias.bias_factor, 1)
    )::double as bias_high_ratio,
    (
        coalesce(own_bias.bias_factor, any_bias.bias_factor, 1) * (
            prefill_energy_j(sets.a_j_per_flop, work.prefill_flop)
            + kv_cache_energy_j(
                sets.a_j_per_flop, sets.b_j_per_kv_byte, work.kv_read_bytes,
                work.decode_attention_flop
            )
            + next_token_energy_j(
                sets.a_j_per_flop, sets.c_j_per_weight_byte, sets.s_j_per_layer_step,
                sets.s_j_per_step, work.decode_flop, work.weight_read_bytes, work.layer_steps,
                work.passes * work.gpu_count, work.batch
            )
        )
    )::double as gpu_energy_j
from work
inner join stg_coefficients as sets on work.coefficient_set_id = sets.coefficient_set_id
left join stg_bias_factors as own_bias
    on
        work.architecture_class = own_bias.architecture_class
        and work.coefficient_set_id = own_bias.coefficient_set_id
left join stg_bias_factors as any_bias
    on work.architecture_class = any_bias.architecture_class and any_bias.coefficient_set_id = '*'
