-- OpenRouter's export by generation: one request a row, times in UTC. Cached tokens are inside the
-- prompt, reasoning is inside the completion. What a key of the company's own paid to the provider
-- (`byok_usage_inference`) is not in `cost_total`, so both are the bill.

with

cells as (
    select
        source_rows.*,
        count_of(source_rows.tokens_prompt) as input_tokens,
        count_of(source_rows.tokens_cached) as cache_read_tokens
    from source_rows
)

select
    cells.source_line,
    cells.generation_id as request_id,
    time_of(cells.created_at) as occurred_at,
    'openrouter' as provider,
    cells.model_permaslug as model_name,
    nullif(cells.user, '') as user_id,
    nullif(cells.api_key_name, '') as api_key_id,
    nullif(cells.app_name, '') as route,
    cells.input_tokens - coalesce(cells.cache_read_tokens, 0) as uncached_input_tokens,
    cells.cache_read_tokens,
    count_of(cells.tokens_completion) as output_tokens,
    count_of(cells.tokens_reasoning) as reasoning_tokens,
    cells.cache_read_tokens is not null as is_cache_known,
    case
        when try_cast(cells.cancelled as boolean) then 'cancelled'
        when cells.finish_reason_normalized = 'error' then 'error'
        else 'success'
    end as status,
    nullif(cells.finish_reason_normalized, '') as finish_reason,
    try_cast(cells.generation_time_ms as double) / 1000 as latency_s,
    try_cast(cells.time_to_first_token_ms as double) / 1000 as ttft_s,
    money_of(cells.cost_total) + coalesce(money_of(cells.byok_usage_inference), 0)
        as billed_cost_usd,
    not coalesce(cells.input_tokens < 0, false) as is_input_total
from cells
