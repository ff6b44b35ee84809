-- One row of usage of a model that the company serves itself, cut at full hours (UTC): where its
-- time and its output tokens fall. A request tells its latency, a bucket of a serving engine its
-- mean of running requests; a row that tells neither, or nothing to be believed, counts with its
-- tokens in the hour it began and has no time. Models of API providers are left out: what their
-- logs tell of time says nothing of who else is served beside us.
-- materialised: view
-- grain: input_id, source_line, hour_start_at

with

served as (
    select
        usage.input_id,
        usage.source_line,
        usage.month,
        int_models.provider,
        int_models.model_id,
        usage.query_class,
        usage.output_tokens,
        microseconds_of(usage.occurred_at) as started_us,
        case
            when
                not usage.is_bucket
                and usage.latency_s >= 0.000001
                and usage.latency_s <= latency.value
                then round(usage.latency_s * 1000000)::bigint
        end as latency_us,
        case
            when
                usage.running_requests >= 0
                and usage.bucket_end_at > usage.occurred_at
                and microseconds_of(usage.bucket_end_at) - microseconds_of(usage.occurred_at)
                <= running.value * 1000000
                then microseconds_of(usage.bucket_end_at) - microseconds_of(usage.occurred_at)
        end as gauge_us,
        usage.running_requests
    from int_classified_usage as usage
    inner join int_models
        on
            usage.logged_provider = int_models.logged_provider
            and usage.logged_model_name = int_models.logged_model_name
            and usage.occurred_at >= int_models.valid_from
            and usage.occurred_at < int_models.valid_to
    inner join stg_assumptions as latency on latency.assumption = 'latency_most_s'
    inner join stg_assumptions as running on running.assumption = 'running_requests_most_s'
    where int_models.hosting_kind = 'self_hosted' and usage.output_tokens is not null
),

hours as (
    select
        served.input_id,
        served.source_line,
        served.month,
        served.provider,
        served.model_id,
        served.query_class,
        served.output_tokens,
        served.started_us,
        served.latency_us,
        served.gauge_us,
        served.running_requests,
        coalesce(served.gauge_us, served.latency_us) as span_us,
        unnest(
            generate_series(
                floor(served.started_us / 3600000000)::bigint,
                floor(
                    (
                        served.started_us
                        + greatest(coalesce(served.gauge_us, served.latency_us, 0) - 1, 0)
                    ) / 3600000000
                )::bigint
            )
        ) as hour_number
    from served
)

select
    hours.input_id::integer as input_id,
    hours.source_line::bigint as source_line,
    hours.month::varchar as month,
    hours.provider::varchar as provider,
    hours.model_id::varchar as model_id,
    hours.query_class::varchar as query_class,
    time_of_microseconds(hours.hour_number * 3600000000)::timestamp as hour_start_at,
    case
        when hours.gauge_us is not null then 'running requests gauge'
        when hours.latency_us is not null then 'logged latencies'
    end::varchar as time_source,
    greatest(hours.started_us, hours.hour_number * 3600000000)::bigint as started_us,
    least(
        hours.started_us + coalesce(hours.span_us, 0), (hours.hour_number + 1) * 3600000000
    )::bigint as ended_us,
    case when hours.gauge_us is not null then hours.running_requests end::double
        as running_requests,
    case
        when hours.span_us is null then hours.output_tokens
        else
            hours.output_tokens::double
            * (
                least(hours.started_us + hours.span_us, (hours.hour_number + 1) * 3600000000)
                - greatest(hours.started_us, hours.hour_number * 3600000000)
            )::double
            / hours.span_us::double
    end::decimal(38, 6) as output_tokens
from hours
