-- One accepted row of usage: a request, or a billing bucket of several requests.
-- Counts are whole numbers here: rows whose counts are not were set aside at ingest.
-- materialised: view
-- grain: input_id, source_line

select
    raw_usage.input_id::integer as input_id,
    raw_usage.source_line::bigint as source_line,
    raw_usage.request_id::varchar as request_id,
    raw_usage.occurred_at::timestamp as occurred_at,
    raw_usage.bucket_end_at::timestamp as bucket_end_at,
    raw_usage.month::varchar as month,
    coalesce(raw_usage.provider, '')::varchar as logged_provider,
    raw_usage.model_name::varchar as logged_model_name,
    raw_usage.team::varchar as team,
    raw_usage.project::varchar as project,
    raw_usage.user_id::varchar as user_id,
    raw_usage.api_key_id::varchar as api_key_id,
    raw_usage.route::varchar as route,
    raw_usage.session_id::varchar as session_id,
    raw_usage.task_id::varchar as task_id,
    raw_usage.parent_id::varchar as parent_id,
    raw_usage.query_class::varchar as logged_query_class,
    raw_usage.uncached_input_tokens::bigint as uncached_input_tokens,
    raw_usage.cache_read_tokens::bigint as cache_read_tokens,
    raw_usage.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    raw_usage.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    raw_usage.output_tokens::bigint as output_tokens,
    raw_usage.reasoning_tokens::bigint as reasoning_tokens,
    coalesce(raw_usage.is_cache_known, false)::boolean as is_cache_known,
    raw_usage.request_count::bigint as request_count,
    coalesce(raw_usage.request_count > 1, raw_usage.bucket_end_at is not null)::boolean
        as is_bucket,
    case
        when coalesce(raw_usage.is_batch, false) then 'batch'
        when
            lower(coalesce(raw_usage.service_tier, ''))
            in ('', 'default', 'standard', 'auto', 'on_demand', 'none')
            then 'standard'
        else lower(raw_usage.service_tier)
    end::varchar as service_tier,
    coalesce(raw_usage.is_batch, false)::boolean as is_batch,
    coalesce(lower(raw_usage.region), '')::varchar as region,
    raw_usage.latency_s::double as latency_s,
    coalesce(lower(raw_usage.status) in ('failure', 'failed', 'error', 'cancelled'), false)::boolean
        as is_failed,
    coalesce(lower(raw_usage.finish_reason) in ('length', 'max_tokens'), false)::boolean
        as is_cut_off,
    raw_usage.is_solved::boolean as is_solved,
    raw_usage.running_requests::double as running_requests,
    raw_usage.billed_cost_usd::decimal(24, 12) as billed_cost_usd
from raw_usage
where
    raw_usage.reject_reasons is null
    and not raw_usage.is_duplicate
    and raw_usage.charge_kind is null
