-- LiteLLM's spend logs: one request a row. `prompt_tokens` includes cached tokens for every
-- provider; the cached and the reasoning part stand in metadata.additional_usage_values only.
-- A spend of zero beside tokens is a missing price, not a free request.
-- Tags `class:<query class>`, `task:<id>` and `solved:<true|false>` in request_tags name the class,
-- the task and its outcome.

with

requests as (
    select
        source_rows.source_line,
        source_rows.request_id,
        source_rows.starttime,
        source_rows.endtime,
        source_rows.completionstarttime,
        source_rows.model,
        source_rows.custom_llm_provider,
        source_rows.api_key,
        source_rows.user,
        source_rows.end_user,
        source_rows.team_id,
        source_rows.session_id,
        source_rows.status,
        source_rows.request_tags,
        source_rows.metadata_user_api_key_team_alias,
        source_rows.metadata_additional_usage_values,
        count_of(source_rows.prompt_tokens) as prompt_tokens,
        count_of(source_rows.completion_tokens) as completion_tokens,
        count_of(
            coalesce(
                source_rows.metadata_additional_usage_values_cache_read_input_tokens,
                source_rows.metadata_additional_usage_values_prompt_tokens_details_cached_tokens
            )
        ) as cache_read_tokens,
        count_of(source_rows.metadata_additional_usage_values_cache_creation_input_tokens)
            as cache_write_tokens,
        count_of(
            source_rows.metadata_additional_usage_values_completion_tokens_details_reasoning_tokens
        ) as reasoning_tokens,
        nullif(money_of(source_rows.spend), 0) as spend_usd
    from source_rows
)

select
    requests.source_line,
    requests.request_id,
    time_of(requests.starttime) as occurred_at,
    requests.custom_llm_provider as provider,
    requests.model as model_name,
    coalesce(requests.metadata_user_api_key_team_alias, nullif(requests.team_id, '')) as team,
    coalesce(nullif(requests.end_user, ''), nullif(requests.user, '')) as user_id,
    requests.api_key as api_key_id,
    requests.session_id,
    nullif(regexp_extract(requests.request_tags, '"task:([^"]+)"', 1), '') as task_id,
    nullif(regexp_extract(requests.request_tags, '"class:([^"]+)"', 1), '') as query_class,
    requests.prompt_tokens
    - coalesce(requests.cache_read_tokens, 0)
    - coalesce(requests.cache_write_tokens, 0) as uncached_input_tokens,
    requests.cache_read_tokens,
    requests.cache_write_tokens as cache_write_5m_tokens,
    requests.completion_tokens as output_tokens,
    requests.reasoning_tokens,
    requests.metadata_additional_usage_values is not null as is_cache_known,
    requests.status,
    seconds_between(time_of(requests.starttime), time_of(requests.endtime)) as latency_s,
    seconds_between(time_of(requests.starttime), time_of(requests.completionstarttime)) as ttft_s,
    try_cast(
        nullif(regexp_extract(requests.request_tags, '"solved:([a-z]+)"', 1), '') as boolean
    ) as is_solved,
    requests.spend_usd as billed_cost_usd,
    not coalesce(requests.prompt_tokens < 0, false) as is_input_total
from requests
