-- OpenAI's dashboard export: one bucket of requests a row. Input includes cached tokens and output
-- includes reasoning. An empty bucket has nothing but its times.

select
    source_rows.source_line,
    time_of(source_rows.start_time_iso) as occurred_at,
    time_of(source_rows.end_time_iso) as bucket_end_at,
    'openai' as provider,
    source_rows.model as model_name,
    source_rows.project_id as project,
    source_rows.user_id,
    source_rows.api_key_id,
    coalesce(
        count_of(source_rows.input_uncached_tokens),
        count_of(source_rows.input_tokens)
        - coalesce(count_of(source_rows.input_cached_tokens), 0)
    ) as uncached_input_tokens,
    count_of(source_rows.input_cached_tokens) as cache_read_tokens,
    count_of(source_rows.output_tokens) as output_tokens,
    source_rows.input_cached_tokens is not null as is_cache_known,
    count_of(source_rows.num_model_requests) as request_count,
    try_cast(source_rows.batch as boolean) as is_batch,
    source_rows.service_tier,
    source_rows.input_uncached_tokens is null as is_input_total
from source_rows
