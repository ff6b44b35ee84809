-- Energy of a replay in one possible world (joint draw), the same worlds as int_class_draws: what
-- all share is the same for every row of a draw, and so are the errors of a class of architecture
-- or tier of closed models. So a saving is the difference of two energies of one draw.
-- grain: month, query_class, scope, provider, model_id, draw

with

batched as (
    select
        batches.replay_number,
        draws.draw,
        greatest(
            least(
                drawn_value(
                    batches.batch, batches.batch_low, batches.batch_high, draws.batch_z_score
                ),
                batches.batch_max
            ),
            1
        ) as batch,
        coalesce(
            replays.cache_unknown_tokens::double / nullif(replays.input_tokens, 0)::double
            * case
                when cached.value > 0
                    then drawn_value(cached.value, cached.low, cached.high, draws.cached_z_score)
                else 0
            end,
            0
        ) as cached_frac
    from int_replay_batches as batches
    inner join int_replays as replays
        on
            batches.month = replays.month
            and batches.query_class = replays.query_class
            and batches.scope = replays.scope
            and batches.provider = replays.provider
            and batches.model_id = replays.model_id
    inner join stg_assumptions as cached
        on cached.assumption = 'cache_read_frac_' || batches.query_class
    cross join int_draws as draws
    where batches.batch is not null
),

priced as (
    select
        work.replay_number,
        batched.draw,
        work.bias_factor * (
            prefill_energy_j(
                draws.a_ratio * sets.a_j_per_flop,
                (1 - batched.cached_frac) * work.prefill_flop::double
            )
            + kv_cache_energy_j(
                draws.a_ratio * sets.a_j_per_flop, draws.b_ratio * sets.b_j_per_kv_byte,
                work.kv_read_bytes::double, work.decode_attention_flop::double
            )
            + next_token_energy_j(
                draws.a_ratio * sets.a_j_per_flop, draws.c_ratio * sets.c_j_per_weight_byte,
                draws.s_ratio * sets.s_j_per_layer_step, draws.s_ratio * sets.s_j_per_step,
                work.decode_flop::double,
                case
                    when arch.experts > 0
                        then
                            work.passes * weight_bytes(
                                work.bytes_per_weight,
                                parts.mixing_params + parts.head_params
                                + ffn_params(
                                    arch.layers, arch.dense_layers, arch.hidden,
                                    arch.ffn_matrices, arch.dense_ffn, arch.ffn,
                                    experts_touched(
                                        arch.experts, arch.active_experts, batched.batch
                                    ),
                                    arch.shared_ffn
                                )
                            )
                    else work.weight_read_bytes::double
                end,
                work.layer_steps::double, work.passes * work.gpu_count, batched.batch
            )
        ) as gpu_energy_j
    from batched
    inner join int_replay_work as work
        on batched.replay_number = work.replay_number
    inner join int_draws as draws on batched.draw = draws.draw
    inner join stg_coefficients as sets on work.coefficient_set_id = sets.coefficient_set_id
    inner join stg_architectures as arch on work.architecture_id = arch.architecture_id
    inner join int_architectures as parts on work.architecture_id = parts.architecture_id
),

blended as (
    select
        priced.replay_number,
        priced.draw,
        geometric_mean(priced.gpu_energy_j) as gpu_energy_j
    from priced
    group by all
),

stacks as (
    select
        drawn_p05(ln(int_draws.stack_ratio)) as low_log,
        drawn_p95(ln(int_draws.stack_ratio)) as high_log
    from int_draws
),

-- As int_class_doubts: the widest of the grade's range, the bias factor's and the stand-ins'.
methods as (
    select
        work.replay_number,
        coalesce(min(work.stand_in_tier), min(work.architecture_class)) as error_of,
        case when max(work.evidence_grade) = 'A' then 0 else 1 end as stack_power,
        ln(
            least(
                min(ranges.low_ratio),
                min(work.bias_low_ratio),
                min(work.gpu_energy_j) / geometric_mean(work.gpu_energy_j)
            )
        ) as low_log,
        ln(
            greatest(
                max(ranges.high_ratio),
                max(work.bias_high_ratio),
                max(work.gpu_energy_j) / geometric_mean(work.gpu_energy_j)
            )
        ) as high_log
    from int_replay_work as work
    inner join stg_grade_ranges as ranges on work.evidence_grade = ranges.evidence_grade
    group by all
),

drawn as (
    select
        blended.replay_number,
        blended.draw,
        draws.facility_ratio,
        blended.gpu_energy_j
        * case when methods.stack_power = 1 then draws.stack_ratio else 1 end
        * drawn_value(
            1,
            exp(
                -sqrt(
                    greatest(
                        square(methods.low_log) - methods.stack_power * square(stacks.low_log), 0
                    )
                )
            ),
            exp(
                sqrt(
                    greatest(
                        square(methods.high_log) - methods.stack_power * square(stacks.high_log),
                        0
                    )
                )
            ),
            own.z_score
        ) as gpu_energy_j
    from blended
    inner join int_draws as draws on blended.draw = draws.draw
    inner join methods
        on blended.replay_number = methods.replay_number
    inner join int_own_errors as own
        on blended.draw = own.draw and methods.error_of = own.error_of
    cross join stacks
)

select
    batches.month::varchar as month,
    batches.query_class::varchar as query_class,
    batches.scope::varchar as scope,
    batches.provider::varchar as provider,
    batches.model_id::varchar as model_id,
    drawn.draw::integer as draw,
    drawn.gpu_energy_j::decimal(38, 15)::double as gpu_energy_j,
    facility_energy_kwh(drawn.gpu_energy_j, drawn.facility_ratio)::decimal(38, 18)::double
        as facility_energy_kwh
from drawn
inner join int_replay_batches as batches on drawn.replay_number = batches.replay_number
