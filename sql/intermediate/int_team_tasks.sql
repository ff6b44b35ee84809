-- Tasks of one team in a reported month: distinct task ids, and requests that belong to no task.
-- grain: month, team

with

counted as (
    select
        int_requests.month,
        int_requests.team,
        count(distinct int_requests.task_id) as task_count
    from int_requests
    cross join raw_reported as reported
    where int_requests.task_id is not null and int_requests.month >= reported.first_month
    group by all
    union all
    select
        int_usage_groups.month,
        int_usage_groups.team,
        sum(int_usage_groups.taskless_request_count) as task_count
    from int_usage_groups
    cross join raw_reported as reported
    where int_usage_groups.month >= reported.first_month
    group by all
)

select
    counted.month::varchar as month,
    counted.team::varchar as team,
    sum(counted.task_count)::bigint as task_count
from counted
group by all
