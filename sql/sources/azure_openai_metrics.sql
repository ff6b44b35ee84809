-- Azure Monitor's metrics of OpenAI deployments: one metric a row, so that the rows of one time and
-- deployment make a bucket together; it stands at the first of them. Input includes cached tokens,
-- whose share most exports lack. Metrics have older names (ProcessedPromptTokens, GeneratedTokens,
-- AzureOpenAIRequests) and newer ones (InputTokens, OutputTokens, ModelRequests): where both are
-- there they say the same, so they are not added. A metric split further, as by status, is added.
-- Without a grain a bucket is a minute, the finest there is. An idle time has zeros: no usage.

with

metrics as (
    select
        source_rows.source_line,
        coalesce(source_rows.modeldeploymentname, source_rows.deploymentname)::varchar
            as deployment,
        source_rows.modelname::varchar as model,
        source_rows.region::varchar as region,
        coalesce(source_rows.resourceid, source_rows.resource)::varchar as account,
        coalesce(
            try_strptime(
                coalesce(source_rows.timegenerated_utc_, source_rows.timegenerated)::varchar,
                '%m/%d/%Y, %I:%M:%S.%g %p'
            ),
            time_of(coalesce(source_rows.timegenerated_utc_, source_rows.timegenerated))
        ) as occurred_at,
        case upper(coalesce(source_rows.timegrain::varchar, 'PT1M'))
            when 'PT5M' then interval 5 minute
            when 'PT15M' then interval 15 minute
            when 'PT30M' then interval 30 minute
            when 'PT1H' then interval 1 hour
            when 'PT6H' then interval 6 hour
            when 'PT12H' then interval 12 hour
            when 'P1D' then interval 1 day
            else interval 1 minute
        end as bucket_width,
        regexp_replace(lower(source_rows.metricname::varchar), '[^a-z]', '', 'g') as metric,
        count_of(source_rows.total) as total
    from source_rows
),

buckets as (
    select
        metrics.occurred_at,
        metrics.bucket_width,
        metrics.deployment,
        metrics.model,
        metrics.region,
        metrics.account,
        min(metrics.source_line) as source_line,
        coalesce(
            sum(metrics.total) filter (where metrics.metric = 'processedprompttokens'),
            sum(metrics.total) filter (where metrics.metric = 'inputtokens')
        ) as input_tokens,
        sum(metrics.total) filter (
            where metrics.metric in ('processedcachedprompttokens', 'cachedprompttokens')
        ) as cache_read_tokens,
        coalesce(
            sum(metrics.total) filter (
                where metrics.metric in ('generatedtokens', 'generatedcompletiontokens')
            ),
            sum(metrics.total) filter (where metrics.metric = 'outputtokens')
        ) as output_tokens,
        coalesce(
            sum(metrics.total) filter (where metrics.metric = 'azureopenairequests'),
            sum(metrics.total) filter (where metrics.metric = 'modelrequests')
        ) as request_count
    from metrics
    group by all
),

judged as (
    select
        buckets.occurred_at,
        buckets.bucket_width,
        buckets.deployment,
        buckets.model,
        buckets.region,
        buckets.account,
        buckets.source_line,
        buckets.input_tokens,
        buckets.cache_read_tokens,
        buckets.output_tokens,
        buckets.request_count,
        coalesce(buckets.input_tokens, 0) = 0
        and coalesce(buckets.output_tokens, 0) = 0
        and coalesce(buckets.request_count, 0) = 0 as is_idle
    from buckets
)

select
    judged.source_line,
    judged.occurred_at,
    'azure' as provider,
    judged.deployment as route,
    judged.region,
    judged.cache_read_tokens,
    md5(
        concat_ws(
            '|',
            coalesce(judged.occurred_at::varchar, ''),
            judged.bucket_width::varchar,
            coalesce(judged.account, ''),
            coalesce(judged.deployment, ''),
            coalesce(judged.model, ''),
            coalesce(judged.region, '')
        )
    ) as request_id,
    case
        when isfinite(judged.occurred_at) then judged.occurred_at + judged.bucket_width
    end as bucket_end_at,
    coalesce(judged.model, judged.deployment) as model_name,
    case
        when not judged.is_idle
            then judged.input_tokens - coalesce(judged.cache_read_tokens, 0)
    end as uncached_input_tokens,
    case when not judged.is_idle then judged.output_tokens end as output_tokens,
    judged.cache_read_tokens is not null as is_cache_known,
    case when not judged.is_idle then nullif(judged.request_count, 0) end as request_count,
    not coalesce(judged.input_tokens < 0, false) as is_input_total
from judged
