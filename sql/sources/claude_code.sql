-- Claude Code's session logs: one line per content block, each repeating its message's usage, so
-- the message id (with the request id where there is one) names the request, in side chains and
-- resumed sessions too. Lines without usage are no rows, nor are the messages that Claude Code
-- writes itself, such as errors (model `<synthetic>`). Input excludes cached tokens.

with

messages as (
    select
        source_rows.*,
        count_of(source_rows.message_usage_cache_creation_input_tokens) as cache_write_tokens,
        count_of(source_rows.message_usage_cache_creation_ephemeral_5m_input_tokens)
            as cache_write_5m_tokens,
        count_of(source_rows.message_usage_cache_creation_ephemeral_1h_input_tokens)
            as cache_write_1h_tokens
    from source_rows
    where
        source_rows.message_usage is not null
        and coalesce(source_rows.message_model, '') <> '<synthetic>'
        and coalesce(source_rows.isapierrormessage, 'false') <> 'true'
)

select
    messages.source_line,
    messages.message_id || coalesce(':' || messages.requestid, '') as request_id,
    coalesce(time_of(messages.timestamp), time_of(getvariable('assumed_start'))) as occurred_at,
    'anthropic' as provider,
    messages.message_model as model_name,
    messages.sessionid as session_id,
    messages.sessionid as task_id,
    count_of(messages.message_usage_input_tokens) as uncached_input_tokens,
    count_of(messages.message_usage_cache_read_input_tokens) as cache_read_tokens,
    coalesce(
        messages.cache_write_5m_tokens,
        messages.cache_write_tokens - coalesce(messages.cache_write_1h_tokens, 0)
    ) as cache_write_5m_tokens,
    messages.cache_write_1h_tokens,
    count_of(messages.message_usage_output_tokens) as output_tokens,
    count_of(messages.message_usage_output_tokens_details_thinking_tokens) as reasoning_tokens,
    true as is_cache_known,
    if(messages.message_usage_speed = 'fast', 'fast', messages.message_usage_service_tier)
        as service_tier,
    messages.message_stop_reason as finish_reason,
    nullif(money_of(messages.costusd), 0) as billed_cost_usd
from messages
