-- One request of an agentic task, a step, with what it would prefill and be charged for without a
-- cache, as logged, and fully cached. All steps of a task count that has one of class agentic,
-- whatever the class of the others, failed ones too; buckets and requests of no task are kept,
-- but have no place in an order (is_ordered).
-- Fully cached: a step finds the input of the step before it (same task and model) in the cache,
-- all else it writes there for 5 minutes. The answer of the step before counts as new. A step that
-- is shorter than the one before, or later than a cache lives, finds what the log says, as do steps
-- of which the log tells no cached tokens.
-- Written tokens are never read back where no later step of the task reads as far into its context;
-- of these the 5-minute ones come last, since longer lives must stand first in a prompt.
-- grain: input_id, source_line

with

agentic_tasks as (
    select
        int_tasks.month,
        int_tasks.task_id
    from int_tasks
    where int_tasks.query_class = 'agentic'
    group by all
),

steps as (
    select
        requests.input_id,
        requests.source_line,
        requests.month,
        requests.provider,
        requests.model_id,
        requests.query_class,
        requests.task_id,
        requests.occurred_at,
        requests.price_model,
        requests.service_tier,
        requests.mean_input_tokens,
        requests.is_failed,
        requests.is_bucket,
        requests.is_cache_known,
        requests.has_work,
        requests.is_measurable,
        requests.request_count,
        requests.input_tokens,
        requests.uncached_input_tokens,
        coalesce(requests.cache_read_tokens, 0) as cache_read_tokens,
        coalesce(requests.cache_write_5m_tokens, 0) as cache_write_5m_tokens,
        coalesce(requests.cache_write_1h_tokens, 0) as cache_write_1h_tokens,
        coalesce(requests.output_tokens, 0) as output_tokens,
        requests.prefilled_tokens,
        requests.prefill_pairs,
        requests.decode_pairs,
        requests.cache_positions,
        requests.decode_steps,
        requests.has_work and requests.task_id is not null and not requests.is_bucket as is_ordered
    from int_requests as requests
    left join agentic_tasks
        on requests.month = agentic_tasks.month and requests.task_id = agentic_tasks.task_id
    where
        agentic_tasks.task_id is not null
        or (requests.task_id is null and requests.query_class = 'agentic')
),

-- The order of steps of one instant is that of their lengths, so that no order of rows matters.
followed as (
    select
        steps.input_id,
        steps.source_line,
        lag(steps.input_tokens) over (
            partition by
                steps.month, steps.provider, steps.model_id, steps.task_id, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens
        ) as before_input_tokens,
        lag(steps.occurred_at) over (
            partition by
                steps.month, steps.provider, steps.model_id, steps.task_id, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens
        ) as before_at,
        max(steps.cache_read_tokens) over (
            partition by
                steps.month, steps.provider, steps.model_id, steps.task_id, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens
            rows between 1 following and unbounded following
        ) as later_cache_read_tokens
    from steps
),

cached as (
    select
        steps.input_id,
        steps.source_line,
        case
            when
                steps.is_ordered
                and steps.input_tokens >= followed.before_input_tokens
                then steps.input_tokens - followed.before_input_tokens
        end as new_input_tokens,
        case
            when
                steps.is_ordered
                and steps.is_cache_known
                and steps.input_tokens >= followed.before_input_tokens
                and steps.occurred_at
                <= followed.before_at + kept.value * interval '1' second
                then
                    greatest(
                        least(followed.before_input_tokens, steps.input_tokens - 1),
                        steps.cache_read_tokens
                    )
            else steps.cache_read_tokens
        end as full_cache_read_tokens,
        case
            when steps.is_ordered and steps.is_cache_known
                then
                    steps.cache_write_5m_tokens + steps.cache_write_1h_tokens
                    - least(
                        steps.cache_write_5m_tokens + steps.cache_write_1h_tokens,
                        greatest(
                            coalesce(followed.later_cache_read_tokens, 0) - steps.cache_read_tokens,
                            0
                        )
                    )
        end as unread_cache_write_tokens
    from steps
    inner join followed
        on
            steps.input_id = followed.input_id
            and steps.source_line = followed.source_line
    inner join stg_assumptions as kept on kept.assumption = 'cache_life_s'
)

select
    steps.input_id::integer as input_id,
    steps.source_line::bigint as source_line,
    steps.month::varchar as month,
    steps.provider::varchar as provider,
    steps.model_id::varchar as model_id,
    steps.query_class::varchar as query_class,
    steps.task_id::varchar as task_id,
    steps.occurred_at::timestamp as occurred_at,
    steps.price_model::varchar as price_model,
    steps.service_tier::varchar as service_tier,
    steps.mean_input_tokens::double as mean_input_tokens,
    steps.is_failed::boolean as is_failed,
    steps.is_cache_known::boolean as is_cache_known,
    steps.is_ordered::boolean as is_ordered,
    steps.has_work::boolean as has_work,
    steps.is_measurable::boolean as is_measurable,
    steps.request_count::bigint as request_count,
    steps.input_tokens::bigint as input_tokens,
    steps.uncached_input_tokens::bigint as uncached_input_tokens,
    steps.cache_read_tokens::bigint as cache_read_tokens,
    steps.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    steps.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    steps.output_tokens::bigint as output_tokens,
    cached.new_input_tokens::bigint as new_input_tokens,
    cached.full_cache_read_tokens::bigint as full_cache_read_tokens,
    cached.unread_cache_write_tokens::bigint as unread_cache_write_tokens,
    least(cached.unread_cache_write_tokens, steps.cache_write_5m_tokens)::bigint
        as unread_cache_write_5m_tokens,
    steps.prefilled_tokens::bigint as prefilled_tokens,
    steps.prefill_pairs::bigint as prefill_pairs,
    steps.decode_pairs::bigint as decode_pairs,
    steps.cache_positions::bigint as cache_positions,
    steps.decode_steps::bigint as decode_steps,
    case
        when steps.has_work
            then
                round(
                    prefill_pairs(
                        steps.mean_input_tokens, 0, steps.request_count,
                        case when steps.is_bucket then scatter.input_squared_ratio else 1 end
                    )
                )
    end::bigint as uncached_prefill_pairs,
    case
        when cached.full_cache_read_tokens = steps.cache_read_tokens then steps.prefilled_tokens
        else steps.input_tokens - cached.full_cache_read_tokens
    end::bigint as full_prefilled_tokens,
    case
        when cached.full_cache_read_tokens = steps.cache_read_tokens then steps.prefill_pairs
        else
            round(prefill_pairs(steps.input_tokens, cached.full_cache_read_tokens, 1, 1))
    end::bigint as full_prefill_pairs
from steps
inner join cached
    on steps.input_id = cached.input_id and steps.source_line = cached.source_line
left join stg_dispersion_factors as scatter on steps.query_class = scatter.query_class
