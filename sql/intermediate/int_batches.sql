-- The batch under which all requests of one model and class are priced, with its source and range.
-- What the log tells wins, then what is told (settings, inputs), then the hosting kind's
-- assumption; the KV cache of the mean request caps any. With stand-ins the cap is that of the one
-- that holds least. A logged batch ranges as its hours do, a told one not at all.
-- batch_max below 1 means that not even one mean request fits: no batch, no energy.
-- grain: month, provider, model_id, query_class

with

caps as (
    select
        int_class_moments.month,
        int_class_moments.provider,
        int_class_moments.model_id,
        int_class_moments.query_class,
        int_deployments.hosting_kind,
        int_deployments.told_batch,
        min(
            batch_max(
                usable.value,
                int_deployments.gpu_count,
                int_deployments.gpu_memory_gb,
                int_deployments.held_weight_bytes,
                int_deployments.kv_bytes_per_position,
                int_class_moments.mean_input_tokens + int_class_moments.mean_output_tokens,
                int_deployments.state_bytes
            )
        ) as batch_max
    from int_class_moments
    inner join int_deployments
        on
            int_class_moments.provider = int_deployments.provider
            and int_class_moments.model_id = int_deployments.model_id
    inner join stg_assumptions as usable on usable.assumption = 'gpu_memory_usable_frac'
    where int_class_moments.prompts > 0
    group by all
),

wanted as (
    select
        caps.month,
        caps.provider,
        caps.model_id,
        caps.query_class,
        caps.batch_max,
        coalesce(logged.batch, caps.told_batch, stg_assumptions.value) as batch,
        coalesce(logged.batch_low, caps.told_batch, stg_assumptions.low) as batch_low,
        coalesce(logged.batch_high, caps.told_batch, stg_assumptions.high) as batch_high,
        case
            when logged.batch is not null then logged.batch_source
            when caps.told_batch is not null then 'told'
            else 'assumed for ' || caps.hosting_kind
        end as batch_source
    from caps
    inner join stg_assumptions on stg_assumptions.assumption = 'batch_' || caps.hosting_kind
    left join int_logged_batches as logged
        on
            caps.month = logged.month
            and caps.provider = logged.provider
            and caps.model_id = logged.model_id
            and caps.query_class = logged.query_class
)

select
    wanted.month::varchar as month,
    wanted.provider::varchar as provider,
    wanted.model_id::varchar as model_id,
    wanted.query_class::varchar as query_class,
    wanted.batch_max::double as batch_max,
    wanted.batch_source::varchar as batch_source,
    case when wanted.batch_max >= 1 then least(wanted.batch, wanted.batch_max) end::double
        as batch,
    case when wanted.batch_max >= 1 then least(wanted.batch_low, wanted.batch_max) end::double
        as batch_low,
    case when wanted.batch_max >= 1 then least(wanted.batch_high, wanted.batch_max) end::double
        as batch_high
from wanted
