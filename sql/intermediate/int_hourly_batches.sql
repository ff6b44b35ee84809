-- How many requests a model that the company serves itself worked on together, hour by hour (UTC),
-- and which output tokens of each month and class were written in that hour.
-- By Little's law that is the time of all requests over the time in which they were served. Time
-- without any request is left out of both: no pass runs in it, so it shares no weights; hours at
-- the edge of a log and hours that are mostly idle need no rule of their own. With several
-- replicas the requests spread over them, and as many are busy as there are requests, so the
-- batch is never below 1. The latency of a log holds the wait in the queue too, where there is
-- one. An hour is known where enough of its output tokens tell their time; an engine's own count
-- of running requests (each engine is a replica of its own) wins over latencies.
-- grain: month, provider, model_id, query_class, hour_start_at

with

servers as (
    select
        int_deployments.provider,
        int_deployments.model_id,
        row_number() over (order by int_deployments.provider, int_deployments.model_id)
        ::integer as server_number,
        max(int_deployments.replicas) as replicas
    from int_deployments
    where int_deployments.hosting_kind = 'self_hosted'
    group by int_deployments.provider, int_deployments.model_id
),

-- A request begins and ends: two edges, sorted by one number for each model, which is quick.
ends as (
    select
        servers.server_number,
        int_request_hours.started_us,
        int_request_hours.ended_us,
        unnest([1, -1]) as change
    from int_request_hours
    inner join servers
        on
            int_request_hours.provider = servers.provider
            and int_request_hours.model_id = servers.model_id
    where int_request_hours.time_source = 'logged latencies'
),

edges as (
    select
        ends.server_number,
        ends.change,
        case when ends.change = 1 then ends.started_us else ends.ended_us end as edge_us
    from ends
),

-- Of edges of one instant the last alone lasts, and it holds the changes of all of them.
levels as (
    select
        edges.server_number,
        edges.edge_us,
        sum(edges.change) over (
            partition by edges.server_number order by edges.edge_us
            rows between unbounded preceding and current row
        ) as running_count,
        lead(edges.edge_us) over (
            partition by edges.server_number order by edges.edge_us
        ) - edges.edge_us as level_us
    from edges
),

latencies as (
    select
        servers.provider,
        servers.model_id,
        time_of_microseconds(floor(levels.edge_us / 3600000000)::bigint * 3600000000)
            as hour_start_at,
        sum(levels.running_count * levels.level_us) as served_us,
        sum(least(levels.running_count, servers.replicas) * levels.level_us) as busy_us
    from levels
    inner join servers on levels.server_number = servers.server_number
    where levels.running_count > 0
    group by all
),

classes as (
    select
        int_request_hours.month,
        int_request_hours.provider,
        int_request_hours.model_id,
        int_request_hours.query_class,
        int_request_hours.hour_start_at,
        count(*) as row_count,
        sum(case when int_request_hours.time_source is null then 1 else 0 end)
            as untimed_row_count,
        sum(int_request_hours.output_tokens) as output_tokens,
        sum(
            case
                when int_request_hours.time_source = 'logged latencies'
                    then int_request_hours.output_tokens
            end
        ) as latency_output_tokens,
        sum(
            case
                when int_request_hours.time_source = 'running requests gauge'
                    then int_request_hours.output_tokens
            end
        ) as gauge_output_tokens,
        sum(
            case
                when int_request_hours.output_tokens > 0
                    then
                        (
                            int_request_hours.running_requests
                            * (int_request_hours.ended_us - int_request_hours.started_us)
                        )::decimal(38, 6)
            end
        ) as gauge_served_us,
        sum(
            case
                when
                    int_request_hours.output_tokens > 0
                    and int_request_hours.running_requests is not null
                    then int_request_hours.ended_us - int_request_hours.started_us
            end
        ) as gauge_busy_us
    from int_request_hours
    group by all
),

sums as (
    select
        classes.provider,
        classes.model_id,
        classes.hour_start_at,
        sum(classes.output_tokens) as output_tokens,
        sum(classes.latency_output_tokens) as latency_output_tokens,
        sum(classes.gauge_output_tokens) as gauge_output_tokens,
        sum(classes.gauge_served_us) as gauge_served_us,
        sum(classes.gauge_busy_us) as gauge_busy_us
    from classes
    group by all
),

known as (
    select
        sums.provider,
        sums.model_id,
        sums.hour_start_at,
        case
            when
                sums.gauge_busy_us > 0
                and sums.gauge_output_tokens::double
                >= enough.value * sums.output_tokens::double
                then 'running requests gauge'
            when
                latencies.busy_us > 0
                and sums.latency_output_tokens::double
                >= enough.value * sums.output_tokens::double
                then 'logged latencies'
        end as time_source,
        greatest(sums.gauge_served_us::double / nullif(sums.gauge_busy_us, 0)::double, 1)
            as gauge_batch,
        latencies.served_us::double / nullif(latencies.busy_us, 0)::double as latency_batch
    from sums
    inner join stg_assumptions as enough on enough.assumption = 'latency_known_frac'
    left join latencies
        on
            sums.provider = latencies.provider
            and sums.model_id = latencies.model_id
            and sums.hour_start_at = latencies.hour_start_at
)

select
    classes.month::varchar as month,
    classes.provider::varchar as provider,
    classes.model_id::varchar as model_id,
    classes.query_class::varchar as query_class,
    classes.hour_start_at::timestamp as hour_start_at,
    classes.row_count::bigint as row_count,
    classes.untimed_row_count::bigint as untimed_row_count,
    classes.output_tokens::decimal(38, 6) as output_tokens,
    known.time_source::varchar as time_source,
    case
        when known.time_source = 'running requests gauge' then known.gauge_batch
        when known.time_source = 'logged latencies' then known.latency_batch
    end::double as batch
from classes
inner join known
    on
        classes.provider = known.provider
        and classes.model_id = known.model_id
        and classes.hour_start_at = known.hour_start_at
