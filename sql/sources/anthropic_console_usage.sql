-- The token export of Anthropic's console: tokens of a day (or an hour, where the date has one) by
-- key and model. Input excludes cached tokens; how many requests there were is not told. The key
-- is a name. Older files have one column of cache writes, and none of context, place and speed.
-- Rows may have the same keys, so those are told apart by size, the largest first.

with

cells as (
    select
        source_rows.source_line,
        source_rows.model_version::varchar as model_version,
        source_rows.api_key::varchar as api_key,
        source_rows.workspace::varchar as workspace,
        source_rows.usage_type::varchar as usage_type,
        source_rows.context_window::varchar as context_window,
        source_rows.inference_geo::varchar as inference_geo,
        source_rows.speed::varchar as speed,
        time_of(source_rows.usage_date_utc) as occurred_at,
        case
            when source_rows.usage_date_utc::varchar like '% %:%' then interval 1 hour
            else interval 1 day
        end as bucket_width,
        count_of(source_rows.usage_input_tokens_no_cache) as uncached_input_tokens,
        count_of(source_rows.usage_input_tokens_cache_read) as cache_read_tokens,
        count_of(
            coalesce(
                source_rows.usage_input_tokens_cache_write_5m,
                source_rows.usage_input_tokens_cache_write
            )
        ) as cache_write_5m_tokens,
        count_of(source_rows.usage_input_tokens_cache_write_1h) as cache_write_1h_tokens,
        count_of(source_rows.usage_output_tokens) as output_tokens
    from source_rows
),

keyed as (
    select
        cells.source_line,
        cells.model_version,
        cells.api_key,
        cells.workspace,
        cells.usage_type,
        cells.inference_geo,
        cells.speed,
        cells.occurred_at,
        cells.bucket_width,
        cells.uncached_input_tokens,
        cells.cache_read_tokens,
        cells.cache_write_5m_tokens,
        cells.cache_write_1h_tokens,
        cells.output_tokens,
        concat_ws(
            '|',
            coalesce(cells.occurred_at::varchar, ''),
            cells.bucket_width::varchar,
            coalesce(cells.model_version, ''),
            coalesce(cells.api_key, ''),
            coalesce(cells.workspace, ''),
            coalesce(cells.usage_type, ''),
            coalesce(cells.context_window, ''),
            coalesce(cells.inference_geo, ''),
            coalesce(cells.speed, '')
        ) as row_key
    from cells
)

select
    keyed.source_line,
    keyed.occurred_at,
    'anthropic' as provider,
    keyed.model_version as model_name,
    keyed.workspace as project,
    keyed.api_key as api_key_id,
    keyed.uncached_input_tokens,
    keyed.cache_read_tokens,
    keyed.cache_write_5m_tokens,
    keyed.cache_write_1h_tokens,
    keyed.output_tokens,
    nullif(keyed.inference_geo, 'not_available') as region,
    case
        when isfinite(keyed.occurred_at) then keyed.occurred_at + keyed.bucket_width
    end as bucket_end_at,
    md5(
        keyed.row_key || '|' || row_number() over (
            partition by keyed.row_key
            order by
                known_count(keyed.output_tokens) desc,
                known_count(keyed.uncached_input_tokens) desc,
                keyed.source_line asc
        )
    ) as request_id,
    keyed.cache_read_tokens is not null as is_cache_known,
    coalesce(keyed.usage_type = 'batch', false) as is_batch,
    case
        when keyed.speed = 'fast' then 'fast'
        when keyed.usage_type in ('standard', 'batch', 'priority', 'flex') then keyed.usage_type
    end as service_tier
from keyed
