-- The used part of a GPU bill, shared over the usage of its deployment, classes and teams.
-- Running totals are rounded, and a share is the step between two: so shares and idle time add up
-- to the bill to the last digit. Where the bill leaves electricity out (owned machines), the
-- group's electricity at the tariff stands beside its share.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

with

weighed as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        usage.is_billed,
        hosting.used_usd,
        case when not hosting.bill_includes_power then energy.energy_cost_usd end
            as hosting_energy_cost_usd,
        case hosting.share_basis
            when 'latency' then usage.latency_s::decimal(38, 9)
            when 'energy' then coalesce(energy.gpu_energy_j, 0)::decimal(38, 9)
            when 'tokens'
                then
                    (coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0))
                    ::decimal(38, 9)
            else usage.request_count::decimal(38, 9)
        end as weight
    from int_usage_groups as usage
    inner join int_hosting as hosting
        on usage.month = hosting.month and usage.model_id = hosting.model_id
    inner join int_hosts as hosts
        on usage.provider = hosts.provider and usage.model_id = hosts.model_id
    inner join int_group_energy as energy
        on
            usage.month = energy.month
            and usage.provider = energy.provider
            and usage.model_id = energy.model_id
            and usage.query_class = energy.query_class
            and usage.team is not distinct from energy.team
            and usage.project is not distinct from energy.project
            and usage.service_tier = energy.service_tier
            and usage.price_band_id is not distinct from energy.price_band_id
            and usage.is_billed = energy.is_billed
    where hosts.hosting_kind <> 'api'
),

ordered as (
    select
        weighed.month,
        weighed.provider,
        weighed.model_id,
        weighed.query_class,
        weighed.team,
        weighed.project,
        weighed.service_tier,
        weighed.price_band_id,
        weighed.is_billed,
        weighed.used_usd,
        weighed.hosting_energy_cost_usd,
        weighed.weight,
        row_number() over (
            partition by weighed.month, weighed.model_id
            order by
                weighed.provider, weighed.query_class, weighed.team, weighed.project,
                weighed.service_tier,
                weighed.price_band_id, weighed.is_billed
        ) as place
    from weighed
),

running as (
    select
        ordered.month,
        ordered.provider,
        ordered.model_id,
        ordered.query_class,
        ordered.team,
        ordered.project,
        ordered.service_tier,
        ordered.price_band_id,
        ordered.is_billed,
        ordered.used_usd,
        ordered.hosting_energy_cost_usd,
        ordered.place,
        sum(ordered.weight) over (
            partition by ordered.month, ordered.model_id
            order by ordered.place
            rows between unbounded preceding and current row
        ) as running_weight,
        sum(ordered.weight) over (partition by ordered.month, ordered.model_id) as whole_weight
    from ordered
),

rounded as (
    select
        running.month,
        running.provider,
        running.model_id,
        running.query_class,
        running.team,
        running.project,
        running.service_tier,
        running.price_band_id,
        running.is_billed,
        running.hosting_energy_cost_usd,
        running.place,
        case
            when running.running_weight = running.whole_weight then running.used_usd
            else
                (
                    running.used_usd::double * running.running_weight::double
                    / running.whole_weight::double
                )::decimal(24, 9)
        end as running_usd
    from running
)

select
    rounded.month::varchar as month,
    rounded.provider::varchar as provider,
    rounded.model_id::varchar as model_id,
    rounded.query_class::varchar as query_class,
    rounded.team::varchar as team,
    rounded.project::varchar as project,
    rounded.service_tier::varchar as service_tier,
    rounded.price_band_id::integer as price_band_id,
    rounded.is_billed::boolean as is_billed,
    (
        rounded.running_usd - lag(rounded.running_usd, 1, 0) over (
            partition by rounded.month, rounded.model_id order by rounded.place
        )
    )::decimal(24, 9) as hosting_cost_usd,
    rounded.hosting_energy_cost_usd::decimal(38, 9) as hosting_energy_cost_usd
from rounded
