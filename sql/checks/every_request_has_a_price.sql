-- severity: warn
-- meaning: usage without list price or bill counts as unpriced and is left out of every cost

select
    mart_cost_per_task.month,
    mart_cost_per_task.provider,
    mart_cost_per_task.model_id,
    sum(mart_cost_per_task.unpriced_request_count) as unpriced_request_count
from mart_cost_per_task
where mart_cost_per_task.unpriced_request_count > 0
group by all
order by
    mart_cost_per_task.month asc, unpriced_request_count desc, mart_cost_per_task.model_id asc
