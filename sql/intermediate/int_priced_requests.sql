-- One row of usage with the price band that it falls in, null where there is none: the one place
-- that chooses a band. A billing bucket does not tell its hours: the dearest of its day price it,
-- and one of more than a day the dearest of the week.
-- materialised: view
-- grain: input_id, source_line

with

-- Regions that have a price of their own; every other is priced as none.
regions as (
    select distinct
        int_price_bands.provider,
        int_price_bands.model_id,
        int_price_bands.region
    from int_price_bands
    where int_price_bands.region <> ''
)

select
    requests.input_id::integer as input_id,
    requests.source_line::bigint as source_line,
    requests.month::varchar as month,
    requests.provider::varchar as provider,
    requests.model_id::varchar as model_id,
    requests.query_class::varchar as query_class,
    requests.class_source::varchar as class_source,
    requests.team::varchar as team,
    requests.project::varchar as project,
    requests.names_project::boolean as names_project,
    requests.names_user::boolean as names_user,
    requests.names_api_key::boolean as names_api_key,
    requests.names_route::boolean as names_route,
    requests.task_id::varchar as task_id,
    requests.is_solved::boolean as is_solved,
    requests.is_failed::boolean as is_failed,
    requests.is_cut_off::boolean as is_cut_off,
    requests.is_bucket::boolean as is_bucket,
    requests.is_long_bucket::boolean as is_long_bucket,
    requests.is_request_count_guessed::boolean as is_request_count_guessed,
    requests.is_cache_known::boolean as is_cache_known,
    requests.request_count::bigint as request_count,
    requests.input_tokens::bigint as input_tokens,
    requests.uncached_input_tokens::bigint as uncached_input_tokens,
    requests.cache_read_tokens::bigint as cache_read_tokens,
    requests.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    requests.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    requests.output_tokens::bigint as output_tokens,
    requests.reasoning_tokens::bigint as reasoning_tokens,
    requests.price_model::varchar as price_model,
    requests.service_tier::varchar as service_tier,
    requests.region::varchar as region,
    requests.latency_s::double as latency_s,
    requests.occurred_at::timestamp as occurred_at,
    requests.mean_input_tokens::double as mean_input_tokens,
    requests.billed_cost_usd::decimal(24, 12) as billed_cost_usd,
    requests.is_measurable::boolean as is_measurable,
    requests.has_work::boolean as has_work,
    requests.prefilled_tokens::bigint as prefilled_tokens,
    requests.prefill_pairs::bigint as prefill_pairs,
    requests.decode_pairs::bigint as decode_pairs,
    requests.cache_positions::bigint as cache_positions,
    requests.output_positions::bigint as output_positions,
    requests.decode_steps::bigint as decode_steps,
    bands.price_band_id::integer as price_band_id
from int_requests as requests
left join regions
    on
        requests.provider = regions.provider
        and requests.model_id = regions.model_id
        and requests.region = regions.region
left join int_price_bands as bands
    on
        requests.provider = bands.provider
        and requests.model_id = bands.model_id
        and requests.price_model is not distinct from bands.price_model
        and requests.service_tier = bands.service_tier
        and coalesce(regions.region, '') = bands.region
        and requests.occurred_at >= bands.valid_from
        and requests.occurred_at < bands.valid_to
        and requests.mean_input_tokens >= bands.input_tokens_from
        and requests.mean_input_tokens < bands.input_tokens_to
        and (
            requests.is_long_bucket
            or (
                weekday_of(requests.occurred_at) >= bands.utc_weekday_from
                and weekday_of(requests.occurred_at) < bands.utc_weekday_to
            )
        )
        and case
            when requests.is_long_bucket then bands.is_dearest_of_week
            when requests.is_bucket then bands.is_dearest_of_day
            else
                extract(hour from requests.occurred_at) * 60
                + extract(minute from requests.occurred_at)
                >= bands.utc_minute_from
                and extract(hour from requests.occurred_at) * 60
                + extract(minute from requests.occurred_at)
                < bands.utc_minute_to
        end
