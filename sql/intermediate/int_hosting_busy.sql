-- For how long at least one request ran on a deployment that has a GPU bill, where the log says
-- how long each took. Requests that overlap count once.
-- grain: month, model_id

with

runs as (
    select
        bills.month,
        bills.model_id,
        int_requests.occurred_at as begun_at,
        time_after(int_requests.occurred_at, int_requests.latency_s) as ended_at
    from int_hosting_bills as bills
    inner join int_requests
        on bills.month = int_requests.month and bills.model_id = int_requests.model_id
    inner join int_hosts as hosts
        on int_requests.provider = hosts.provider and int_requests.model_id = hosts.model_id
    where
        hosts.hosting_kind <> 'api'
        and int_requests.latency_s >= 0
        and not int_requests.is_bucket
),

reached as (
    select
        runs.month,
        runs.model_id,
        runs.begun_at,
        runs.ended_at,
        max(runs.ended_at) over (
            partition by runs.month, runs.model_id
            order by runs.begun_at, runs.ended_at
            rows between unbounded preceding and 1 preceding
        ) as reached_at
    from runs
)

select
    reached.month::varchar as month,
    reached.model_id::varchar as model_id,
    sum(
        greatest(
            microseconds_between(
                greatest(reached.begun_at, coalesce(reached.reached_at, reached.begun_at)),
                reached.ended_at
            ),
            0
        )
    )::decimal(38, 0) as busy_microseconds
from reached
group by reached.month, reached.model_id
