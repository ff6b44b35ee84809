-- LiteLLM's spend logs: one request a row. `prompt_tokens` includes cached tokens for every
-- provider; the cached and the reasoning part stand in metadata only. A spend of zero beside tokens
-- is a missing price, not a free request. What LiteLLM answers from its own cache (`cache_hit`)
-- repeats the tokens of the first answer, though the model computed none. Embeddings and the like
-- are charges. Tags `class:<query class>`, `task:<id>` and `solved:<true|false>` in request_tags
-- name the class, the task and its outcome.

with

cells as (
    select
        source_rows.source_line,
        source_rows.request_id,
        source_rows.custom_llm_provider,
        source_rows.model,
        source_rows.api_key,
        source_rows.user,
        source_rows.end_user,
        source_rows.team_id,
        source_rows.session_id,
        source_rows.status,
        source_rows.spend,
        source_rows.metadata_user_api_key_team_alias,
        source_rows.metadata_additional_usage_values,
        source_rows.metadata_usage_object,
        time_of(source_rows.starttime) as started_at,
        time_of(source_rows.endtime) as ended_at,
        time_of(source_rows.completionstarttime) as answered_at,
        count_of(source_rows.prompt_tokens) as prompt_tokens,
        count_of(source_rows.completion_tokens) as completion_tokens,
        count_of(source_rows.total_tokens) as total_tokens,
        try(
            json_extract_string(
                coalesce(
                    nullif(source_rows.metadata_additional_usage_values, '{}'),
                    source_rows.metadata_usage_object
                ),
                [
                    '$.cache_read_input_tokens',
                    '$.prompt_tokens_details.cached_tokens',
                    '$.cache_creation_input_tokens',
                    '$.prompt_tokens_details.cache_creation_token_details',
                    '$.completion_tokens_details.reasoning_tokens'
                ]
            )
        ) as part_counts,
        coalesce(lower(source_rows.cache_hit::varchar) = 'true', false) as is_own_cache,
        case
            when contains(source_rows.call_type, 'embedding') then 'embeddings'
            when contains(source_rows.call_type, 'image') then 'images'
            when contains(source_rows.call_type, 'speech') then 'audio'
            when contains(source_rows.call_type, 'transcription') then 'audio'
            when contains(source_rows.call_type, 'rerank') then 'other'
            when contains(source_rows.call_type, 'moderation') then 'other'
        end as charge_kind,
        split_part(split_part(source_rows.request_tags, '"task:', 2), '"', 1) as task_tag,
        split_part(split_part(source_rows.request_tags, '"class:', 2), '"', 1) as class_tag,
        split_part(split_part(source_rows.request_tags, '"solved:', 2), '"', 1) as solved_tag
    from source_rows
),

requests as (
    select
        cells.*,
        coalesce(count_of(cells.part_counts[1]), count_of(cells.part_counts[2]))
            as cache_read_tokens,
        count_of(cells.part_counts[3]) as cache_write_tokens,
        count_of(cells.part_counts[4] ->> 'ephemeral_1h_input_tokens') as cache_write_1h_tokens,
        count_of(cells.part_counts[5]) as reasoning_tokens,
        -- 0 where the model computed nothing, 1 where it computed what is told.
        if(cells.is_own_cache, 0, 1) as computed
    from cells
)

select
    requests.source_line,
    requests.request_id,
    requests.started_at as occurred_at,
    requests.custom_llm_provider as provider,
    requests.model as model_name,
    coalesce(requests.metadata_user_api_key_team_alias, nullif(requests.team_id, '')) as team,
    coalesce(nullif(requests.end_user, ''), nullif(requests.user, '')) as user_id,
    requests.api_key as api_key_id,
    requests.session_id,
    nullif(requests.task_tag, '') as task_id,
    nullif(requests.class_tag, '') as query_class,
    case
        when requests.charge_kind is null
            then
                requests.computed * (
                    requests.prompt_tokens
                    - coalesce(requests.cache_read_tokens, 0)
                    - coalesce(requests.cache_write_tokens, 0)
                )
    end as uncached_input_tokens,
    case
        when requests.charge_kind is null then requests.computed * requests.cache_read_tokens
    end as cache_read_tokens,
    case
        when requests.charge_kind is null
            then
                requests.computed
                * (requests.cache_write_tokens - coalesce(requests.cache_write_1h_tokens, 0))
    end as cache_write_5m_tokens,
    case
        when requests.charge_kind is null then requests.computed * requests.cache_write_1h_tokens
    end as cache_write_1h_tokens,
    case
        when requests.charge_kind is null then requests.computed * requests.completion_tokens
    end as output_tokens,
    case
        when requests.charge_kind is null then requests.computed * requests.reasoning_tokens
    end as reasoning_tokens,
    case
        when requests.charge_kind is null and requests.computed = 1 then requests.total_tokens
    end as total_tokens,
    coalesce(requests.metadata_additional_usage_values, requests.metadata_usage_object) is not null
        as is_cache_known,
    requests.status,
    seconds_between(requests.started_at, requests.ended_at) as latency_s,
    seconds_between(requests.started_at, requests.answered_at) as ttft_s,
    try_cast(nullif(requests.solved_tag, '') as boolean) as is_solved,
    if(requests.is_own_cache, 0, nullif(money_of(requests.spend), 0)) as billed_cost_usd,
    requests.charge_kind,
    case when requests.charge_kind is not null then requests.prompt_tokens end as charge_quantity,
    case when requests.charge_kind is not null then 'tokens' end as charge_unit,
    not coalesce(requests.prompt_tokens < 0, false) as is_input_total
from requests
