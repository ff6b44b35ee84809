-- OpenAI's organization usage API: a row is one result of a bucket, a bucket may have none. All
-- counts of input include cached and written tokens; `input_uncached_tokens` (newer) does not.
-- The price list knows one kind of write, so those kept 30 minutes and 12 hours count together.
-- Grouping fields are null unless asked for. Images, audio, embeddings and the like have the same
-- frame with counters of their own: charges without money. A page fetched again repeats its
-- buckets; within a page, results that differ in nothing but their counts are told apart by size.

with

results as (
    select
        source_rows.source_line,
        unnest(results_of(source_rows.document), max_depth := 2)  -- noqa: AL03
    from source_rows
),

counted as (
    select
        results.source_line,
        epoch_time_of(results.starts_at) as occurred_at,
        epoch_time_of(results.ends_at) as bucket_end_at,
        split_part(results.result ->> 'object', '.', 3) as endpoint,
        results.result ->> 'model' as model_name,
        results.result ->> 'project_id' as project,
        results.result ->> 'user_id' as user_id,
        results.result ->> 'api_key_id' as api_key_id,
        results.result ->> 'batch' as batch,
        results.result ->> 'service_tier' as service_tier,
        count_of(results.result ->> 'num_model_requests') as request_count,
        count_of(results.result ->> 'input_tokens') as input_tokens,
        count_of(results.result ->> 'input_uncached_tokens') as input_uncached_tokens,
        count_of(results.result ->> 'input_cached_tokens') as cache_read_tokens,
        coalesce(
            count_of(results.result ->> 'input_cache_write_tokens'),
            count_of(results.result ->> 'input_cache_write_30m_tokens')
            + coalesce(count_of(results.result ->> 'input_cache_write_12h_tokens'), 0),
            count_of(results.result ->> 'input_cache_write_12h_tokens')
        ) as cache_write_tokens,
        count_of(results.result ->> 'output_tokens') as output_tokens,
        try_cast(
            coalesce(
                results.result ->> 'images',
                results.result ->> 'characters',
                results.result ->> 'seconds',
                results.result ->> 'usage_bytes',
                results.result ->> 'num_sessions',
                results.result ->> 'num_requests',
                results.result ->> 'input_tokens'
            ) as double
        ) as quantity,
        concat_ws(
            '|',
            results.starts_at,
            results.ends_at,
            coalesce(results.result ->> 'object', ''),
            coalesce(results.result ->> 'project_id', ''),
            coalesce(results.result ->> 'user_id', ''),
            coalesce(results.result ->> 'api_key_id', ''),
            coalesce(results.result ->> 'model', ''),
            coalesce(results.result ->> 'batch', ''),
            coalesce(results.result ->> 'service_tier', ''),
            coalesce(results.result ->> 'api_source', ''),
            coalesce(results.result ->> 'source', ''),
            coalesce(results.result ->> 'size', ''),
            coalesce(results.result ->> 'vector_store_id', ''),
            coalesce(results.result ->> 'context_level', '')
        ) as result_key
    from results
),

sorted as (
    select
        counted.source_line,
        counted.occurred_at,
        counted.bucket_end_at,
        counted.model_name,
        counted.project,
        counted.user_id,
        counted.api_key_id,
        counted.batch,
        counted.service_tier,
        counted.request_count,
        counted.input_tokens,
        counted.input_uncached_tokens,
        counted.cache_read_tokens,
        counted.cache_write_tokens,
        counted.output_tokens,
        counted.quantity,
        md5(
            counted.result_key || '|' || row_number() over (
                partition by counted.source_line, counted.result_key
                order by
                    known_count(counted.output_tokens) desc,
                    known_count(counted.input_tokens) desc,
                    counted.quantity desc
            )
        ) as request_id,
        case
            when counted.endpoint in ('', 'completions', 'decisions') or counted.endpoint is null
                then null
            when counted.endpoint = 'embeddings' then 'embeddings'
            when counted.endpoint = 'images' then 'images'
            when counted.endpoint like 'audio%' then 'audio'
            when counted.endpoint = 'vector_stores' then 'storage'
            when counted.endpoint like 'code_interpreter%' then 'code_execution'
            when counted.endpoint like 'web_search%' then 'web_search'
            else 'other'
        end as charge_kind,
        case
            when counted.endpoint in ('embeddings', 'moderations') then 'tokens'
            when counted.endpoint = 'images' then 'images'
            when counted.endpoint = 'audio_speeches' then 'characters'
            when counted.endpoint = 'audio_transcriptions' then 'seconds'
            when counted.endpoint = 'vector_stores' then 'bytes'
            when counted.endpoint like 'code_interpreter%' then 'sessions'
            else 'requests'
        end as charge_unit
    from counted
)

select
    sorted.source_line,
    sorted.request_id,
    sorted.occurred_at,
    sorted.bucket_end_at,
    'openai' as provider,
    sorted.model_name,
    sorted.project,
    sorted.user_id,
    sorted.api_key_id,
    case
        when sorted.charge_kind is null
            then
                coalesce(
                    sorted.input_uncached_tokens,
                    sorted.input_tokens
                    - coalesce(sorted.cache_read_tokens, 0)
                    - coalesce(sorted.cache_write_tokens, 0)
                )
    end as uncached_input_tokens,
    sorted.cache_read_tokens,
    sorted.cache_write_tokens as cache_write_5m_tokens,
    sorted.output_tokens,
    sorted.cache_read_tokens is not null as is_cache_known,
    sorted.request_count,
    try_cast(sorted.batch as boolean) as is_batch,
    sorted.service_tier,
    sorted.charge_kind,
    case when sorted.charge_kind is not null then sorted.quantity end as charge_quantity,
    case when sorted.charge_kind is not null then sorted.charge_unit end as charge_unit,
    case
        when sorted.charge_kind is null and sorted.input_uncached_tokens is not null
            then sorted.input_tokens
    end as stated_input_tokens,
    sorted.input_uncached_tokens is null
    and not coalesce(sorted.input_tokens < 0, false) as is_input_total
from sorted
