-- LiteLLM's daily tables (by user, team, organization, end user, agent): one day of one key and
-- model a row. `prompt_tokens` includes cached tokens. Only successful requests have tokens.
-- The tables tell the same requests from several sides: give one of them. The table by tag counts
-- a request once for each of its tags.

with

cells as (
    select
        source_rows.*,
        time_of(source_rows.date) as started_at,
        count_of(source_rows.prompt_tokens) as input_tokens,
        count_of(source_rows.cache_read_input_tokens) as cache_read_tokens,
        count_of(source_rows.cache_creation_input_tokens) as cache_write_tokens
    from source_rows
)

select
    cells.source_line,
    concat_ws(
        '/',
        cells.date,
        coalesce(
            cells.user_id,
            cells.team_id,
            cells.organization_id,
            cells.end_user_id,
            cells.agent_id,
            cells.tag,
            ''
        ),
        coalesce(cells.api_key, ''),
        coalesce(cells.custom_llm_provider, ''),
        coalesce(cells.model, cells.model_group, ''),
        coalesce(cells.mcp_namespaced_tool_name, ''),
        coalesce(cells.endpoint, '')
    ) as request_id,
    cells.started_at as occurred_at,
    if(isfinite(cells.started_at), cells.started_at + interval 1 day, null) as bucket_end_at,
    cells.custom_llm_provider as provider,
    coalesce(nullif(cells.model, ''), cells.model_group) as model_name,
    cells.team_id as team,
    coalesce(cells.user_id, cells.end_user_id) as user_id,
    cells.api_key as api_key_id,
    cells.endpoint as route,
    cells.input_tokens
    - coalesce(cells.cache_read_tokens, 0)
    - coalesce(cells.cache_write_tokens, 0) as uncached_input_tokens,
    cells.cache_read_tokens,
    cells.cache_write_tokens as cache_write_5m_tokens,
    count_of(cells.completion_tokens) as output_tokens,
    cells.cache_read_tokens is not null as is_cache_known,
    coalesce(
        nullif(count_of(cells.successful_requests), 0), nullif(count_of(cells.api_requests), 0)
    ) as request_count,
    nullif(money_of(cells.spend), 0) as billed_cost_usd,
    not coalesce(cells.input_tokens < 0, false) as is_input_total
from cells
