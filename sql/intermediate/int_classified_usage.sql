-- Each row of usage with its lengths and its query class.
-- A class in the log wins; otherwise the shape decides, by the rules of query_classes.csv in
-- their order. Buckets are judged by their mean lengths.
-- materialised: view
-- grain: input_id, source_line

with

lengths as (
    select
        stg_usage.input_id,
        stg_usage.source_line,
        stg_usage.month,
        stg_usage.occurred_at,
        stg_usage.logged_provider,
        stg_usage.logged_model_name,
        stg_usage.team,
        stg_usage.task_id,
        stg_usage.logged_query_class,
        stg_usage.uncached_input_tokens,
        stg_usage.cache_read_tokens,
        stg_usage.cache_write_5m_tokens,
        stg_usage.cache_write_1h_tokens,
        stg_usage.output_tokens,
        stg_usage.reasoning_tokens,
        stg_usage.is_cache_known,
        stg_usage.request_count,
        stg_usage.is_bucket,
        stg_usage.service_tier,
        stg_usage.is_batch,
        stg_usage.region,
        stg_usage.latency_s,
        stg_usage.is_failed,
        stg_usage.is_cut_off,
        stg_usage.is_solved,
        stg_usage.billed_cost_usd,
        stg_usage.uncached_input_tokens
        + coalesce(stg_usage.cache_read_tokens, 0)
        + coalesce(stg_usage.cache_write_5m_tokens, 0)
        + coalesce(stg_usage.cache_write_1h_tokens, 0) as input_tokens,
        coalesce(stg_usage.request_count, 1) as rows_requests
    from stg_usage
)

select
    lengths.input_id::integer as input_id,
    lengths.source_line::bigint as source_line,
    lengths.month::varchar as month,
    lengths.occurred_at::timestamp as occurred_at,
    lengths.logged_provider::varchar as logged_provider,
    lengths.logged_model_name::varchar as logged_model_name,
    lengths.team::varchar as team,
    lengths.task_id::varchar as task_id,
    coalesce(
        raw_query_classes.query_class,
        case
            when lengths.is_batch then 'batch_extraction'
            when lengths.output_tokens is null or lengths.input_tokens is null then 'other'
            when
                lengths.input_tokens >= 20000 * lengths.rows_requests
                and lengths.cache_read_tokens * 2 >= lengths.input_tokens
                then 'agentic'
            when
                lengths.output_tokens > 0
                and lengths.reasoning_tokens * 2 >= lengths.output_tokens
                then 'reasoning'
            when
                lengths.output_tokens >= 2000 * lengths.rows_requests
                and lengths.output_tokens > lengths.input_tokens
                then 'reasoning'
            when
                lengths.output_tokens >= 60 * lengths.rows_requests
                and lengths.input_tokens >= 3000 * lengths.rows_requests
                and lengths.output_tokens * 10 <= lengths.input_tokens
                then 'rag'
            when
                lengths.output_tokens >= 60 * lengths.rows_requests
                and lengths.input_tokens >= 1500 * lengths.rows_requests
                and lengths.input_tokens < 8000 * lengths.rows_requests
                and lengths.output_tokens * 4 <= lengths.input_tokens
                then 'summarization'
            when
                lengths.output_tokens <= 60 * lengths.rows_requests
                and lengths.input_tokens >= 200 * lengths.rows_requests
                then 'code_completion'
            when lengths.input_tokens >= 1 then 'chat'
            else 'other'
        end
    )::varchar as query_class,
    (raw_query_classes.query_class is not null)::boolean as is_class_logged,
    lengths.input_tokens::bigint as input_tokens,
    lengths.uncached_input_tokens::bigint as uncached_input_tokens,
    lengths.cache_read_tokens::bigint as cache_read_tokens,
    lengths.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    lengths.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    lengths.output_tokens::bigint as output_tokens,
    lengths.reasoning_tokens::bigint as reasoning_tokens,
    lengths.is_cache_known::boolean as is_cache_known,
    lengths.request_count::bigint as request_count,
    lengths.is_bucket::boolean as is_bucket,
    lengths.service_tier::varchar as service_tier,
    lengths.region::varchar as region,
    lengths.latency_s::double as latency_s,
    lengths.is_failed::boolean as is_failed,
    lengths.is_cut_off::boolean as is_cut_off,
    lengths.is_solved::boolean as is_solved,
    lengths.billed_cost_usd::decimal(24, 12) as billed_cost_usd
from lengths
left join raw_query_classes
    on lower(lengths.logged_query_class) = raw_query_classes.query_class
