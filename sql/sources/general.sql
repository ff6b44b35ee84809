-- The general form: columns named as in the usage record. `input_tokens` counts all input, cache
-- included; `uncached_input_tokens` is taken as it stands. `total_tokens` is only held against the
-- others.

select
    source_rows.source_line,
    source_rows.request_id::varchar as request_id,
    time_of(source_rows.occurred_at) as occurred_at,
    time_of(source_rows.bucket_end_at) as bucket_end_at,
    source_rows.provider::varchar as provider,
    source_rows.model_name::varchar as model_name,
    source_rows.team::varchar as team,
    source_rows.project::varchar as project,
    source_rows.user_id::varchar as user_id,
    source_rows.api_key_id::varchar as api_key_id,
    source_rows.route::varchar as route,
    source_rows.session_id::varchar as session_id,
    source_rows.task_id::varchar as task_id,
    source_rows.parent_id::varchar as parent_id,
    source_rows.query_class::varchar as query_class,
    coalesce(
        count_of(source_rows.uncached_input_tokens),
        count_of(source_rows.input_tokens)
        - coalesce(count_of(source_rows.cache_read_tokens), 0)
        - coalesce(count_of(source_rows.cache_write_5m_tokens), 0)
        - coalesce(count_of(source_rows.cache_write_1h_tokens), 0)
    ) as uncached_input_tokens,
    count_of(source_rows.cache_read_tokens) as cache_read_tokens,
    count_of(source_rows.cache_write_5m_tokens) as cache_write_5m_tokens,
    count_of(source_rows.cache_write_1h_tokens) as cache_write_1h_tokens,
    count_of(source_rows.output_tokens) as output_tokens,
    count_of(source_rows.reasoning_tokens) as reasoning_tokens,
    coalesce(
        try_cast(source_rows.is_cache_known as boolean), source_rows.cache_read_tokens is not null
    ) as is_cache_known,
    count_of(source_rows.request_count) as request_count,
    try_cast(source_rows.is_batch as boolean) as is_batch,
    source_rows.service_tier::varchar as service_tier,
    source_rows.region::varchar as region,
    source_rows.effort::varchar as effort,
    source_rows.status::varchar as status,
    source_rows.finish_reason::varchar as finish_reason,
    try_cast(source_rows.is_solved as boolean) as is_solved,
    try_cast(source_rows.latency_s as double) as latency_s,
    try_cast(source_rows.ttft_s as double) as ttft_s,
    money_of(source_rows.billed_cost_usd) as billed_cost_usd,
    nullif(trim(source_rows.billed_currency::varchar), '') as billed_currency,
    source_rows.charge_kind::varchar as charge_kind,
    try_cast(source_rows.charge_quantity as double) as charge_quantity,
    source_rows.charge_unit::varchar as charge_unit,
    count_of(source_rows.total_tokens) as total_tokens,
    case
        when source_rows.uncached_input_tokens is not null then count_of(source_rows.input_tokens)
    end as stated_input_tokens,
    source_rows.uncached_input_tokens is null and source_rows.input_tokens is not null
    and not coalesce(count_of(source_rows.input_tokens) < 0, false) as is_input_total
from source_rows
