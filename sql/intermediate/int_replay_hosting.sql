-- What a class replayed on own servers takes of their GPU bill: the model's own requests what they
-- paid, those of others what a joule of the model's requests paid in the month. Idle hours are in
-- neither. In each joint draw that joule's price and the energy of others are those of the draw; so
-- a part that the model served alone is exact.
-- grain: month, query_class, provider, model_id

with

hosting_rates as (
    select distinct
        hosted.month,
        hosted.provider,
        hosted.model_id,
        hosted.usd_per_gpu_j
    from int_class_hosting as hosted
),

worlds as (
    select
        replayed.month,
        replayed.query_class,
        replayed.provider,
        replayed.model_id,
        case
            when replays.own_prompts = replays.prompts then 0
            else
                paying.usd_per_gpu_j
                * greatest(replayed.gpu_energy_j - coalesce(own.gpu_energy_j, 0), 0)
        end as others_usd
    from int_replay_draws as replayed
    inner join int_hosting_rate_draws as paying
        on
            replayed.month = paying.month
            and replayed.provider = paying.provider
            and replayed.model_id = paying.model_id
            and replayed.draw = paying.draw
    inner join int_replays as replays
        on
            replayed.month = replays.month
            and replayed.query_class = replays.query_class
            and replayed.scope = replays.scope
            and replayed.provider = replays.provider
            and replayed.model_id = replays.model_id
    left join int_class_draws as own
        on
            replayed.month = own.month
            and replayed.query_class = own.query_class
            and replayed.provider = own.provider
            and replayed.model_id = own.model_id
            and replayed.draw = own.draw
    where replayed.scope = 'all'
),

ends as (
    select
        worlds.month,
        worlds.query_class,
        worlds.provider,
        worlds.model_id,
        drawn_p05(worlds.others_usd) as others_low_usd,
        drawn_p95(worlds.others_usd) as others_high_usd
    from worlds
    group by all
),

valued as (
    select
        replays.month,
        replays.query_class,
        replays.provider,
        replays.model_id,
        coalesce(hosted.hosting_cost_usd, 0) as own_usd,
        case
            when replays.own_prompts = replays.prompts then hosted.hosting_cost_usd
            when energies.gpu_energy_j is not null
                then
                    coalesce(hosted.hosting_cost_usd, 0)
                    + (
                        hosting_rates.usd_per_gpu_j
                        * greatest(
                            energies.gpu_energy_j - coalesce(own_energy.gpu_energy_j, 0), 0
                        )
                    )::decimal(38, 15)
        end as hosting_cost_usd
    from int_replays as replays
    inner join hosting_rates
        on
            replays.month = hosting_rates.month
            and replays.provider = hosting_rates.provider
            and replays.model_id = hosting_rates.model_id
    left join int_class_hosting as hosted
        on
            replays.month = hosted.month
            and replays.query_class = hosted.query_class
            and replays.provider = hosted.provider
            and replays.model_id = hosted.model_id
    left join int_replay_energy as energies
        on
            replays.month = energies.month
            and replays.query_class = energies.query_class
            and replays.provider = energies.provider
            and replays.model_id = energies.model_id
    left join int_class_energy as own_energy
        on
            replays.month = own_energy.month
            and replays.query_class = own_energy.query_class
            and replays.provider = own_energy.provider
            and replays.model_id = own_energy.model_id
    where replays.scope = 'all'
)

select
    valued.month::varchar as month,
    valued.query_class::varchar as query_class,
    valued.provider::varchar as provider,
    valued.model_id::varchar as model_id,
    valued.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    least(valued.own_usd::double + ends.others_low_usd, valued.hosting_cost_usd::double)
    ::decimal(38, 15) as hosting_cost_low_usd,
    greatest(valued.own_usd::double + ends.others_high_usd, valued.hosting_cost_usd::double)
    ::decimal(38, 15) as hosting_cost_high_usd
from valued
left join ends
    on
        valued.month = ends.month
        and valued.query_class = ends.query_class
        and valued.provider = ends.provider
        and valued.model_id = ends.model_id
where valued.hosting_cost_usd is not null
