-- TraceLab's round traces of coding agents: one call of a model a row, at the time of its first
-- event. All input is prefix (read from the cache) and what was newly appended, of which a part was
-- written to the cache where the provider says so.

with

cells as (
    select
        source_rows.*,
        count_of(source_rows.input_tokens_total) as input_tokens,
        count_of(source_rows.prefix_tokens) as cache_read_tokens,
        count_of(source_rows.claude_cache_creation_input_tokens) as cache_write_tokens
    from source_rows
)

select
    cells.source_line,
    coalesce(cells.trace_key, cells.session_id || ':' || cells.round_id) as request_id,
    time_of(json_extract_string(cells.timing_events, '$[0].timestamp')) as occurred_at,
    case cells.provider
        when 'claude' then 'anthropic'
        when 'codex' then 'openai'
        else cells.provider
    end as provider,
    cells.model as model_name,
    cells.project,
    cells.session_id,
    cells.session_id as task_id,
    cells.input_tokens
    - coalesce(cells.cache_read_tokens, 0)
    - coalesce(cells.cache_write_tokens, 0) as uncached_input_tokens,
    cells.cache_read_tokens,
    cells.cache_write_tokens as cache_write_5m_tokens,
    count_of(cells.output_tokens) as output_tokens,
    count_of(cells.reasoning_output_tokens) as reasoning_tokens,
    cells.cache_read_tokens is not null as is_cache_known,
    not coalesce(cells.input_tokens < 0, false) as is_input_total
from cells
