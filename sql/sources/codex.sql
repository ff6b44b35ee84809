-- Codex' session logs: an event `token_count` after each call of the model, with what the call used
-- (`last_token_usage`; older logs tell the session's sum alone) and the session's sum. The model
-- stands in the turn's context before it. Events without info tell limits only. An event may be
-- repeated with the same sum, in this log or in that of the resumed session: session and sum name
-- the call. The log of a fork or a subagent begins with its parent's events, stamped anew within a
-- second: they are no rows. Input includes cached tokens, output includes reasoning.

with

turns as (
    select
        source_rows.*,
        case when source_rows.type = 'turn_context' then source_rows.payload_model end as model,
        case
            when source_rows.type = 'turn_context'
                then
                    coalesce(
                        source_rows.payload_effort,
                        source_rows.payload_collaboration_mode_settings_reasoning_effort
                    )
        end as effort
    from source_rows
),

-- Where no turn comes before, as in a resumed log, the next one tells.
lines as (
    select
        turns.*,
        coalesce(
            last_value(turns.model ignore nulls) over before_here,
            first_value(turns.model ignore nulls) over after_here
        ) as turn_model,
        coalesce(
            last_value(turns.effort ignore nulls) over before_here,
            first_value(turns.effort ignore nulls) over after_here
        ) as turn_effort
    from turns
    window
        before_here as (
            order by turns.source_line rows between unbounded preceding and current row
        ),
        after_here as (
            order by turns.source_line rows between current row and unbounded following
        )
),

session as (
    select
        lines.payload_id as session_id,
        lines.payload_model_provider as provider,
        coalesce(
            lines.payload_forked_from_id,
            lines.payload_parent_thread_id,
            lines.payload_source_subagent_thread_spawn_parent_thread_id
        ) as parent_id,
        time_of(lines.timestamp) as started_at
    from lines
    where lines.type = 'session_meta'
    order by lines.source_line
    limit 1
),

counted as (
    select
        lines.source_line,
        lines.timestamp,
        coalesce(lines.payload_info_model, lines.turn_model) as model_name,
        lines.turn_effort,
        count_of(lines.payload_info_last_token_usage_input_tokens) as last_input,
        count_of(lines.payload_info_last_token_usage_cached_input_tokens) as last_cached,
        count_of(lines.payload_info_last_token_usage_cache_write_input_tokens) as last_written,
        count_of(lines.payload_info_last_token_usage_output_tokens) as last_output,
        count_of(lines.payload_info_last_token_usage_reasoning_output_tokens) as last_reasoning,
        count_of(lines.payload_info_last_token_usage_total_tokens) as last_total,
        count_of(lines.payload_info_total_token_usage_input_tokens) as sum_input,
        count_of(lines.payload_info_total_token_usage_cached_input_tokens) as sum_cached,
        count_of(lines.payload_info_total_token_usage_cache_write_input_tokens) as sum_written,
        count_of(lines.payload_info_total_token_usage_output_tokens) as sum_output,
        count_of(lines.payload_info_total_token_usage_reasoning_output_tokens) as sum_reasoning
    from lines
    where
        lines.payload_type = 'token_count'
        and coalesce(
            lines.payload_info_last_token_usage_input_tokens,
            lines.payload_info_last_token_usage_output_tokens,
            lines.payload_info_total_token_usage_input_tokens,
            lines.payload_info_total_token_usage_output_tokens
        ) is not null
),

-- A sum below the one before it began anew.
stepped as (
    select
        counted.*,
        coalesce(lag(counted.sum_input) over in_order <= counted.sum_input, false) as goes_on,
        lag(counted.sum_input) over in_order as before_input,
        lag(counted.sum_cached) over in_order as before_cached,
        lag(counted.sum_written) over in_order as before_written,
        lag(counted.sum_output) over in_order as before_output,
        lag(counted.sum_reasoning) over in_order as before_reasoning
    from counted
    window in_order as (order by counted.source_line)
),

calls as (
    select
        stepped.source_line,
        stepped.model_name,
        stepped.turn_effort,
        case
            when coalesce(stepped.last_input, stepped.last_output) is not null
                then stepped.last_total
        end as total_tokens,
        session.session_id,
        session.parent_id,
        session.provider,
        time_of(stepped.timestamp) as occurred_at,
        concat_ws(
            '/',
            coalesce(session.session_id, min(stepped.timestamp) over ()),
            stepped.sum_input,
            stepped.sum_cached,
            stepped.sum_output,
            stepped.sum_reasoning
        ) as sum_name,
        stepped.sum_input is not null as has_sum,
        coalesce(
            stepped.last_input,
            stepped.sum_input - if(stepped.goes_on, stepped.before_input, 0)
        ) as input_tokens,
        coalesce(
            stepped.last_cached,
            stepped.sum_cached - if(stepped.goes_on, coalesce(stepped.before_cached, 0), 0)
        ) as cache_read_tokens,
        coalesce(
            stepped.last_written,
            stepped.sum_written - if(stepped.goes_on, coalesce(stepped.before_written, 0), 0)
        ) as cache_write_tokens,
        coalesce(
            stepped.last_output,
            stepped.sum_output - if(stepped.goes_on, coalesce(stepped.before_output, 0), 0)
        ) as output_tokens,
        coalesce(
            stepped.last_reasoning,
            stepped.sum_reasoning - if(stepped.goes_on, coalesce(stepped.before_reasoning, 0), 0)
        ) as reasoning_tokens
    from stepped
    left join session on true
    where
        session.parent_id is null
        or coalesce(
            time_of(stepped.timestamp) >= session.started_at + interval 1 second, true
        )
)

select
    calls.source_line,
    case when calls.has_sum then calls.sum_name end as request_id,
    calls.occurred_at,
    coalesce(calls.provider, 'openai') as provider,
    -- A repeated event is of the model that it was first told of.
    if(
        calls.has_sum,
        first_value(calls.model_name) over (partition by calls.sum_name order by calls.source_line),
        calls.model_name
    ) as model_name,
    calls.session_id,
    calls.session_id as task_id,
    calls.parent_id,
    calls.input_tokens
    - coalesce(calls.cache_read_tokens, 0)
    - coalesce(calls.cache_write_tokens, 0) as uncached_input_tokens,
    calls.cache_read_tokens,
    calls.cache_write_tokens as cache_write_5m_tokens,
    calls.output_tokens,
    calls.reasoning_tokens,
    calls.total_tokens,
    calls.cache_read_tokens is not null as is_cache_known,
    calls.turn_effort as effort,
    not coalesce(calls.input_tokens < 0, false) as is_input_total
from calls
