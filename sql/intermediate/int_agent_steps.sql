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

steps as (
    select
        requests.input_id,
        requests.source_line,
        cells.cell_id,
        cells.model_number,
        agentic.task_number,
        requests.occurred_at,
        requests.price_band_id,
        case when requests.latency_s >= 0 and not requests.is_bucket then requests.latency_s end
            as latency_s,
        requests.service_tier,
        requests.is_failed,
        requests.is_cache_known,
        requests.has_work,
        requests.is_measurable,
        requests.has_work and requests.task_id is not null and not requests.is_bucket as is_ordered,
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
        case
            when requests.has_work
                then
                    round(
                        prefill_pairs(
                            requests.mean_input_tokens, 0, requests.request_count,
                            case when requests.is_bucket then scatter.input_squared_ratio else 1 end
                        )
                    )
        end::bigint as uncached_prefill_pairs
    from int_priced_requests as requests
    inner join int_cells as cells
        on
            requests.month = cells.month
            and requests.provider = cells.provider
            and requests.model_id = cells.model_id
            and requests.query_class = cells.query_class
    left join int_agent_tasks as agentic
        on requests.month = agentic.month and requests.task_id = agentic.task_id
    left join stg_dispersion_factors as scatter on requests.query_class = scatter.query_class
    where
        cells.is_reported
        -- what neither of the two can be is left out before all joins
        and (requests.task_id is not null or requests.query_class = 'agentic')
        and (agentic.task_number is not null or requests.task_id is null)
),

-- Steps of one instant are ordered by all that a sum may tell apart, so no order of rows matters.
followed as (
    select
        steps.input_id,
        steps.source_line,
        steps.cell_id,
        steps.task_number,
        steps.occurred_at,
        steps.price_band_id,
        steps.latency_s,
        steps.is_failed,
        steps.is_cache_known,
        steps.has_work,
        steps.is_measurable,
        steps.is_ordered,
        steps.request_count,
        steps.input_tokens,
        steps.uncached_input_tokens,
        steps.cache_read_tokens,
        steps.cache_write_5m_tokens,
        steps.cache_write_1h_tokens,
        steps.output_tokens,
        steps.prefilled_tokens,
        steps.prefill_pairs,
        steps.decode_pairs,
        steps.cache_positions,
        steps.decode_steps,
        steps.uncached_prefill_pairs,
        lag(steps.input_tokens) over (
            partition by steps.model_number, steps.task_number, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens,
                steps.cell_id, steps.service_tier, steps.is_cache_known
        ) as before_input_tokens,
        lag(steps.occurred_at) over (
            partition by steps.model_number, steps.task_number, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens,
                steps.cell_id, steps.service_tier, steps.is_cache_known
        ) as before_at,
        max(steps.cache_read_tokens) over (
            partition by steps.model_number, steps.task_number, steps.is_ordered
            order by
                steps.occurred_at, steps.input_tokens, steps.cache_read_tokens,
                steps.output_tokens, steps.cache_write_5m_tokens, steps.cache_write_1h_tokens,
                steps.cell_id, steps.service_tier, steps.is_cache_known
            rows between 1 following and unbounded following
        ) as later_cache_read_tokens
    from steps
),

cached as (
    select
        followed.input_id,
        followed.source_line,
        followed.cell_id,
        followed.task_number,
        followed.price_band_id,
        followed.latency_s,
        followed.is_failed,
        followed.is_cache_known,
        followed.has_work,
        followed.is_measurable,
        followed.is_ordered,
        followed.request_count,
        followed.input_tokens,
        followed.uncached_input_tokens,
        followed.cache_read_tokens,
        followed.cache_write_5m_tokens,
        followed.cache_write_1h_tokens,
        followed.output_tokens,
        followed.prefilled_tokens,
        followed.prefill_pairs,
        followed.decode_pairs,
        followed.cache_positions,
        followed.decode_steps,
        followed.uncached_prefill_pairs,
        case
            when
                followed.is_ordered
                and followed.input_tokens >= followed.before_input_tokens
                then followed.input_tokens - followed.before_input_tokens
        end as new_input_tokens,
        case
            when
                followed.is_ordered
                and followed.is_cache_known
                and followed.input_tokens >= followed.before_input_tokens
                and followed.occurred_at
                <= followed.before_at + kept.value * interval '1' second
                then
                    greatest(
                        least(followed.before_input_tokens, followed.input_tokens - 1),
                        followed.cache_read_tokens
                    )
            else followed.cache_read_tokens
        end as full_cache_read_tokens,
        case
            when followed.is_ordered and followed.is_cache_known
                then
                    followed.cache_write_5m_tokens + followed.cache_write_1h_tokens
                    - least(
                        followed.cache_write_5m_tokens + followed.cache_write_1h_tokens,
                        greatest(
                            coalesce(followed.later_cache_read_tokens, 0)
                            - followed.cache_read_tokens,
                            0
                        )
                    )
        end as unread_cache_write_tokens
    from followed
    inner join stg_assumptions as kept on kept.assumption = 'cache_life_s'
)

select
    cached.input_id::integer as input_id,
    cached.source_line::bigint as source_line,
    cached.cell_id::integer as cell_id,
    cached.task_number::integer as task_number,
    cached.price_band_id::integer as price_band_id,
    cached.latency_s::double as latency_s,
    cached.is_failed::boolean as is_failed,
    cached.is_cache_known::boolean as is_cache_known,
    cached.has_work::boolean as has_work,
    cached.is_measurable::boolean as is_measurable,
    cached.is_ordered::boolean as is_ordered,
    cached.request_count::bigint as request_count,
    cached.input_tokens::bigint as input_tokens,
    cached.uncached_input_tokens::bigint as uncached_input_tokens,
    cached.cache_read_tokens::bigint as cache_read_tokens,
    cached.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    cached.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    cached.output_tokens::bigint as output_tokens,
    cached.prefilled_tokens::bigint as prefilled_tokens,
    cached.prefill_pairs::bigint as prefill_pairs,
    cached.decode_pairs::bigint as decode_pairs,
    cached.cache_positions::bigint as cache_positions,
    cached.decode_steps::bigint as decode_steps,
    cached.new_input_tokens::bigint as new_input_tokens,
    cached.full_cache_read_tokens::bigint as full_cache_read_tokens,
    cached.unread_cache_write_tokens::bigint as unread_cache_write_tokens,
    least(cached.unread_cache_write_tokens, cached.cache_write_5m_tokens)::bigint
        as unread_cache_write_5m_tokens,
    cached.uncached_prefill_pairs::bigint as uncached_prefill_pairs,
    case
        when cached.full_cache_read_tokens = cached.cache_read_tokens then cached.prefilled_tokens
        else cached.input_tokens - cached.full_cache_read_tokens
    end::bigint as full_prefilled_tokens,
    case
        when cached.full_cache_read_tokens = cached.cache_read_tokens then cached.prefill_pairs
        else
            round(prefill_pairs(cached.input_tokens, cached.full_cache_read_tokens, 1, 1))
    end::bigint as full_prefill_pairs
from cached
