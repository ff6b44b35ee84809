-- Activity exports in OpenAI's older words, which Groq still writes: one bucket a row, as a table
-- or inside a JSON page. Context tokens include cached ones. Only Groq says how many were not, and
-- what they cost; a cost of zero beside tokens is a free plan, not a price.

with

records as (
    select
        source_rows.source_line,
        source_rows.aggregation_timestamp::varchar as aggregation_timestamp,
        source_rows.timestamp::varchar as timestamp,
        source_rows.n_requests::varchar as n_requests,
        source_rows.num_requests::varchar as num_requests,
        source_rows.operation::varchar as operation,
        source_rows.snapshot_id::varchar as snapshot_id,
        source_rows.model::varchar as model,
        source_rows.n_context_tokens_total::varchar as n_context_tokens_total,
        source_rows.n_non_cached_context_tokens_total::varchar as n_non_cached_context_tokens_total,
        source_rows.n_cached_context_tokens_total::varchar as n_cached_context_tokens_total,
        source_rows.n_generated_tokens_total::varchar as n_generated_tokens_total,
        source_rows.project_id::varchar as project_id,
        source_rows.api_key_id::varchar as api_key_id,
        source_rows.user::varchar as user_name,
        source_rows.cost::varchar as cost,
        unnest(
            case
                when json_exists(source_rows.document, '$.data')
                    then source_rows.document -> '$.data[*]'
                else [coalesce(source_rows.document, '{}'::json)]
            end
        ) as item
    from source_rows
),

buckets as (
    select
        records.source_line,
        epoch_time_of(
            coalesce(
                records.item ->> 'aggregation_timestamp',
                records.item ->> 'timestamp',
                records.aggregation_timestamp,
                records.timestamp
            )
        ) as occurred_at,
        count_of(
            coalesce(
                records.item ->> 'n_requests',
                records.item ->> 'num_requests',
                records.n_requests,
                records.num_requests
            )
        ) as request_count,
        coalesce(records.item ->> 'operation', records.operation) as operation,
        coalesce(
            records.item ->> 'snapshot_id',
            records.item ->> 'model',
            records.snapshot_id,
            records.model
        ) as model_name,
        count_of(
            coalesce(records.item ->> 'n_context_tokens_total', records.n_context_tokens_total)
        ) as input_tokens,
        count_of(
            coalesce(
                records.item ->> 'n_non_cached_context_tokens_total',
                records.n_non_cached_context_tokens_total
            )
        ) as uncached_tokens,
        count_of(
            coalesce(
                records.item ->> 'n_cached_context_tokens_total',
                records.n_cached_context_tokens_total
            )
        ) as cached_tokens,
        count_of(
            coalesce(records.item ->> 'n_generated_tokens_total', records.n_generated_tokens_total)
        ) as output_tokens,
        coalesce(records.item ->> 'project_id', records.project_id) as project,
        coalesce(records.item ->> 'api_key_id', records.api_key_id) as api_key_id,
        coalesce(records.item ->> 'user_id', records.item ->> 'user', records.user_name) as user_id,
        nullif(money_of(coalesce(records.item ->> 'cost', records.cost)), 0) as billed_cost_usd
    from records
),

judged as (
    select
        buckets.source_line,
        buckets.occurred_at,
        buckets.request_count,
        buckets.model_name,
        buckets.input_tokens,
        buckets.output_tokens,
        buckets.project,
        buckets.api_key_id,
        buckets.user_id,
        buckets.billed_cost_usd,
        coalesce(
            buckets.cached_tokens, buckets.input_tokens - buckets.uncached_tokens
        ) as cache_read_tokens,
        case
            when buckets.operation like '%embedding%' or buckets.model_name like '%embedding%'
                then 'embeddings'
        end as charge_kind,
        case when buckets.uncached_tokens is null then 'openai' else 'groq' end as provider,
        concat_ws(
            '|',
            coalesce(buckets.occurred_at::varchar, ''),
            coalesce(buckets.model_name, ''),
            coalesce(buckets.operation, ''),
            coalesce(buckets.project, ''),
            coalesce(buckets.api_key_id, ''),
            coalesce(buckets.user_id, '')
        ) as row_key
    from buckets
)

select
    judged.source_line,
    judged.occurred_at,
    judged.provider,
    judged.model_name,
    judged.project,
    judged.user_id,
    judged.api_key_id,
    judged.request_count,
    judged.billed_cost_usd,
    judged.charge_kind,
    md5(
        judged.row_key || '|' || row_number() over (
            partition by judged.row_key
            order by
                known_count(judged.output_tokens) desc,
                known_count(judged.input_tokens) desc,
                judged.source_line asc
        )
    ) as request_id,
    case
        when judged.charge_kind is null
            then judged.input_tokens - coalesce(judged.cache_read_tokens, 0)
    end as uncached_input_tokens,
    case when judged.charge_kind is null then judged.cache_read_tokens end as cache_read_tokens,
    case when judged.charge_kind is null then judged.output_tokens end as output_tokens,
    judged.cache_read_tokens is not null as is_cache_known,
    case when judged.charge_kind is not null then judged.input_tokens end as charge_quantity,
    case when judged.charge_kind is not null then 'tokens' end as charge_unit,
    not coalesce(judged.input_tokens < 0, false) as is_input_total
from judged
