-- severity: error
-- meaning: the steps from list price to cost add up to the cost of the requests, to the last digit

with

classes as (
    select
        mart_cost_per_task.month,
        sum(mart_cost_per_task.cost_usd) as cost_usd
    from mart_cost_per_task
    group by all
)

select
    classes.month,
    classes.cost_usd,
    mart_cost_bridge.cost_usd as bridge_usd
from classes
inner join mart_cost_bridge on classes.month = mart_cost_bridge.month
where
    mart_cost_bridge.step_id = '09'
    and mart_cost_bridge.cost_usd is distinct from classes.cost_usd
