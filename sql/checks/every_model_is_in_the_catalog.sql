-- severity: warn
-- meaning: a model that the catalog does not know has no energy; map its name, or add it

select
    mart_cost_per_task.month,
    mart_cost_per_task.provider,
    mart_cost_per_task.model_id,
    sum(mart_cost_per_task.request_count) as request_count,
    sum(mart_cost_per_task.output_tokens) as output_tokens
from mart_cost_per_task
inner join int_hosts
    on
        mart_cost_per_task.provider = int_hosts.provider
        and mart_cost_per_task.model_id = int_hosts.model_id
where not int_hosts.is_known_model
group by all
order by mart_cost_per_task.month asc, request_count desc, mart_cost_per_task.model_id asc
