-- OpenTelemetry's GenAI spans as OTLP JSON, one export a line or one in the whole file: whole
-- numbers are texts, times are nanoseconds since 1970. Only calls of a model count: spans of agents
-- and chains repeat the sum of those below them. A span that does not say its operation is a call
-- where it has tokens and no span right below it has any. By convention input includes what was
-- cached; where a total is told that is the sum with the cached part, it does not. Output includes
-- reasoning.

with

-- A record is parsed once: its lines may hold thousands of spans.
documents as (
    select
        source_rows.source_line,
        from_json(
            source_rows.document,
            replace(
                replace(
                    '{"resourceSpans": [{
                        "resource": {"attributes": ATTRIBUTES},
                        "scopeSpans": SCOPES,
                        "instrumentationLibrarySpans": SCOPES
                    }]}',
                    'SCOPES',
                    '[{"spans": [{
                        "traceId": "VARCHAR", "spanId": "VARCHAR", "parentSpanId": "VARCHAR",
                        "name": "VARCHAR", "startTimeUnixNano": "VARCHAR",
                        "endTimeUnixNano": "VARCHAR", "status": {"code": "VARCHAR"},
                        "attributes": ATTRIBUTES
                    }]}]'
                ),
                'ATTRIBUTES',
                '[{"key": "VARCHAR", "value": {
                    "stringValue": "VARCHAR", "intValue": "VARCHAR", "doubleValue": "VARCHAR",
                    "arrayValue": {"values": [{"stringValue": "VARCHAR"}]}
                }}]'
            )
        ) as document
    from source_rows
),

resources as (
    select
        documents.source_line,
        unnest(documents.document['resourceSpans']) as resource
    from documents
),

scopes as (
    select
        resources.source_line,
        resources.resource.resource.attributes as resource_attributes,
        unnest(
            list_concat(
                resources.resource['scopeSpans'], resources.resource['instrumentationLibrarySpans']
            )
        ) as scope
    from resources
),

spans as (
    select
        scopes.source_line,
        scopes.resource_attributes,
        unnest(scopes.scope.spans) as span
    from scopes
),

listed as (
    select
        spans.source_line,
        spans.span,
        list_concat(spans.span.attributes, spans.resource_attributes) as attributes,
        list_transform(attributes, lambda each: each.key) as keys,
        list_transform(
            attributes,
            lambda each: coalesce(
                each.value['stringValue'],
                each.value['intValue'],
                each.value['doubleValue'],
                each.value['arrayValue'].values[1]['stringValue']
            )
        ) as told
    from spans
),

pivoted as (
    select
        listed.source_line,
        listed.span['traceId'] as trace_id,
        listed.span['spanId'] as span_id,
        nullif(listed.span['parentSpanId'], '') as parent_id,
        split_part(listed.span.name, ' ', 1) as name_word,
        listed.span['startTimeUnixNano'] as started_ns,
        listed.span['endTimeUnixNano'] as ended_ns,
        coalesce(listed.span.status.code in ('2', 'STATUS_CODE_ERROR'), false) as is_error,
        listed.told[list_position(listed.keys, 'gen_ai.operation.name')] as operation_name,
        listed.told[list_position(listed.keys, 'llm.request.type')] as request_type,
        listed.told[list_position(listed.keys, 'traceloop.span.kind')] as group_kind,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.provider.name')],
            listed.told[list_position(listed.keys, 'gen_ai.system')]
        ) as provider,
        listed.told[list_position(listed.keys, 'gen_ai.request.model')] as request_model,
        listed.told[list_position(listed.keys, 'gen_ai.response.model')] as response_model,
        listed.told[list_position(listed.keys, 'gen_ai.conversation.id')] as session_id,
        listed.told[list_position(listed.keys, 'gen_ai.agent.name')] as route,
        listed.told[list_position(listed.keys, 'service.name')] as project,
        coalesce(
            listed.told[list_position(listed.keys, 'user.id')],
            listed.told[list_position(listed.keys, 'enduser.id')]
        ) as user_id,
        listed.told[list_position(listed.keys, 'gen_ai.response.finish_reasons')] as finish_reason,
        coalesce(
            listed.told[list_position(listed.keys, 'openai.response.service_tier')],
            listed.told[list_position(listed.keys, 'gen_ai.openai.response.service_tier')]
        ) as service_tier,
        listed.told[list_position(listed.keys, 'gen_ai.usage.input_tokens')] as new_input,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.prompt_tokens')],
            listed.told[list_position(listed.keys, 'llm.usage.prompt_tokens')]
        ) as old_input,
        listed.told[list_position(listed.keys, 'gen_ai.usage.output_tokens')] as new_output,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.completion_tokens')],
            listed.told[list_position(listed.keys, 'llm.usage.completion_tokens')]
        ) as old_output,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.cache_read.input_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.cache_read_input_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.input_tokens.cached')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.details.cache_read_tokens')]
        ) as cache_read,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.cache_creation.input_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.cache_creation_input_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.input_tokens.cache_write')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.details.cache_write_tokens')]
        ) as cache_write,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.reasoning.output_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.reasoning_tokens')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.output_tokens.reasoning')],
            listed.told[list_position(listed.keys, 'gen_ai.usage.details.reasoning_tokens')]
        ) as reasoning,
        coalesce(
            listed.told[list_position(listed.keys, 'gen_ai.usage.total_tokens')],
            listed.told[list_position(listed.keys, 'llm.usage.total_tokens')]
        ) as total
    from listed
),

counted as (
    select
        pivoted.*,
        coalesce(
            pivoted.operation_name,
            case pivoted.request_type
                when 'chat' then 'chat'
                when 'completion' then 'text_completion'
                when 'embedding' then 'embeddings'
            end,
            case
                when
                    pivoted.name_word in (
                        'chat',
                        'text_completion',
                        'embeddings',
                        'generate_content',
                        'create_agent',
                        'invoke_agent',
                        'invoke_workflow',
                        'execute_tool'
                    )
                    then pivoted.name_word
            end
        ) as operation,
        count_of(coalesce(pivoted.new_input, pivoted.old_input)) as input_tokens,
        count_of(coalesce(pivoted.new_output, pivoted.old_output)) as output_tokens,
        count_of(pivoted.cache_read) as cache_read_tokens,
        count_of(pivoted.cache_write) as cache_write_tokens,
        coalesce(count_of(pivoted.cache_read), 0) + coalesce(count_of(pivoted.cache_write), 0)
            as cache_tokens
    from pivoted
),

grouping_spans as (
    select distinct
        counted.trace_id,
        counted.parent_id
    from counted
    where coalesce(counted.input_tokens, counted.output_tokens) is not null
),

calls as (
    select
        counted.*,
        counted.operation = 'embeddings' as is_embedding,
        coalesce(
            counted.cache_tokens > 0
            and try_cast(counted.total as double)
            = counted.input_tokens + counted.output_tokens + counted.cache_tokens,
            false
        ) as is_cache_outside,
        make_timestamp(try_cast(counted.started_ns as bigint) // 1000) as started_at,
        make_timestamp(try_cast(counted.ended_ns as bigint) // 1000) as ended_at
    from counted
    left join grouping_spans
        on counted.trace_id = grouping_spans.trace_id and counted.span_id = grouping_spans.parent_id
    where
        counted.operation in ('chat', 'text_completion', 'embeddings', 'generate_content')
        or (
            counted.operation is null
            and counted.group_kind is null
            and grouping_spans.trace_id is null
            and coalesce(counted.input_tokens, counted.output_tokens) is not null
        )
)

select
    calls.source_line,
    calls.trace_id || ':' || calls.span_id as request_id,
    if(
        calls.started_ns is null, null, coalesce(calls.started_at, 'infinity'::timestamp)
    ) as occurred_at,
    calls.provider,
    coalesce(calls.response_model, calls.request_model) as model_name,
    calls.project,
    calls.user_id,
    calls.route,
    calls.session_id,
    calls.trace_id as task_id,
    calls.parent_id,
    case
        when not coalesce(calls.is_embedding, false)
            then calls.input_tokens - if(calls.is_cache_outside, 0, calls.cache_tokens)
    end as uncached_input_tokens,
    case
        when not coalesce(calls.is_embedding, false) then calls.cache_read_tokens
    end as cache_read_tokens,
    case
        when not coalesce(calls.is_embedding, false) then calls.cache_write_tokens
    end as cache_write_5m_tokens,
    case
        when not coalesce(calls.is_embedding, false) then calls.output_tokens
    end as output_tokens,
    case
        when not coalesce(calls.is_embedding, false) then count_of(calls.reasoning)
    end as reasoning_tokens,
    calls.cache_read_tokens is not null as is_cache_known,
    calls.service_tier,
    if(calls.is_error, 'error', 'success') as status,
    calls.finish_reason,
    seconds_between(calls.started_at, calls.ended_at) as latency_s,
    case when calls.is_embedding then 'embeddings' end as charge_kind,
    case when calls.is_embedding then calls.input_tokens end as charge_quantity,
    case when calls.is_embedding then 'tokens' end as charge_unit,
    not calls.is_cache_outside and not coalesce(calls.input_tokens < 0, false) as is_input_total
from calls
