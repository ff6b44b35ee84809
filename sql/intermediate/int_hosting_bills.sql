-- A month's bill for the GPUs of one model, under the model's id: the rows of all its GPU kinds.
-- The table may name the model by its id, another name of it, or as logged.
-- grain: month, model_id

with

served as (
    select
        spellings.spelling,
        min(spellings.model_id) as model_id
    from int_model_spellings as spellings
    inner join int_hosts as hosts
        on spellings.provider = hosts.provider and spellings.model_id = hosts.model_id
    where hosts.hosting_kind <> 'api'
    group by spellings.spelling
),

named as (
    select
        stg_hosting_costs.month,
        coalesce(
            served.model_id,
            stg_models.model_id,
            stg_model_aliases.model_id,
            stg_hosting_costs.deployment
        ) as model_id,
        stg_hosting_costs.gpu_count,
        stg_hosting_costs.hours,
        stg_hosting_costs.usd,
        stg_hosting_costs.bill_includes_power
    from stg_hosting_costs
    left join served on lower(stg_hosting_costs.deployment) = served.spelling
    left join stg_models on lower(stg_hosting_costs.deployment) = stg_models.model_key
    left join stg_model_aliases on lower(stg_hosting_costs.deployment) = stg_model_aliases.alias
)

select
    named.month::varchar as month,
    named.model_id::varchar as model_id,
    sum(named.gpu_count)::decimal(18, 0) as gpu_count,
    sum(named.gpu_count * named.hours)::decimal(38, 6) as gpu_hours,
    sum(named.usd)::decimal(24, 9) as billed_usd,
    bool_and(named.bill_includes_power)::boolean as bill_includes_power
from named
group by named.month, named.model_id
