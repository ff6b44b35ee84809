-- severity: error
-- meaning: the bridge from the month before adds up to the cost of the month, to the cent

with

costs as (
    select
        mart_cost_per_task.month,
        sum(mart_cost_per_task.cost_usd) as cost_usd
    from mart_cost_per_task
    group by all
)

select
    mart_month_bridge.month,
    mart_month_bridge.cost_usd,
    costs.cost_usd as month_cost_usd
from mart_month_bridge
inner join costs on mart_month_bridge.month = costs.month
where
    abs(mart_month_bridge.cost_usd - coalesce(costs.cost_usd, 0)) > 0.005
    or mart_month_bridge.cost_before_usd
    + mart_month_bridge.cost_volume_usd
    + mart_month_bridge.cost_mix_usd
    + mart_month_bridge.cost_model_usd
    + mart_month_bridge.cost_length_usd
    + mart_month_bridge.cost_price_usd
    <> mart_month_bridge.cost_usd
