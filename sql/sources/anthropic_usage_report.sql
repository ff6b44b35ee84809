-- Anthropic's usage report of the admin API: a row is one result of a bucket, a bucket may have
-- none. Input excludes cached tokens and how many requests there were is not told. Grouping fields
-- are null unless asked for. A page fetched again repeats its buckets; within a page, results that
-- differ in nothing but their counts are told apart by size.

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
        time_of(results.starts_at) as occurred_at,
        time_of(results.ends_at) as bucket_end_at,
        results.result ->> 'model' as model_name,
        results.result ->> 'workspace_id' as project,
        results.result ->> 'account_id' as user_id,
        results.result ->> 'api_key_id' as api_key_id,
        results.result ->> 'inference_geo' as region,
        results.result ->> 'service_tier' as service_tier,
        results.result ->> 'speed' as speed,
        count_of(results.result ->> 'uncached_input_tokens') as uncached_input_tokens,
        count_of(results.result ->> 'cache_read_input_tokens') as cache_read_tokens,
        count_of(results.result ->> '$.cache_creation.ephemeral_5m_input_tokens')
            as cache_write_5m_tokens,
        count_of(results.result ->> '$.cache_creation.ephemeral_1h_input_tokens')
            as cache_write_1h_tokens,
        count_of(results.result ->> 'output_tokens') as output_tokens,
        concat_ws(
            '|',
            coalesce(results.starts_at, ''),
            coalesce(results.ends_at, ''),
            coalesce(results.result ->> 'workspace_id', ''),
            coalesce(results.result ->> 'account_id', ''),
            coalesce(results.result ->> 'service_account_id', ''),
            coalesce(results.result ->> 'api_key_id', ''),
            coalesce(results.result ->> 'model', ''),
            coalesce(results.result ->> 'service_tier', ''),
            coalesce(results.result ->> 'context_window', ''),
            coalesce(results.result ->> 'inference_geo', ''),
            coalesce(results.result ->> 'speed', ''),
            coalesce(results.result ->> 'product', '')
        ) as result_key
    from results
)

select
    counted.source_line,
    counted.occurred_at,
    counted.bucket_end_at,
    'anthropic' as provider,
    counted.model_name,
    counted.project,
    counted.user_id,
    counted.api_key_id,
    counted.uncached_input_tokens,
    counted.cache_read_tokens,
    counted.cache_write_5m_tokens,
    counted.cache_write_1h_tokens,
    counted.output_tokens,
    true as is_cache_known,
    nullif(counted.region, 'not_available') as region,
    md5(
        counted.result_key || '|' || row_number() over (
            partition by counted.source_line, counted.result_key
            order by
                known_count(counted.output_tokens) desc,
                known_count(counted.uncached_input_tokens) desc
        )
    ) as request_id,
    coalesce(counted.service_tier = 'batch', false) as is_batch,
    case when counted.speed = 'fast' then 'fast' else counted.service_tier end as service_tier
from counted
