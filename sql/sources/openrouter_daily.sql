-- OpenRouter's daily export: one day of one model a row, the cached part unknown, reasoning inside
-- completion. What keys of the company's own paid to the provider (`BYOK Usage`) is not in `Usage`,
-- so both are the bill. Rows of one day and model may differ in what the export does not show, so
-- they are told apart by size, the largest first.

with

cells as (
    select
        source_rows.source_line,
        source_rows.slug,
        source_rows.date,
        time_of(source_rows.date) as started_at,
        count_of(source_rows.prompt_tokens) as input_tokens,
        count_of(source_rows.completion_tokens) as output_tokens,
        count_of(source_rows.reasoning_tokens) as reasoning_tokens,
        count_of(source_rows.requests) as request_count,
        money_of(source_rows.usage) as usage_usd,
        coalesce(money_of(source_rows.byok_usage), 0) as own_key_usd
    from source_rows
)

select
    cells.source_line,
    concat_ws(
        '/',
        cells.date,
        cells.slug,
        row_number() over (
            partition by cells.date, cells.slug
            order by
                cells.output_tokens desc nulls last,
                cells.input_tokens desc nulls last,
                cells.source_line asc
        )
    ) as request_id,
    cells.started_at as occurred_at,
    if(isfinite(cells.started_at), cells.started_at + interval 1 day, null) as bucket_end_at,
    'openrouter' as provider,
    cells.slug as model_name,
    cells.input_tokens as uncached_input_tokens,
    cells.output_tokens,
    cells.reasoning_tokens,
    false as is_cache_known,
    nullif(cells.request_count, 0) as request_count,
    cells.usage_usd + cells.own_key_usd as billed_cost_usd
from cells
