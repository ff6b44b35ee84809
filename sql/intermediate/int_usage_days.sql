-- Summed usage of one model, class, team, project and price on one day of the calendar in which months
-- are cut, and what of it was wasted: counts, tokens and token moments. Cost and energy are linear in
-- these sums, so nothing later needs the requests again. A bucket of more than a day is no day: its
-- first day stands there.
-- grain: month, day_on, is_day, waste_kind, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

select
    requests.month::varchar as month,
    local_day(requests.occurred_at, calendar.time_zone)::date as day_on,
    (not requests.is_long_bucket)::boolean as is_day,
    case
        when requests.is_failed then 'failed'
        when requests.is_cut_off then 'truncated'
    end::varchar as waste_kind,
    requests.provider::varchar as provider,
    requests.model_id::varchar as model_id,
    requests.query_class::varchar as query_class,
    requests.team::varchar as team,
    requests.project::varchar as project,
    requests.service_tier::varchar as service_tier,
    requests.price_band_id::integer as price_band_id,
    (requests.billed_cost_usd is not null)::boolean as is_billed,
    count(*)::bigint as row_count,
    sum(requests.request_count)::decimal(38, 0) as request_count,
    sum(case when requests.is_measurable then requests.request_count else 0 end)
    ::decimal(38, 0) as measurable_request_count,
    sum(case when requests.has_work then requests.request_count else 0 end)
    ::decimal(38, 0) as prompts,
    sum(case when requests.is_bucket then requests.request_count else 0 end)
    ::decimal(38, 0) as bucket_request_count,
    sum(
        case when requests.is_request_count_guessed then requests.request_count else 0 end
    )::decimal(38, 0) as guessed_request_count,
    sum(case when requests.is_cache_known then requests.request_count else 0 end)
    ::decimal(38, 0) as cache_known_request_count,
    sum(
        case
            when requests.has_work and not requests.is_cache_known
                then requests.input_tokens
            else 0
        end
    )::decimal(38, 0) as cache_unknown_tokens,
    sum(
        case when requests.class_source <> 'shape' then requests.request_count else 0 end
    )::decimal(38, 0) as explicit_class_request_count,
    sum(case when requests.names_project then requests.request_count else 0 end)
    ::decimal(38, 0) as project_request_count,
    sum(case when requests.names_user then requests.request_count else 0 end)
    ::decimal(38, 0) as user_request_count,
    sum(case when requests.names_api_key then requests.request_count else 0 end)
    ::decimal(38, 0) as api_key_request_count,
    sum(case when requests.names_route then requests.request_count else 0 end)
    ::decimal(38, 0) as route_request_count,
    sum(
        case when requests.is_solved is not null then requests.request_count else 0 end
    )::decimal(38, 0) as outcome_known_request_count,
    sum(case when requests.task_id is null then requests.request_count else 0 end)
    ::decimal(38, 0) as taskless_request_count,
    sum(
        case
            when requests.task_id is null and requests.is_solved
                then requests.request_count
            else 0
        end
    )::decimal(38, 0) as taskless_solved_request_count,
    sum(
        case
            when requests.task_id is null and requests.is_solved is null
                then requests.request_count
            else 0
        end
    )::decimal(38, 0) as taskless_unknown_outcome_request_count,
    sum(requests.input_tokens)::decimal(38, 0) as input_tokens,
    sum(requests.uncached_input_tokens)::decimal(38, 0) as uncached_input_tokens,
    sum(requests.cache_read_tokens)::decimal(38, 0) as cache_read_tokens,
    sum(requests.cache_write_5m_tokens)::decimal(38, 0) as cache_write_5m_tokens,
    sum(requests.cache_write_1h_tokens)::decimal(38, 0) as cache_write_1h_tokens,
    sum(requests.output_tokens)::decimal(38, 0) as output_tokens,
    sum(requests.reasoning_tokens)::decimal(38, 0) as reasoning_tokens,
    sum(case when requests.has_work then requests.input_tokens end)
    ::decimal(38, 0) as prompt_tokens,
    sum(case when requests.has_work then requests.output_tokens end)
    ::decimal(38, 0) as passes,
    sum(requests.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    sum(requests.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    sum(requests.decode_pairs)::decimal(38, 0) as decode_pairs,
    sum(requests.cache_positions)::decimal(38, 0) as cache_positions,
    sum(requests.output_positions)::decimal(38, 0) as output_positions,
    sum(requests.decode_steps)::decimal(38, 0) as decode_steps,
    sum(
        case when requests.latency_s >= 0 and not requests.is_bucket then 1 else 0 end
    )::decimal(38, 0) as timed_request_count,
    sum(
        case
            when requests.latency_s >= 0 and not requests.is_bucket
                then requests.latency_s::decimal(18, 6)
            else 0
        end
    )::decimal(38, 6) as latency_s,
    sum(requests.billed_cost_usd)::decimal(38, 12) as billed_cost_usd
from int_priced_requests as requests
cross join raw_calendar as calendar
group by all
