-- Tasks of one team: distinct task ids, and requests that belong to no task.
-- grain: month, team

with

counted as (
    select
        int_tasks.month,
        int_tasks.team,
        count(distinct int_tasks.task_id) as task_count
    from int_tasks
    group by all
    union all
    select
        int_usage_groups.month,
        int_usage_groups.team,
        sum(int_usage_groups.taskless_request_count) as task_count
    from int_usage_groups
    group by all
)

select
    counted.month::varchar as month,
    counted.team::varchar as team,
    sum(counted.task_count)::bigint as task_count
from counted
group by all
