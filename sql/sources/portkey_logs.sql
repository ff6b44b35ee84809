-- Portkey's log export: one request a row; which columns it has was chosen when it was asked for.
-- Costs are in cents, times of response in milliseconds. `req_units` counts all input as the
-- provider does: Anthropic leaves out cached tokens, others count them in; where the reply tells a
-- total, the total decides. Cached and reasoned parts stand in the reply alone.

with

cells as (
    select
        source_rows.*,
        count_of(source_rows.req_units) as input_tokens,
        count_of(source_rows.res_units) as output_tokens,
        count_of(
            coalesce(
                source_rows.response_usage_cache_read_input_tokens,
                source_rows.response_usage_prompt_tokens_details_cached_tokens,
                source_rows.response_usage_input_tokens_details_cached_tokens
            )
        ) as cache_read_tokens,
        count_of(source_rows.response_usage_cache_creation_input_tokens) as cache_write_tokens,
        try_cast(source_rows.response_usage_total_tokens as double) as total_tokens
    from source_rows
),

summed as (
    select
        cells.*,
        coalesce(cells.cache_read_tokens, 0) + coalesce(cells.cache_write_tokens, 0)
            as cache_tokens,
        cells.total_tokens - cells.input_tokens - cells.output_tokens as beside_tokens
    from cells
),

judged as (
    select
        summed.*,
        case
            when summed.cache_tokens = 0 then false
            when summed.beside_tokens = summed.cache_tokens then false
            else coalesce(lower(summed.ai_org) not in ('anthropic', 'bedrock'), true)
        end as is_cache_inside
    from summed
)

select
    judged.source_line,
    judged.id as request_id,
    time_of(judged.created_at) as occurred_at,
    judged.ai_org as provider,
    judged.ai_model as model_name,
    judged.metadata_team as team,
    judged.metadata_project as project,
    judged.metadata__user as user_id,
    judged.prompt_slug as route,
    nullif(judged.trace_id, '') as task_id,
    judged.input_tokens - if(judged.is_cache_inside, judged.cache_tokens, 0)
        as uncached_input_tokens,
    judged.cache_read_tokens,
    judged.cache_write_tokens as cache_write_5m_tokens,
    judged.output_tokens,
    count_of(
        coalesce(
            judged.response_usage_completion_tokens_details_reasoning_tokens,
            judged.response_usage_output_tokens_details_reasoning_tokens
        )
    ) as reasoning_tokens,
    judged.response_usage is not null as is_cache_known,
    case
        when judged.is_success is null then null
        else if(coalesce(try_cast(judged.is_success as boolean), false), 'success', 'error')
    end as status,
    try_cast(judged.response_time as double) / 1000 as latency_s,
    nullif(money_of_cents(judged.cost), 0) as billed_cost_usd,
    judged.cost_currency as billed_currency,
    judged.is_cache_inside as is_input_total
from judged
