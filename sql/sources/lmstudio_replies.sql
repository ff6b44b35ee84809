-- Replies of LM Studio, one a record: of its REST API (seconds since 1970, tokens in usage) or of
-- its newer own API (tokens in stats, no time). It tells nothing of cached tokens.

with

cells as (
    select
        source_rows.*,
        try_cast(
            coalesce(
                source_rows.stats_time_to_first_token,
                source_rows.stats_time_to_first_token_seconds
            ) as double
        ) as first_token_s
    from source_rows
)

select
    cells.source_line,
    coalesce(cells.id, cells.response_id) as request_id,
    coalesce(
        epoch_time_of(cells.created),
        time_of(coalesce(cells.created_at, cells.timestamp)),
        time_of(getvariable('assumed_start'))
    ) as occurred_at,
    'lmstudio' as provider,
    coalesce(cells.model, cells.model_instance_id) as model_name,
    count_of(coalesce(cells.usage_prompt_tokens, cells.stats_input_tokens))
        as uncached_input_tokens,
    count_of(coalesce(cells.usage_completion_tokens, cells.stats_total_output_tokens))
        as output_tokens,
    count_of(
        coalesce(
            cells.usage_completion_tokens_details_reasoning_tokens,
            cells.stats_reasoning_output_tokens
        )
    ) as reasoning_tokens,
    count_of(cells.usage_total_tokens) as total_tokens,
    false as is_cache_known,
    cells.stats_stop_reason as finish_reason,
    cells.first_token_s + try_cast(cells.stats_generation_time as double) as latency_s,
    cells.first_token_s as ttft_s
from cells
