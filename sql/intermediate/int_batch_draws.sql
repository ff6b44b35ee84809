-- GPU energy of one model and class at each batch of the ladder, in one possible world (joint draw),
-- beside what it takes there at the batch in force. The batch of the ladder is taken as given; the
-- one in force is drawn, where it is not logged or told. All else of a world is the same for both,
-- so their difference is what another batch would save in it.
-- grain: month, provider, model_id, query_class, batch, draw

with

priced as (
    select
        rates.month,
        rates.provider,
        rates.model_id,
        rates.query_class,
        rates.architecture_id,
        rates.draw,
        moments.passes,
        rates.energy_j_per_pass,
        rates.state_energy_j_per_pass,
        rates.energy_j_per_weight_byte,
        rates.launch_energy_j_per_pass,
        deployments.bytes_per_weight,
        (1 - rates.cached_frac) * (
            rates.energy_j_per_prefilled_token * moments.prefilled_tokens::double
            + rates.energy_j_per_pair * moments.prefill_pairs::double
            + rates.energy_j_per_prompt * moments.prompts::double
        )
        + rates.energy_j_per_pair * moments.decode_pairs::double
        + rates.energy_j_per_cache_position * moments.cache_positions::double
        + rates.energy_j_per_decode_step * moments.decode_steps::double as alike_energy_j
    from int_rate_draws as rates
    inner join int_class_moments as moments
        on
            rates.month = moments.month
            and rates.provider = moments.provider
            and rates.model_id = moments.model_id
            and rates.query_class = moments.query_class
    inner join int_deployments as deployments
        on
            rates.provider = deployments.provider
            and rates.model_id = deployments.model_id
            and rates.architecture_id = deployments.architecture_id
),

worlds as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.architecture_id,
        priced.draw,
        ladder.batch,
        priced.alike_energy_j + priced.energy_j_per_pass * priced.passes::double
            as in_force_energy_j,
        priced.alike_energy_j
        + priced.passes::double * (
            next_token_energy_j(
                0, priced.energy_j_per_weight_byte, 0, priced.launch_energy_j_per_pass,
                0, sizes.weight_bytes, 0, 1, ladder.batch
            )
            + priced.state_energy_j_per_pass
        ) as gpu_energy_j
    from priced
    inner join int_batch_ladder as ladder
        on
            priced.month = ladder.month
            and priced.provider = ladder.provider
            and priced.model_id = ladder.model_id
            and priced.query_class = ladder.query_class
    inner join int_model_work as sizes
        on
            priced.architecture_id = sizes.architecture_id
            and priced.bytes_per_weight = sizes.bytes_per_weight
            and ladder.batch = sizes.batch
)

select
    worlds.month::varchar as month,
    worlds.provider::varchar as provider,
    worlds.model_id::varchar as model_id,
    worlds.query_class::varchar as query_class,
    worlds.batch::double as batch,
    worlds.draw::integer as draw,
    geometric_mean(worlds.in_force_energy_j)::double as in_force_energy_j,
    geometric_mean(worlds.gpu_energy_j)::double as gpu_energy_j
from worlds
group by all
