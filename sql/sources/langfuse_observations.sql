-- Langfuse's observations, from its API, its UI or its exports: one call of a model is one
-- observation of type GENERATION, others only group them. The keys of usageDetails are additive by
-- intent: `input` leaves out what was cached, `output` what was reasoned. Senders that mean it
-- otherwise are known by the total alone: where it is the sum without the cached (or the reasoned)
-- part, that part is inside. Tags `class:<query class>` and `solved:<true|false>` name the class
-- and the outcome. A total cost of zero is a missing price.

with

cells as (
    select
        source_rows.source_line,
        source_rows.id,
        source_rows.type,
        source_rows.level,
        source_rows.tags,
        source_rows.prompttokens,
        source_rows.completiontokens,
        coalesce(source_rows.traceid, source_rows.trace_id) as trace_id,
        coalesce(source_rows.parentobservationid, source_rows.parent_observation_id) as parent_id,
        coalesce(source_rows.projectid, source_rows.project_id) as project_id,
        coalesce(source_rows.userid, source_rows.user_id) as user_id,
        coalesce(source_rows.sessionid, source_rows.session_id) as session_id,
        coalesce(
            source_rows.model, source_rows.providedmodelname, source_rows.provided_model_name
        ) as model_name,
        time_of(coalesce(source_rows.starttime, source_rows.start_time)) as started_at,
        time_of(coalesce(source_rows.endtime, source_rows.end_time)) as ended_at,
        time_of(coalesce(source_rows.completionstarttime, source_rows.completion_start_time))
            as answered_at,
        coalesce(
            source_rows.totalcost, source_rows.total_cost, source_rows.calculatedtotalcost
        ) as total_cost,
        try(
            json_extract_string(
                coalesce(source_rows.costdetails, source_rows.cost_details), '$.total'
            )
        ) as cost_detail,
        try(
            from_json(
                coalesce(source_rows.usagedetails, source_rows.usage_details),
                '"MAP(VARCHAR, VARCHAR)"'
            )
        ) as usage
    from source_rows
    where source_rows.type = 'GENERATION'
),

named as (
    select
        cells.*,
        count_of(
            coalesce(
                cells.usage['input'],
                cells.usage['input_tokens'],
                cells.usage['prompt_tokens'],
                cells.usage['promptTokens'],
                cells.usage['prompt_token_count'],
                cells.prompttokens
            )
        ) as main_input_tokens,
        count_of(cells.usage['input_text']) as text_input_tokens,
        count_of(cells.usage['input_audio']) as audio_input_tokens,
        count_of(cells.usage['input_image']) as image_input_tokens,
        count_of(
            coalesce(
                cells.usage['cache_read_input_tokens'],
                cells.usage['input_cache_read'],
                cells.usage['input_cached_tokens'],
                cells.usage['cached_content_token_count'],
                cells.usage['cached_tokens']
            )
        ) as cache_read_tokens,
        count_of(
            coalesce(
                cells.usage['input_cache_creation_5m'],
                cells.usage['cache_creation_input_tokens'],
                cells.usage['input_cache_creation'],
                cells.usage['cache_write_input_tokens']
            )
        ) as cache_write_5m_tokens,
        count_of(cells.usage['input_cache_creation_1h']) as cache_write_1h_tokens,
        count_of(
            coalesce(
                cells.usage['output'],
                cells.usage['output_tokens'],
                cells.usage['completion_tokens'],
                cells.usage['completionTokens'],
                cells.usage['candidates_token_count'],
                cells.completiontokens
            )
        ) as main_output_tokens,
        count_of(cells.usage['output_text']) as text_output_tokens,
        count_of(cells.usage['output_audio']) as audio_output_tokens,
        count_of(
            coalesce(
                cells.usage['output_reasoning_tokens'],
                cells.usage['output_reasoning'],
                cells.usage['reasoning_tokens'],
                cells.usage['thoughts_token_count']
            )
        ) as reasoning_tokens,
        try_cast(coalesce(cells.usage['total'], cells.usage['total_tokens']) as double)
            as total_tokens
    from cells
),

summed as (
    select
        named.*,
        case
            when
                coalesce(
                    named.main_input_tokens,
                    named.text_input_tokens,
                    named.audio_input_tokens,
                    named.image_input_tokens
                ) is not null
                then
                    coalesce(named.main_input_tokens, 0)
                    + coalesce(named.text_input_tokens, 0)
                    + coalesce(named.audio_input_tokens, 0)
                    + coalesce(named.image_input_tokens, 0)
        end as input_tokens,
        case
            when
                coalesce(
                    named.main_output_tokens, named.text_output_tokens, named.audio_output_tokens
                ) is not null
                then
                    coalesce(named.main_output_tokens, 0)
                    + coalesce(named.text_output_tokens, 0)
                    + coalesce(named.audio_output_tokens, 0)
        end as output_tokens,
        coalesce(named.cache_read_tokens, 0)
        + coalesce(named.cache_write_5m_tokens, 0)
        + coalesce(named.cache_write_1h_tokens, 0) as cache_tokens
    from named
),

judged as (
    select
        summed.*,
        summed.total_tokens - summed.input_tokens - summed.output_tokens as beside_tokens,
        coalesce(summed.reasoning_tokens, 0) as beside_reasoning_tokens
    from summed
),

meant as (
    select
        judged.*,
        coalesce(
            judged.cache_tokens > 0
            and judged.beside_tokens in (0, judged.beside_reasoning_tokens)
            and judged.beside_tokens <> judged.cache_tokens
            and judged.beside_tokens <> judged.cache_tokens + judged.beside_reasoning_tokens,
            false
        ) as is_cache_inside,
        coalesce(
            judged.beside_reasoning_tokens > 0
            and judged.beside_tokens in (0, judged.cache_tokens)
            and judged.beside_tokens <> judged.beside_reasoning_tokens
            and judged.beside_tokens <> judged.cache_tokens + judged.beside_reasoning_tokens,
            false
        ) as is_reasoning_inside
    from judged
)

select
    meant.source_line,
    meant.id as request_id,
    meant.started_at as occurred_at,
    meant.model_name,
    meant.project_id as project,
    meant.user_id,
    meant.session_id,
    meant.trace_id as task_id,
    meant.parent_id,
    nullif(regexp_extract(meant.tags, 'class:([A-Za-z_]+)', 1), '') as query_class,
    meant.input_tokens - if(meant.is_cache_inside, meant.cache_tokens, 0) as uncached_input_tokens,
    meant.cache_read_tokens,
    meant.cache_write_5m_tokens,
    meant.cache_write_1h_tokens,
    meant.output_tokens + if(meant.is_reasoning_inside, 0, meant.beside_reasoning_tokens)
        as output_tokens,
    meant.reasoning_tokens,
    meant.total_tokens,
    coalesce(
        meant.cache_read_tokens, meant.cache_write_5m_tokens, meant.cache_write_1h_tokens
    ) is not null as is_cache_known,
    if(meant.level = 'ERROR', 'error', 'success') as status,
    try_cast(nullif(regexp_extract(meant.tags, 'solved:([a-z]+)', 1), '') as boolean) as is_solved,
    seconds_between(meant.started_at, meant.ended_at) as latency_s,
    seconds_between(meant.started_at, meant.answered_at) as ttft_s,
    nullif(money_of(coalesce(meant.total_cost, meant.cost_detail)), 0) as billed_cost_usd,
    meant.is_cache_inside as is_input_total
from meant
