-- Each row of usage with its lengths, its query class, and whose it is.
-- What the company's attribution gives it wins over the log. Of a class that neither names, the
-- shape decides, by the rules of query_classes.csv in their order; class_source says who did.
-- Buckets are judged by their mean lengths.
-- materialised: view
-- grain: input_id, source_line

with

lengths as (
    select
        usage.input_id,
        usage.source_line,
        usage.month,
        usage.occurred_at,
        usage.bucket_end_at,
        usage.logged_provider,
        usage.logged_model_name,
        usage.project as logged_project,
        usage.user_id,
        usage.api_key_id,
        usage.route,
        usage.logged_query_class,
        told.query_class as told_query_class,
        coalesce(told.team, usage.team) as team,
        coalesce(told.project, usage.project) as project,
        case
            when told.task_rule is null or told.task_rule = 'trace' then usage.task_id
            when told.task_rule = 'session' then usage.session_id
            when told.task_rule = 'parent' then coalesce(usage.parent_id, usage.request_id)
            when told.task_rule = 'window' then windows.task_id
        end as task_id,
        usage.uncached_input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_5m_tokens,
        usage.cache_write_1h_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.is_cache_known,
        usage.request_count,
        usage.is_bucket,
        usage.service_tier,
        usage.is_batch,
        usage.region,
        usage.is_failed,
        usage.is_cut_off,
        usage.is_solved,
        usage.latency_s,
        usage.running_requests,
        usage.billed_cost_usd,
        usage.uncached_input_tokens
        + coalesce(usage.cache_read_tokens, 0)
        + coalesce(usage.cache_write_5m_tokens, 0)
        + coalesce(usage.cache_write_1h_tokens, 0) as input_tokens,
        coalesce(usage.request_count, 1) as rows_requests
    from stg_usage as usage
    cross join int_attribution_columns as asked
    left join int_attributions as told
        on
            asked_name(asked.by_provider, usage.logged_provider) = told.provider
            and asked_name(asked.by_model_name, usage.logged_model_name) = told.model_name
            and asked_name(asked.by_team, usage.team) = told.logged_team
            and asked_name(asked.by_project, usage.project) = told.logged_project
            and asked_name(asked.by_user, usage.user_id) = told.user_id
            and asked_name(asked.by_api_key, usage.api_key_id) = told.api_key_id
            and asked_name(asked.by_route, usage.route) = told.route
            and usage.occurred_at >= told.valid_from
            and usage.occurred_at < told.valid_to
    left join int_window_tasks as windows
        on usage.input_id = windows.input_id and usage.source_line = windows.source_line
)

select
    lengths.input_id::integer as input_id,
    lengths.source_line::bigint as source_line,
    lengths.month::varchar as month,
    lengths.occurred_at::timestamp as occurred_at,
    lengths.bucket_end_at::timestamp as bucket_end_at,
    lengths.logged_provider::varchar as logged_provider,
    lengths.logged_model_name::varchar as logged_model_name,
    lengths.team::varchar as team,
    lengths.project::varchar as project,
    lengths.task_id::varchar as task_id,
    (lengths.logged_project is not null)::boolean as names_project,
    (lengths.user_id is not null)::boolean as names_user,
    (lengths.api_key_id is not null)::boolean as names_api_key,
    (lengths.route is not null)::boolean as names_route,
    coalesce(
        lengths.told_query_class,
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
    case
        when lengths.told_query_class is not null then 'mapping'
        when raw_query_classes.query_class is not null then 'logged'
        else 'shape'
    end::varchar as class_source,
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
    lengths.running_requests::double as running_requests,
    lengths.billed_cost_usd::decimal(24, 12) as billed_cost_usd
from lengths
left join raw_query_classes
    on lower(lengths.logged_query_class) = raw_query_classes.query_class
