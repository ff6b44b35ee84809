-- Replies of model APIs as they were logged, one a row: OpenAI's chat and Responses and all that
-- speak like them, Anthropic's messages, Gemini's and Vertex's, Bedrock's Converse, Cohere's. The
-- reply is the record, or stands inside it as body, response or result of a batch. Streams log
-- chunks: usage stands in the last, or grows from chunk to chunk, under one id; a call whose chunks
-- have none counts once, as one without usage.
-- Input includes cached tokens, except at Anthropic and Converse. Output includes reasoning, except
-- at Gemini (thoughts beside candidates) and where only the total shows it: total less prompt then.
-- Tool-use prompts of Gemini are input beside the prompt. Anthropic's compaction and advisor calls
-- are in no total of their reply, only in its iterations: calls of their own here.
-- Most replies but OpenAI's say no time: that of the record around them, or the assumed start.
-- OpenRouter's say their cost, which for a customer's own key leaves out what its provider bills.

with

records as (
    select
        source_rows.source_line,
        source_rows.model,
        source_rows.modelid,
        source_rows.provider,
        source_rows.team,
        source_rows.response_status_code,
        source_rows.response_body is not null
        or source_rows.result_message is not null
        or source_rows.processed_time is not null as is_batch,
        coalesce(source_rows.request_id, source_rows.requestid) as record_id,
        coalesce(
            source_rows.timestamp,
            source_rows.time,
            source_rows.created_at,
            source_rows.processed_time
        ) as moment,
        -- One parse of what may be long.
        json_extract_string(
            coalesce(
                source_rows.response_body,
                source_rows.result_message,
                case
                    when
                        source_rows.response_usage is not null
                        or source_rows.response_usagemetadata is not null
                        then source_rows.response
                end,
                source_rows.body,
                source_rows.document
            ),
            [
                '$.id',
                '$.responseId',
                '$.model',
                '$.modelVersion',
                '$.created',
                '$.created_at',
                '$.createTime',
                '$.usage',
                '$.usageMetadata',
                '$.meta',
                '$.choices[0].finish_reason',
                '$.candidates[0].finishReason',
                '$.stop_reason',
                '$.stopReason',
                '$.finish_reason',
                '$.incomplete_details.reason',
                '$.service_tier',
                '$.status',
                '$.metrics.latencyMs'
            ]
        ) as found
    from source_rows
),

replies as (
    select
        records.source_line,
        records.provider,
        records.team,
        records.is_batch,
        records.found[1] as body_id,
        coalesce(records.found[1], records.found[2], records.record_id) as reply_id,
        coalesce(
            records.found[3], records.found[4], records.model, records.modelid
        ) as model_name,
        records.found[5] as created,
        coalesce(
            records.found[5], records.found[6], records.found[7], records.moment
        ) as moment,
        try_cast(
            coalesce(records.found[8], records.found[9], records.found[10]) as json
        ) as usage,
        coalesce(
            records.found[11],
            records.found[12],
            records.found[13],
            records.found[14],
            records.found[15],
            case when records.found[16] = 'max_output_tokens' then 'length' end
        ) as finish_reason,
        records.found[17] as service_tier,
        case
            when
                try_cast(records.response_status_code as integer) >= 400
                or records.found[18] in ('failed', 'cancelled')
                then 'failed'
        end as status,
        try_cast(records.found[19] as double) / 1000 as latency_s
    from records
),

chunks as (
    select
        replies.source_line,
        replies.body_id,
        replies.reply_id,
        replies.model_name,
        replies.created,
        replies.moment,
        replies.usage,
        replies.finish_reason,
        replies.service_tier,
        replies.provider,
        replies.team,
        replies.latency_s,
        replies.is_batch,
        replies.status
    from replies
    qualify
        json_type(replies.usage) = 'OBJECT'
        or (
            row_number() over (
                partition by coalesce(replies.reply_id, replies.source_line::varchar)
                order by replies.source_line
            ) = 1
            and count(*) filter (where json_type(replies.usage) = 'OBJECT') over (
                partition by coalesce(replies.reply_id, replies.source_line::varchar)
            ) = 0
        )
),

iterations as (
    select
        chunks.source_line,
        unnest(chunks.usage -> '$.iterations[*]') as iteration,
        generate_subscripts(chunks.usage -> '$.iterations[*]', 1) as iteration_number
    from chunks
),

calls as (
    select
        chunks.source_line,
        chunks.model_name,
        chunks.usage,
        null as iteration_number
    from chunks
    union all
    select
        chunks.source_line,
        coalesce(iterations.iteration ->> 'model', chunks.model_name) as model_name,
        iterations.iteration as usage,
        iterations.iteration_number
    from iterations
    inner join chunks on iterations.source_line = chunks.source_line
    where iterations.iteration ->> 'type' in ('compaction', 'advisor_message')
),

counts as (
    select
        calls.source_line,
        calls.model_name,
        calls.iteration_number,
        case
            when calls.usage ->> 'promptTokenCount' is not null then 'gemini'
            when calls.usage ->> 'inputTokens' is not null then 'converse'
            when calls.usage ->> 'prompt_tokens' is not null then 'chat'
            when calls.usage ->> '$.tokens.input_tokens' is not null then 'cohere'
            when calls.usage ->> '$.billed_units.input_tokens' is not null then 'cohere'
            when calls.usage ->> 'total_tokens' is not null then 'responses'
            when calls.usage ->> 'input_tokens' is not null then 'anthropic'
        end as dialect,
        count_of(
            coalesce(
                calls.usage ->> 'prompt_tokens',
                calls.usage ->> 'input_tokens',
                calls.usage ->> 'inputTokens',
                calls.usage ->> 'promptTokenCount',
                calls.usage ->> '$.tokens.input_tokens',
                calls.usage ->> '$.billed_units.input_tokens'
            )
        ) as input_tokens,
        count_of(calls.usage ->> 'toolUsePromptTokenCount') as tool_input_tokens,
        count_of(
            coalesce(
                calls.usage ->> 'cache_read_input_tokens',
                calls.usage ->> '$.prompt_tokens_details.cached_tokens',
                calls.usage ->> '$.input_tokens_details.cached_tokens',
                calls.usage ->> 'cachedContentTokenCount',
                calls.usage ->> 'cacheReadInputTokens',
                calls.usage ->> 'cacheReadInputTokenCount',
                calls.usage ->> 'prompt_cache_hit_tokens',
                calls.usage ->> 'num_cached_tokens',
                calls.usage ->> 'cached_tokens'
            )
        ) as cache_read_tokens,
        count_of(
            coalesce(
                calls.usage ->> 'cache_creation_input_tokens',
                calls.usage ->> '$.prompt_tokens_details.cache_write_tokens',
                calls.usage ->> '$.input_tokens_details.cache_write_tokens',
                calls.usage ->> 'cacheWriteInputTokens',
                calls.usage ->> 'cacheWriteInputTokenCount'
            )
        ) as cache_write_tokens,
        count_of(calls.usage ->> '$.cache_creation.ephemeral_5m_input_tokens')
            as short_write_tokens,
        coalesce(
            count_of(calls.usage ->> '$.cache_creation.ephemeral_1h_input_tokens'),
            case '1h'
                when calls.usage ->> '$.cacheDetails[0].ttl'
                    then count_of(calls.usage ->> '$.cacheDetails[0].inputTokens')
                when calls.usage ->> '$.cacheDetails[1].ttl'
                    then count_of(calls.usage ->> '$.cacheDetails[1].inputTokens')
            end
        ) as long_write_tokens,
        count_of(
            coalesce(
                calls.usage ->> 'completion_tokens',
                calls.usage ->> 'output_tokens',
                calls.usage ->> 'outputTokens',
                calls.usage ->> '$.tokens.output_tokens'
            )
        ) as stated_output_tokens,
        count_of(calls.usage ->> 'candidatesTokenCount') as candidate_tokens,
        count_of(
            coalesce(
                calls.usage ->> '$.completion_tokens_details.reasoning_tokens',
                calls.usage ->> '$.output_tokens_details.reasoning_tokens',
                calls.usage ->> '$.output_tokens_details.thinking_tokens',
                calls.usage ->> 'thoughtsTokenCount'
            )
        ) as reasoning_tokens,
        count_of(
            coalesce(
                calls.usage ->> 'total_tokens',
                calls.usage ->> 'totalTokens',
                calls.usage ->> 'totalTokenCount'
            )
        ) as total_tokens,
        coalesce(
            calls.usage ->> 'service_tier',
            calls.usage ->> 'serviceTier',
            calls.usage ->> 'trafficType'
        ) as usage_tier,
        calls.usage ->> 'speed' as speed,
        nullif(calls.usage ->> 'inference_geo', 'not_available') as region,
        calls.usage ->> 'is_byok' as is_byok,
        coalesce(
            try_cast(calls.usage ->> 'cost' as decimal(24, 12)),
            try_cast(calls.usage ->> '$.cost.total_cost' as decimal(24, 12))
        ) as reply_cost_usd,
        try_cast(
            calls.usage ->> '$.cost_details.upstream_inference_cost' as decimal(24, 12)
        ) as upstream_cost_usd
    from calls
),

outputs as (
    select
        counts.source_line,
        counts.model_name,
        counts.iteration_number,
        counts.dialect,
        counts.cache_read_tokens,
        counts.long_write_tokens,
        counts.reasoning_tokens,
        counts.stated_output_tokens,
        counts.total_tokens,
        counts.usage_tier,
        counts.speed,
        counts.region,
        counts.is_byok,
        counts.reply_cost_usd,
        counts.upstream_cost_usd,
        counts.input_tokens + coalesce(counts.tool_input_tokens, 0) as input_tokens,
        coalesce(
            counts.cache_write_tokens - coalesce(counts.long_write_tokens, 0),
            counts.short_write_tokens
        ) as short_write_tokens,
        case
            when counts.dialect = 'gemini'
                then
                    coalesce(
                        counts.candidate_tokens + coalesce(counts.reasoning_tokens, 0),
                        counts.reasoning_tokens,
                        counts.total_tokens
                        - counts.input_tokens
                        - coalesce(counts.tool_input_tokens, 0)
                    )
            when
                counts.dialect = 'chat'
                and counts.total_tokens > counts.input_tokens + counts.stated_output_tokens
                then counts.total_tokens - counts.input_tokens
            else counts.stated_output_tokens
        end as output_tokens
    from counts
),

judged as (
    select
        outputs.source_line,
        outputs.model_name,
        outputs.iteration_number,
        outputs.dialect,
        outputs.input_tokens,
        outputs.cache_read_tokens,
        outputs.short_write_tokens,
        outputs.long_write_tokens,
        outputs.output_tokens,
        outputs.stated_output_tokens,
        outputs.total_tokens,
        outputs.reasoning_tokens,
        outputs.usage_tier,
        outputs.speed,
        outputs.region,
        outputs.is_byok,
        outputs.reply_cost_usd,
        outputs.upstream_cost_usd,
        outputs.dialect in ('chat', 'responses', 'gemini', 'cohere') as is_input_total,
        case
            when outputs.input_tokens is not null and outputs.output_tokens is null
                then 'embeddings'
        end as charge_kind
    from outputs
)

select
    judged.source_line,
    judged.model_name,
    judged.region,
    judged.charge_kind,
    chunks.team,
    chunks.finish_reason,
    chunks.status,
    chunks.latency_s,
    judged.long_write_tokens as cache_write_1h_tokens,
    judged.short_write_tokens as cache_write_5m_tokens,
    judged.output_tokens,
    case when judged.charge_kind is null then judged.total_tokens end as total_tokens,
    case
        when chunks.reply_id is not null
            then concat_ws(':', chunks.reply_id, chunks.created, judged.iteration_number)
    end as request_id,
    case
        when try_cast(chunks.moment as double) is not null then epoch_time_of(chunks.moment)
        else time_of(coalesce(chunks.moment, getvariable('assumed_start')))
    end as occurred_at,
    case
        when judged.reply_cost_usd is not null and judged.is_byok is not null then 'openrouter'
        when chunks.provider is not null then chunks.provider
        when judged.dialect = 'gemini' then 'google'
        when judged.dialect = 'converse' then 'aws'
        when judged.dialect = 'cohere' then 'cohere'
        when judged.dialect = 'anthropic' and starts_with(chunks.body_id, 'msg_bdrk_') then 'aws'
        when judged.dialect = 'anthropic' and starts_with(chunks.body_id, 'msg_vrtx_')
            then 'google'
        when judged.dialect = 'anthropic' then 'anthropic'
    end as provider,
    case
        when judged.charge_kind is not null then null
        when judged.is_input_total
            then
                judged.input_tokens
                - coalesce(judged.cache_read_tokens, 0)
                - coalesce(judged.short_write_tokens, 0)
                - coalesce(judged.long_write_tokens, 0)
        else judged.input_tokens
    end as uncached_input_tokens,
    case when judged.charge_kind is null then judged.cache_read_tokens end as cache_read_tokens,
    case
        when judged.dialect = 'chat' and judged.output_tokens > judged.stated_output_tokens
            then
                greatest(
                    judged.reasoning_tokens, judged.output_tokens - judged.stated_output_tokens
                )
        else judged.reasoning_tokens
    end as reasoning_tokens,
    judged.cache_read_tokens is not null or judged.dialect in ('gemini', 'converse')
        as is_cache_known,
    chunks.is_batch or coalesce(judged.usage_tier = 'batch', false) as is_batch,
    case
        when judged.speed = 'fast' then 'fast'
        else lower(coalesce(chunks.service_tier, judged.usage_tier))
    end as service_tier,
    case
        when judged.is_byok = 'true' and judged.upstream_cost_usd is not null
            then judged.reply_cost_usd + judged.upstream_cost_usd
        else judged.reply_cost_usd
    end as billed_cost_usd,
    case when judged.charge_kind is not null then judged.input_tokens end as charge_quantity,
    case when judged.charge_kind is not null then 'tokens' end as charge_unit,
    judged.is_input_total and not coalesce(judged.input_tokens < 0, false) as is_input_total
from judged
inner join chunks on judged.source_line = chunks.source_line
