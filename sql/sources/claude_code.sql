-- Claude Code's session logs: one line per content block, each repeating its message's usage, so
-- the message id (with the request id where there is one) names the request. Lines without usage
-- are no rows. Input excludes cached tokens.

select
    source_rows.source_line,
    source_rows.message_id || coalesce(':' || source_rows.requestid, '') as request_id,
    time_of(source_rows.timestamp) as occurred_at,
    'anthropic' as provider,
    source_rows.message_model as model_name,
    source_rows.sessionid as session_id,
    source_rows.sessionid as task_id,
    count_of(source_rows.message_usage_input_tokens) as uncached_input_tokens,
    count_of(source_rows.message_usage_cache_read_input_tokens) as cache_read_tokens,
    coalesce(
        count_of(source_rows.message_usage_cache_creation_ephemeral_5m_input_tokens),
        count_of(source_rows.message_usage_cache_creation_input_tokens)
    ) as cache_write_5m_tokens,
    count_of(source_rows.message_usage_cache_creation_ephemeral_1h_input_tokens)
        as cache_write_1h_tokens,
    count_of(source_rows.message_usage_output_tokens) as output_tokens,
    count_of(source_rows.message_usage_output_tokens_details_thinking_tokens) as reasoning_tokens,
    true as is_cache_known,
    source_rows.message_usage_service_tier as service_tier,
    source_rows.message_stop_reason as finish_reason,
    nullif(money_of(source_rows.costusd), 0) as billed_cost_usd
from source_rows
where source_rows.message_usage is not null
