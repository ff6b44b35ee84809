-- Tasks of one team: distinct task ids, and requests that belong to no task.
-- grain: month, team

with

counted as (
    select
        int_requests.month,
        int_requests.team,
        count(distinct int_requests.task_id) as task_count
    from int_requests
    where int_requests.task_id is not null
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
