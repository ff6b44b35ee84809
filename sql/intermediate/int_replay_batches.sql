-- The batch under which a replay is priced: the model's own in the class where it has one, else
-- what is told of it, else the hosting kind's assumption; the cache of the mean request caps any.
-- batch_max below 1 means that not even one mean request fits: no batch, no energy. A model that
-- did not serve the class must hold the mean request in its context as well.
-- Replays are numbered, since numbers join and group faster than five texts.
-- grain: month, query_class, scope, provider, model_id

with

caps as (
    select
        replays.month,
        replays.query_class,
        replays.scope,
        replays.provider,
        replays.model_id,
        replays.own_prompts,
        hosts.hosting_kind,
        hosts.told_batch,
        min(hosts.context_tokens) as context_tokens,
        replays.mean_input_tokens + replays.mean_output_tokens as context_used_tokens,
        min(
            batch_max(
                usable.value,
                hosts.gpu_count,
                hosts.gpu_memory_gb,
                hosts.held_weight_bytes,
                hosts.kv_bytes_per_position,
                replays.mean_input_tokens + replays.mean_output_tokens,
                hosts.state_bytes
            )
        ) as batch_max
    from int_replays as replays
    inner join int_replay_deployments as hosts
        on replays.provider = hosts.provider and replays.model_id = hosts.model_id
    inner join stg_assumptions as usable on usable.assumption = 'gpu_memory_usable_frac'
    group by all
),

wanted as (
    select
        caps.month,
        caps.query_class,
        caps.scope,
        caps.provider,
        caps.model_id,
        caps.batch_max,
        coalesce(own.batch, caps.told_batch, assumed.value) as batch,
        coalesce(own.batch_low, caps.told_batch, assumed.low) as batch_low,
        coalesce(own.batch_high, caps.told_batch, assumed.high) as batch_high,
        case
            when own.batch is not null then own.batch_source
            when caps.told_batch is not null then 'told'
            else 'assumed for ' || caps.hosting_kind
        end as batch_source,
        case
            when caps.batch_max < 1 then 'the mean request does not fit its GPUs'
            when
                caps.own_prompts = 0 and caps.context_used_tokens > caps.context_tokens
                then 'the mean request does not fit its context'
        end as reason
    from caps
    inner join stg_assumptions as assumed on assumed.assumption = 'batch_' || caps.hosting_kind
    left join int_batches as own
        on
            caps.month = own.month
            and caps.query_class = own.query_class
            and caps.provider = own.provider
            and caps.model_id = own.model_id
)

select
    row_number() over (
        order by
            wanted.month, wanted.query_class, wanted.scope, wanted.provider, wanted.model_id
    )::integer as replay_number,
    wanted.month::varchar as month,
    wanted.query_class::varchar as query_class,
    wanted.scope::varchar as scope,
    wanted.provider::varchar as provider,
    wanted.model_id::varchar as model_id,
    wanted.batch_max::double as batch_max,
    wanted.batch_source::varchar as batch_source,
    wanted.reason::varchar as reason,
    case when wanted.reason is null then least(wanted.batch, wanted.batch_max) end::double
        as batch,
    case when wanted.reason is null then least(wanted.batch_low, wanted.batch_max) end::double
        as batch_low,
    case when wanted.reason is null then least(wanted.batch_high, wanted.batch_max) end::double
        as batch_high
from wanted
