-- Amazon Bedrock's model invocation log: one call a row. Input excludes cached tokens, whose counts
-- have two spellings and may stand in the reply alone, which is a list of events for streams.
-- Calls that failed have no counts. The model may be an ARN: that of a foundation model or of a
-- shared inference profile ends in the model's id, that of an application's own profile hides it
-- and stays as it is, for a mapping. Embedding models answer with no tokens: a charge.

with

calls as (
    select
        source_rows.source_line,
        source_rows.requestid,
        source_rows.timestamp,
        source_rows.identity_arn,
        source_rows.errorcode,
        source_rows.requestmetadata_team,
        source_rows.requestmetadata_project,
        source_rows.requestmetadata_feature,
        source_rows.output_outputbodyjson_stopreason,
        source_rows.output_outputbodyjson_stop_reason,
        source_rows.output_outputbodyjson_metrics_latencyms,
        coalesce(source_rows.inferenceregion, source_rows.region) as region,
        regexp_replace(
            source_rows.modelid, '^arn:aws.*:(foundation-model|inference-profile)/', ''
        ) as model_name,
        count_of(source_rows.input_inputtokencount) as input_tokens,
        count_of(source_rows.output_outputtokencount) as output_tokens,
        count_of(
            coalesce(
                source_rows.input_cachereadinputtokencount,
                source_rows.input_cachereadinputtokens,
                source_rows.output_outputbodyjson_usage_cachereadinputtokens,
                source_rows.output_outputbodyjson_usage_cachereadinputtokencount,
                source_rows.output_outputbodyjson_usage_cache_read_input_tokens,
                (
                    source_rows.document
                    ->> '$.output.outputBodyJson[*].metadata.usage.cacheReadInputTokens'
                )[1],
                (
                    source_rows.document
                    ->> '$.output.outputBodyJson[*].message.usage.cache_read_input_tokens'
                )[1]
            )
        ) as cache_read_tokens,
        count_of(
            coalesce(
                source_rows.input_cachewriteinputtokencount,
                source_rows.input_cachewriteinputtokens,
                source_rows.output_outputbodyjson_usage_cachewriteinputtokens,
                source_rows.output_outputbodyjson_usage_cachewriteinputtokencount,
                source_rows.output_outputbodyjson_usage_cache_creation_input_tokens,
                (
                    source_rows.document
                    ->> '$.output.outputBodyJson[*].metadata.usage.cacheWriteInputTokens'
                )[1],
                (
                    source_rows.document
                    ->> '$.output.outputBodyJson[*].message.usage.cache_creation_input_tokens'
                )[1]
            )
        ) as cache_write_tokens,
        count_of(
            source_rows.output_outputbodyjson_usage_cache_creation_ephemeral_1h_input_tokens
        ) as cache_write_1h_tokens,
        count_of(source_rows.output_outputbodyjson_usage_totaltokens) as total_tokens
    from source_rows
),

judged as (
    select
        calls.source_line,
        calls.requestid,
        calls.timestamp,
        calls.identity_arn,
        calls.errorcode,
        calls.requestmetadata_team,
        calls.requestmetadata_project,
        calls.requestmetadata_feature,
        calls.output_outputbodyjson_stopreason,
        calls.output_outputbodyjson_stop_reason,
        calls.output_outputbodyjson_metrics_latencyms,
        calls.region,
        calls.model_name,
        calls.input_tokens,
        calls.output_tokens,
        calls.cache_read_tokens,
        calls.cache_write_tokens,
        calls.cache_write_1h_tokens,
        calls.total_tokens,
        case
            when
                calls.input_tokens is not null
                and calls.output_tokens is null
                and calls.model_name like '%embed%'
                then 'embeddings'
        end as charge_kind
    from calls
)

select
    judged.source_line,
    judged.requestid as request_id,
    time_of(judged.timestamp) as occurred_at,
    'aws' as provider,
    judged.model_name,
    judged.requestmetadata_team as team,
    judged.requestmetadata_project as project,
    judged.requestmetadata_feature as route,
    judged.identity_arn as user_id,
    judged.cache_read_tokens,
    judged.cache_write_1h_tokens,
    judged.output_tokens,
    judged.region,
    judged.charge_kind,
    case when judged.charge_kind is null then judged.total_tokens end as total_tokens,
    case when judged.charge_kind is null then judged.input_tokens end as uncached_input_tokens,
    judged.cache_write_tokens - coalesce(judged.cache_write_1h_tokens, 0) as cache_write_5m_tokens,
    judged.cache_read_tokens is not null as is_cache_known,
    case when judged.errorcode is not null then 'failed' end as status,
    coalesce(
        judged.output_outputbodyjson_stopreason, judged.output_outputbodyjson_stop_reason
    ) as finish_reason,
    try_cast(judged.output_outputbodyjson_metrics_latencyms as double) / 1000 as latency_s,
    case when judged.charge_kind is not null then judged.input_tokens end as charge_quantity,
    case when judged.charge_kind is not null then 'tokens' end as charge_unit
from judged
