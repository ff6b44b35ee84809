-- Tasks of one model and class: distinct task ids, and requests that belong to no task.
-- A task is solved when any of its requests in the cell is; one without any outcome is a task too,
-- but never a solved one.
-- grain: month, provider, model_id, query_class

with

counted as (
    select
        int_tasks.month,
        int_tasks.provider,
        int_tasks.model_id,
        int_tasks.query_class,
        count(*) as task_count,
        count(*) filter (where int_tasks.is_solved) as solved_task_count,
        count(*) filter (where int_tasks.is_unknown) as unknown_outcome_task_count
    from int_tasks
    group by all
    union all
    select
        int_usage_groups.month,
        int_usage_groups.provider,
        int_usage_groups.model_id,
        int_usage_groups.query_class,
        sum(int_usage_groups.taskless_request_count) as task_count,
        sum(int_usage_groups.taskless_solved_request_count) as solved_task_count,
        sum(int_usage_groups.taskless_unknown_outcome_request_count) as unknown_outcome_task_count
    from int_usage_groups
    group by all
)

select
    counted.month::varchar as month,
    counted.provider::varchar as provider,
    counted.model_id::varchar as model_id,
    counted.query_class::varchar as query_class,
    sum(counted.task_count)::bigint as task_count,
    sum(counted.solved_task_count)::bigint as solved_task_count,
    sum(counted.unknown_outcome_task_count)::bigint as unknown_outcome_task_count
from counted
group by all
