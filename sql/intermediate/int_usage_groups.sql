-- Summed usage of one model, class, team, project and price: counts, tokens and token moments. Cost
-- and energy are linear in these sums, so nothing later needs the requests again.
-- A billing bucket does not tell its hours: the dearest of the day price it.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

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
    int_requests.month::varchar as month,
    int_requests.provider::varchar as provider,
    int_requests.model_id::varchar as model_id,
    int_requests.query_class::varchar as query_class,
    int_requests.team::varchar as team,
    int_requests.project::varchar as project,
    int_requests.service_tier::varchar as service_tier,
    int_price_bands.price_band_id::integer as price_band_id,
    (int_requests.billed_cost_usd is not null)::boolean as is_billed,
    count(*)::bigint as row_count,
    sum(int_requests.request_count)::decimal(38, 0) as request_count,
    sum(case when int_requests.is_failed then int_requests.request_count else 0 end)
    ::decimal(38, 0) as failed_request_count,
    sum(case when int_requests.is_measurable then int_requests.request_count else 0 end)
    ::decimal(38, 0) as measurable_request_count,
    sum(case when int_requests.has_work then int_requests.request_count else 0 end)
    ::decimal(38, 0) as prompts,
    sum(case when int_requests.is_bucket then int_requests.request_count else 0 end)
    ::decimal(38, 0) as bucket_request_count,
    sum(
        case when int_requests.is_request_count_guessed then int_requests.request_count else 0 end
    )::decimal(38, 0) as guessed_request_count,
    sum(case when int_requests.is_cache_known then int_requests.request_count else 0 end)
    ::decimal(38, 0) as cache_known_request_count,
    sum(
        case
            when int_requests.has_work and not int_requests.is_cache_known
                then int_requests.input_tokens
            else 0
        end
    )::decimal(38, 0) as cache_unknown_tokens,
    sum(
        case when int_requests.class_source <> 'shape' then int_requests.request_count else 0 end
    )::decimal(38, 0) as explicit_class_request_count,
    sum(case when int_requests.names_project then int_requests.request_count else 0 end)
    ::decimal(38, 0) as project_request_count,
    sum(case when int_requests.names_user then int_requests.request_count else 0 end)
    ::decimal(38, 0) as user_request_count,
    sum(case when int_requests.names_api_key then int_requests.request_count else 0 end)
    ::decimal(38, 0) as api_key_request_count,
    sum(case when int_requests.names_route then int_requests.request_count else 0 end)
    ::decimal(38, 0) as route_request_count,
    sum(
        case when int_requests.is_solved is not null then int_requests.request_count else 0 end
    )::decimal(38, 0) as outcome_known_request_count,
    sum(case when int_requests.task_id is null then int_requests.request_count else 0 end)
    ::decimal(38, 0) as taskless_request_count,
    sum(
        case
            when int_requests.task_id is null and int_requests.is_solved
                then int_requests.request_count
            else 0
        end
    )::decimal(38, 0) as taskless_solved_request_count,
    sum(
        case
            when int_requests.task_id is null and int_requests.is_solved is null
                then int_requests.request_count
            else 0
        end
    )::decimal(38, 0) as taskless_unknown_outcome_request_count,
    sum(int_requests.input_tokens)::decimal(38, 0) as input_tokens,
    sum(int_requests.uncached_input_tokens)::decimal(38, 0) as uncached_input_tokens,
    sum(int_requests.cache_read_tokens)::decimal(38, 0) as cache_read_tokens,
    sum(int_requests.cache_write_5m_tokens)::decimal(38, 0) as cache_write_5m_tokens,
    sum(int_requests.cache_write_1h_tokens)::decimal(38, 0) as cache_write_1h_tokens,
    sum(int_requests.output_tokens)::decimal(38, 0) as output_tokens,
    sum(int_requests.reasoning_tokens)::decimal(38, 0) as reasoning_tokens,
    sum(case when int_requests.has_work then int_requests.input_tokens end)
    ::decimal(38, 0) as prompt_tokens,
    sum(case when int_requests.has_work then int_requests.output_tokens end)
    ::decimal(38, 0) as passes,
    sum(int_requests.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    sum(int_requests.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    sum(int_requests.decode_pairs)::decimal(38, 0) as decode_pairs,
    sum(int_requests.cache_positions)::decimal(38, 0) as cache_positions,
    sum(int_requests.output_positions)::decimal(38, 0) as output_positions,
    sum(int_requests.decode_steps)::decimal(38, 0) as decode_steps,
    sum(
        case when int_requests.latency_s >= 0 and not int_requests.is_bucket then 1 else 0 end
    )::decimal(38, 0) as timed_request_count,
    sum(
        case
            when int_requests.latency_s >= 0 and not int_requests.is_bucket
                then int_requests.latency_s::decimal(18, 6)
            else 0
        end
    )::decimal(38, 6) as latency_s,
    sum(int_requests.billed_cost_usd)::decimal(38, 12) as billed_cost_usd
from int_requests
left join regions
    on
        int_requests.provider = regions.provider
        and int_requests.model_id = regions.model_id
        and int_requests.region = regions.region
left join int_price_bands
    on
        int_requests.provider = int_price_bands.provider
        and int_requests.model_id = int_price_bands.model_id
        and int_requests.price_model is not distinct from int_price_bands.price_model
        and int_requests.service_tier = int_price_bands.service_tier
        and coalesce(regions.region, '') = int_price_bands.region
        and int_requests.occurred_at >= int_price_bands.valid_from
        and int_requests.occurred_at < int_price_bands.valid_to
        and int_requests.mean_input_tokens >= int_price_bands.input_tokens_from
        and int_requests.mean_input_tokens < int_price_bands.input_tokens_to
        and case
            when int_requests.is_bucket then int_price_bands.is_dearest_of_day
            else
                extract(hour from int_requests.occurred_at) * 60
                + extract(minute from int_requests.occurred_at)
                >= int_price_bands.utc_minute_from
                and extract(hour from int_requests.occurred_at) * 60
                + extract(minute from int_requests.occurred_at)
                < int_price_bands.utc_minute_to
        end
group by all
