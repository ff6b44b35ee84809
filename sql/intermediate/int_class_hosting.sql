-- What the requests of a class on own servers paid of their GPU bill (with the electricity that the
-- bill leaves out), and what a joule of all requests of the model paid in the month.
-- grain: month, query_class, provider, model_id

with

paid as (
    select
        costs.month,
        costs.query_class,
        costs.provider,
        costs.model_id,
        sum(costs.hosting_cost_usd + coalesce(costs.hosting_energy_cost_usd, 0))
            as hosting_cost_usd
    from int_group_costs as costs
    where costs.hosting_cost_usd is not null
    group by all
),

rates as (
    select
        paid.month,
        paid.provider,
        paid.model_id,
        sum(paid.hosting_cost_usd)::double
        / nullif(sum(energy.gpu_energy_j::decimal(38, 9)), 0)::double as usd_per_gpu_j
    from paid
    inner join int_class_energy as energy
        on
            paid.month = energy.month
            and paid.query_class = energy.query_class
            and paid.provider = energy.provider
            and paid.model_id = energy.model_id
    group by all
)

select
    paid.month::varchar as month,
    paid.query_class::varchar as query_class,
    paid.provider::varchar as provider,
    paid.model_id::varchar as model_id,
    paid.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    rates.usd_per_gpu_j::double as usd_per_gpu_j
from paid
left join rates
    on
        paid.month = rates.month
        and paid.provider = rates.provider
        and paid.model_id = rates.model_id
