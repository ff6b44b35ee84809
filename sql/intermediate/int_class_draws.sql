-- Energy of one model and class in one possible world (joint draw), GPU boards and facility. What
-- all share is the same for every row of a draw: coefficients, stack, how full servers are, host,
-- idle capacity and cooling; so are the errors of a class of architecture or tier of closed models.
-- Requests' own errors average out in such sums and are left out.
-- Where a log does not tell cached tokens apart, half of the worlds read the usual share of the
-- class from a cache (its assumption's value above the middle, its low end below).
-- To compare two alternatives, sum one with a plus and the other with a minus by draw; drawn_p05,
-- drawn_p50, drawn_p95 and drawn_positive_frac of these sums are the range of the saving and its
-- probability. To total, sum by draw likewise. Sum as decimal(38, 15) of joules or decimal(38, 18)
-- of kWh, so that no sum depends on an order; values are those of such decimals, so a sum of one is
-- that one to its last digit.
-- grain: month, provider, model_id, query_class, draw

with

work as (
    select
        class_work.month,
        class_work.provider,
        class_work.model_id,
        class_work.query_class,
        class_work.architecture_id,
        class_work.gpu_count,
        class_work.prefill_flop::double as prefill_flop,
        class_work.decode_flop::double as decode_flop,
        class_work.decode_attention_flop::double as decode_attention_flop,
        class_work.kv_read_bytes::double as kv_read_bytes,
        class_work.weight_read_bytes::double as weight_read_bytes,
        class_work.layer_steps::double as layer_steps,
        energies.bias_factor,
        batches.batch,
        batches.batch_low,
        batches.batch_high,
        batches.batch_max,
        moments.passes::double as passes,
        moments.cache_unknown_tokens::double / nullif(moments.input_tokens, 0)::double
            as cache_unknown_frac,
        cached.value as cached_frac,
        cached.low as cached_low_frac,
        cached.high as cached_high_frac,
        sets.a_j_per_flop,
        sets.b_j_per_kv_byte,
        sets.c_j_per_weight_byte,
        sets.s_j_per_layer_step,
        sets.s_j_per_step,
        deployments.bytes_per_weight,
        parts.mixing_params,
        parts.head_params,
        arch.layers,
        arch.dense_layers,
        arch.hidden,
        arch.ffn_matrices,
        arch.dense_ffn,
        arch.ffn,
        arch.shared_ffn,
        arch.experts,
        arch.active_experts
    from int_class_work as class_work
    inner join int_architecture_energy as energies
        on
            class_work.month = energies.month
            and class_work.provider = energies.provider
            and class_work.model_id = energies.model_id
            and class_work.query_class = energies.query_class
            and class_work.architecture_id = energies.architecture_id
    inner join int_class_moments as moments
        on
            class_work.month = moments.month
            and class_work.provider = moments.provider
            and class_work.model_id = moments.model_id
            and class_work.query_class = moments.query_class
    inner join int_batches as batches
        on
            class_work.month = batches.month
            and class_work.provider = batches.provider
            and class_work.model_id = batches.model_id
            and class_work.query_class = batches.query_class
    inner join int_deployments as deployments
        on
            class_work.provider = deployments.provider
            and class_work.model_id = deployments.model_id
            and class_work.architecture_id = deployments.architecture_id
    inner join stg_coefficients as sets
        on deployments.coefficient_set_id = sets.coefficient_set_id
    inner join stg_architectures as arch on class_work.architecture_id = arch.architecture_id
    inner join int_architectures as parts on class_work.architecture_id = parts.architecture_id
    inner join stg_assumptions as cached
        on cached.assumption = 'cache_read_frac_' || class_work.query_class
),

batched as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.architecture_id,
        draws.draw,
        greatest(
            least(
                drawn_value(
                    work.batch, work.batch_low, work.batch_high, draws.batch_z_score
                ),
                work.batch_max
            ),
            1
        ) as batch,
        work.cache_unknown_frac
        * case
            when work.cached_frac > 0
                then
                    drawn_value(
                        work.cached_frac, work.cached_low_frac, work.cached_high_frac,
                        draws.cached_z_score
                    )
            else 0
        end as cached_frac
    from work
    cross join int_draws as draws
),

priced as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        batched.draw,
        work.bias_factor * (
            prefill_energy_j(
                draws.a_ratio * work.a_j_per_flop, (1 - batched.cached_frac) * work.prefill_flop
            )
            + kv_cache_energy_j(
                draws.a_ratio * work.a_j_per_flop, draws.b_ratio * work.b_j_per_kv_byte,
                work.kv_read_bytes, work.decode_attention_flop
            )
            + next_token_energy_j(
                draws.a_ratio * work.a_j_per_flop, draws.c_ratio * work.c_j_per_weight_byte,
                draws.s_ratio * work.s_j_per_layer_step, draws.s_ratio * work.s_j_per_step,
                work.decode_flop,
                case
                    when work.experts > 0
                        then
                            work.passes * weight_bytes(
                                work.bytes_per_weight,
                                work.mixing_params + work.head_params
                                + ffn_params(
                                    work.layers, work.dense_layers, work.hidden,
                                    work.ffn_matrices, work.dense_ffn, work.ffn,
                                    experts_touched(
                                        work.experts, work.active_experts, batched.batch
                                    ),
                                    work.shared_ffn
                                )
                            )
                    else work.weight_read_bytes
                end,
                work.layer_steps, work.passes * work.gpu_count, batched.batch
            )
        ) as gpu_energy_j
    from batched
    inner join work
        on
            batched.month = work.month
            and batched.provider = work.provider
            and batched.model_id = work.model_id
            and batched.query_class = work.query_class
            and batched.architecture_id = work.architecture_id
    inner join int_draws as draws on batched.draw = draws.draw
),

blended as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.draw,
        geometric_mean(priced.gpu_energy_j) as gpu_energy_j
    from priced
    group by all
),

drawn as (
    select
        blended.month,
        blended.provider,
        blended.model_id,
        blended.query_class,
        blended.draw,
        draws.facility_ratio,
        blended.gpu_energy_j
        * case when doubts.stack_power = 1 then draws.stack_ratio else 1 end
        * drawn_value(1, doubts.own_low_ratio, doubts.own_high_ratio, own.z_score)
            as gpu_energy_j
    from blended
    inner join int_draws as draws on blended.draw = draws.draw
    inner join int_class_doubts as doubts
        on
            blended.month = doubts.month
            and blended.provider = doubts.provider
            and blended.model_id = doubts.model_id
            and blended.query_class = doubts.query_class
    inner join int_own_errors as own
        on blended.draw = own.draw and doubts.error_of = own.error_of
)

select
    drawn.month::varchar as month,
    drawn.provider::varchar as provider,
    drawn.model_id::varchar as model_id,
    drawn.query_class::varchar as query_class,
    drawn.draw::integer as draw,
    drawn.gpu_energy_j::decimal(38, 15)::double as gpu_energy_j,
    facility_energy_kwh(drawn.gpu_energy_j, drawn.facility_ratio)::decimal(38, 18)::double
        as facility_energy_kwh
from drawn
