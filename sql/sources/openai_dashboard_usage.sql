-- OpenAI's dashboard export: one bucket of requests a row. Input includes cached and written
-- tokens, output includes reasoning. An empty bucket has nothing but its times. Embeddings, images
-- and audio are files of their own with counters of their own: charges without money. Several rows
-- of a bucket may have the same keys, so those are told apart by size, the largest first.

with

cells as (
    select
        source_rows.source_line,
        source_rows.start_time::varchar as start_time,
        source_rows.project_id::varchar as project_id,
        source_rows.user_id::varchar as user_id,
        source_rows.api_key_id::varchar as api_key_id,
        source_rows.model::varchar as model,
        source_rows.batch::varchar as batch,
        source_rows.service_tier::varchar as service_tier,
        coalesce(
            time_of(source_rows.start_time_iso), epoch_time_of(source_rows.start_time)
        ) as occurred_at,
        coalesce(
            time_of(source_rows.end_time_iso), epoch_time_of(source_rows.end_time)
        ) as bucket_end_at,
        count_of(source_rows.num_model_requests) as request_count,
        count_of(source_rows.input_tokens) as input_tokens,
        count_of(source_rows.input_uncached_tokens) as input_uncached_tokens,
        count_of(source_rows.input_cached_tokens) as cache_read_tokens,
        count_of(source_rows.input_cache_write_tokens) as cache_write_tokens,
        count_of(source_rows.output_tokens) as output_tokens,
        case
            when source_rows.output_tokens is not null then null
            when source_rows.images is not null then 'images'
            when coalesce(source_rows.characters, source_rows.seconds) is not null then 'audio'
            when source_rows.usage_bytes is not null then 'storage'
            when source_rows.num_sessions is not null then 'code_execution'
            when source_rows.model::varchar like '%moderation%' then 'other'
            when source_rows.model::varchar like '%embedding%' then 'embeddings'
        end as charge_kind,
        case
            when source_rows.images is not null then 'images'
            when source_rows.characters is not null then 'characters'
            when source_rows.seconds is not null then 'seconds'
            when source_rows.usage_bytes is not null then 'bytes'
            when source_rows.num_sessions is not null then 'sessions'
            else 'tokens'
        end as charge_unit,
        try_cast(
            coalesce(
                source_rows.images,
                source_rows.characters,
                source_rows.seconds,
                source_rows.usage_bytes,
                source_rows.num_sessions,
                source_rows.input_tokens
            ) as double
        ) as quantity
    from source_rows
),

keyed as (
    select
        cells.source_line,
        cells.occurred_at,
        cells.bucket_end_at,
        cells.project_id,
        cells.user_id,
        cells.api_key_id,
        cells.model,
        cells.batch,
        cells.service_tier,
        cells.request_count,
        cells.input_tokens,
        cells.input_uncached_tokens,
        cells.cache_read_tokens,
        cells.cache_write_tokens,
        cells.output_tokens,
        cells.charge_kind,
        cells.charge_unit,
        cells.quantity,
        concat_ws(
            '|',
            cells.start_time,
            coalesce(cells.bucket_end_at::varchar, ''),
            coalesce(cells.project_id, ''),
            coalesce(cells.user_id, ''),
            coalesce(cells.api_key_id, ''),
            coalesce(cells.model, ''),
            coalesce(cells.batch, ''),
            coalesce(cells.service_tier, ''),
            coalesce(cells.charge_kind, '')
        ) as row_key
    from cells
)

select
    keyed.source_line,
    keyed.occurred_at,
    keyed.bucket_end_at,
    'openai' as provider,
    keyed.model as model_name,
    keyed.project_id as project,
    keyed.user_id,
    keyed.api_key_id,
    keyed.cache_read_tokens,
    keyed.cache_write_tokens as cache_write_5m_tokens,
    keyed.output_tokens,
    keyed.cache_read_tokens is not null as is_cache_known,
    keyed.request_count,
    keyed.service_tier,
    keyed.charge_kind,
    md5(
        keyed.row_key || '|' || row_number() over (
            partition by keyed.row_key
            order by
                known_count(keyed.output_tokens) desc,
                known_count(keyed.input_tokens) desc,
                keyed.quantity desc,
                keyed.source_line asc
        )
    ) as request_id,
    case
        when keyed.charge_kind is null
            then
                coalesce(
                    keyed.input_uncached_tokens,
                    keyed.input_tokens
                    - coalesce(keyed.cache_read_tokens, 0)
                    - coalesce(keyed.cache_write_tokens, 0)
                )
    end as uncached_input_tokens,
    try_cast(keyed.batch as boolean) as is_batch,
    case when keyed.charge_kind is not null then keyed.quantity end as charge_quantity,
    case when keyed.charge_kind is not null then keyed.charge_unit end as charge_unit,
    case
        when keyed.charge_kind is null and keyed.input_uncached_tokens is not null
            then keyed.input_tokens
    end as stated_input_tokens,
    keyed.input_uncached_tokens is null
    and not coalesce(keyed.input_tokens < 0, false) as is_input_total
from keyed
