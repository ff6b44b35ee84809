-- Joules of one token, pair, position, step and pass on one architecture in one possible world
-- (joint draw). What a decision changes is a request of other lengths, and its energy in a world is
-- these rates times its token moments; the class's own moments give int_class_draws.
-- cached_frac is the part of the prefill that this world reads from a cache where the log does not
-- tell it. A weight byte and the launches of a pass stand as they are before the batch shares them,
-- so that a pass at another batch can be priced. Closed models take the geometric mean over their stand-ins of what the rates come to.
-- grain: month, provider, model_id, query_class, architecture_id, draw

with

worlds as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.architecture_id,
        work.gpu_count,
        draws.draw,
        draws.a_ratio,
        draws.b_ratio,
        draws.c_ratio,
        draws.s_ratio,
        deployments.coefficient_set_id,
        deployments.bytes_per_weight,
        energies.bias_factor
        * case when doubts.stack_power = 1 then draws.stack_ratio else 1 end
        * drawn_value(1, doubts.own_low_ratio, doubts.own_high_ratio, own.z_score)
            as energy_ratio,
        greatest(
            least(
                drawn_value(
                    batches.batch, batches.batch_low, batches.batch_high, draws.batch_z_score
                ),
                batches.batch_max
            ),
            1
        ) as batch,
        moments.cache_unknown_tokens::double / nullif(moments.input_tokens, 0)::double
        * case
            when cached.value > 0
                then drawn_value(cached.value, cached.low, cached.high, draws.cached_z_score)
            else 0
        end as cached_frac
    from int_class_work as work
    inner join int_architecture_energy as energies
        on
            work.month = energies.month
            and work.provider = energies.provider
            and work.model_id = energies.model_id
            and work.query_class = energies.query_class
            and work.architecture_id = energies.architecture_id
    inner join int_class_moments as moments
        on
            work.month = moments.month
            and work.provider = moments.provider
            and work.model_id = moments.model_id
            and work.query_class = moments.query_class
    inner join int_batches as batches
        on
            work.month = batches.month
            and work.provider = batches.provider
            and work.model_id = batches.model_id
            and work.query_class = batches.query_class
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    inner join int_class_doubts as doubts
        on
            work.month = doubts.month
            and work.provider = doubts.provider
            and work.model_id = doubts.model_id
            and work.query_class = doubts.query_class
    inner join stg_assumptions as cached
        on cached.assumption = 'cache_read_frac_' || work.query_class
    inner join int_own_errors as own on doubts.error_of = own.error_of
    inner join int_draws as draws on own.draw = draws.draw
),

weighed as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        worlds.architecture_id,
        worlds.draw,
        worlds.gpu_count,
        worlds.batch,
        worlds.energy_ratio,
        worlds.cached_frac,
        worlds.a_ratio * sets.a_j_per_flop as a_j_per_flop,
        worlds.b_ratio * sets.b_j_per_kv_byte as b_j_per_kv_byte,
        worlds.c_ratio * sets.c_j_per_weight_byte as c_j_per_weight_byte,
        worlds.s_ratio * sets.s_j_per_layer_step as s_j_per_layer_step,
        worlds.s_ratio * sets.s_j_per_step as s_j_per_step,
        sizes.body_params,
        sizes.head_params,
        sizes.attention_flop_per_pair,
        sizes.kv_bytes_per_position,
        sizes.state_bytes,
        sizes.layers,
        case
            when arch.experts > 0
                then
                    weight_bytes(
                        worlds.bytes_per_weight,
                        parts.mixing_params + parts.head_params
                        + ffn_params(
                            arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices,
                            arch.dense_ffn, arch.ffn,
                            experts_touched(arch.experts, arch.active_experts, worlds.batch),
                            arch.shared_ffn
                        )
                    )
            else sizes.weight_bytes
        end as pass_weight_bytes
    from worlds
    inner join stg_coefficients as sets on worlds.coefficient_set_id = sets.coefficient_set_id
    inner join stg_architectures as arch on worlds.architecture_id = arch.architecture_id
    inner join int_architectures as parts on worlds.architecture_id = parts.architecture_id
    inner join int_batches as batches
        on
            worlds.month = batches.month
            and worlds.provider = batches.provider
            and worlds.model_id = batches.model_id
            and worlds.query_class = batches.query_class
    inner join int_model_work as sizes
        on
            worlds.architecture_id = sizes.architecture_id
            and worlds.bytes_per_weight = sizes.bytes_per_weight
            and batches.batch = sizes.batch
)

select
    weighed.month::varchar as month,
    weighed.provider::varchar as provider,
    weighed.model_id::varchar as model_id,
    weighed.query_class::varchar as query_class,
    weighed.architecture_id::varchar as architecture_id,
    weighed.draw::integer as draw,
    weighed.batch::double as batch,
    weighed.cached_frac::double as cached_frac,
    (weighed.energy_ratio * prefill_energy_j(weighed.a_j_per_flop, 2 * weighed.body_params))
    ::double as energy_j_per_prefilled_token,
    (weighed.energy_ratio * prefill_energy_j(weighed.a_j_per_flop, weighed.attention_flop_per_pair))
    ::double as energy_j_per_pair,
    (weighed.energy_ratio * prefill_energy_j(weighed.a_j_per_flop, 2 * weighed.head_params))
    ::double as energy_j_per_prompt,
    (
        weighed.energy_ratio
        * kv_cache_energy_j(
            weighed.a_j_per_flop, weighed.b_j_per_kv_byte, weighed.kv_bytes_per_position, 0
        )
    )::double as energy_j_per_cache_position,
    (
        weighed.energy_ratio
        * prefill_energy_j(
            weighed.a_j_per_flop, decode_flop(weighed.body_params, weighed.head_params, 1)
        )
    )::double as energy_j_per_decode_step,
    (
        weighed.energy_ratio * (
            next_token_energy_j(
                weighed.a_j_per_flop, weighed.c_j_per_weight_byte, weighed.s_j_per_layer_step,
                weighed.s_j_per_step, 0, weighed.pass_weight_bytes,
                weighed.layers * weighed.gpu_count, weighed.gpu_count, weighed.batch
            )
            + kv_cache_energy_j(
                weighed.a_j_per_flop, weighed.b_j_per_kv_byte,
                state_moved_bytes(weighed.state_bytes, 1), 0
            )
        )
    )::double as energy_j_per_pass,
    (weighed.energy_ratio * weighed.c_j_per_weight_byte)::double as energy_j_per_weight_byte,
    (
        weighed.energy_ratio
        * next_token_energy_j(
            0, 0, weighed.s_j_per_layer_step, weighed.s_j_per_step, 0, 0,
            weighed.layers * weighed.gpu_count, weighed.gpu_count, 1
        )
    )::double as launch_energy_j_per_pass,
    (
        weighed.energy_ratio
        * kv_cache_energy_j(
            weighed.a_j_per_flop, weighed.b_j_per_kv_byte,
            state_moved_bytes(weighed.state_bytes, 1), 0
        )
    )::double as state_energy_j_per_pass
from weighed
