-- Summed steps of agentic tasks of one model, class and price: counts, tokens, token moments and
-- what a cache would change of both.
-- grain: month, provider, model_id, query_class, price_band_id

select
    cells.month::varchar as month,
    cells.provider::varchar as provider,
    cells.model_id::varchar as model_id,
    cells.query_class::varchar as query_class,
    steps.price_band_id::integer as price_band_id,
    sum(steps.request_count)::decimal(38, 0) as request_count,
    sum(case when steps.is_failed then steps.request_count else 0 end)::decimal(38, 0)
        as failed_request_count,
    sum(case when steps.task_number is null then steps.request_count else 0 end)::decimal(38, 0)
        as taskless_request_count,
    sum(case when steps.is_ordered then 1 else 0 end)::decimal(38, 0) as ordered_request_count,
    sum(case when steps.is_ordered and steps.is_cache_known then 1 else 0 end)::decimal(38, 0)
        as followed_request_count,
    sum(case when steps.is_cache_known then steps.request_count else 0 end)::decimal(38, 0)
        as cache_known_request_count,
    sum(case when steps.is_measurable then steps.request_count else 0 end)::decimal(38, 0)
        as measurable_request_count,
    sum(case when steps.has_work then steps.request_count else 0 end)::decimal(38, 0) as prompts,
    sum(steps.input_tokens)::decimal(38, 0) as input_tokens,
    sum(steps.uncached_input_tokens)::decimal(38, 0) as uncached_input_tokens,
    sum(steps.cache_read_tokens)::decimal(38, 0) as cache_read_tokens,
    sum(steps.cache_write_5m_tokens)::decimal(38, 0) as cache_write_5m_tokens,
    sum(steps.cache_write_1h_tokens)::decimal(38, 0) as cache_write_1h_tokens,
    sum(steps.output_tokens)::decimal(38, 0) as output_tokens,
    sum(case when steps.has_work then steps.output_tokens else 0 end)::decimal(38, 0) as passes,
    sum(
        case
            when steps.unread_cache_write_tokens is null
                then steps.cache_write_5m_tokens + steps.cache_write_1h_tokens
            else 0
        end
    )::decimal(38, 0) as unfollowed_cache_write_tokens,
    sum(steps.unread_cache_write_5m_tokens)::decimal(38, 0) as unread_cache_write_5m_tokens,
    sum(steps.unread_cache_write_tokens - steps.unread_cache_write_5m_tokens)::decimal(38, 0)
        as unread_cache_write_1h_tokens,
    -- steps that would be cached in full are charged anew, all others as logged
    sum(
        case
            when steps.is_ordered and steps.is_cache_known then 0
            else steps.uncached_input_tokens
        end
    )::decimal(38, 0) as full_uncached_input_tokens,
    sum(steps.full_cache_read_tokens)::decimal(38, 0) as full_cache_read_tokens,
    sum(
        case
            when steps.is_ordered and steps.is_cache_known
                then steps.input_tokens - steps.full_cache_read_tokens
            else steps.cache_write_5m_tokens
        end
    )::decimal(38, 0) as full_cache_write_5m_tokens,
    sum(
        case
            when steps.is_ordered and steps.is_cache_known then 0
            else steps.cache_write_1h_tokens
        end
    )::decimal(38, 0) as full_cache_write_1h_tokens,
    sum(case when steps.has_work then steps.input_tokens end)::decimal(38, 0)
        as uncached_prefilled_tokens,
    sum(steps.uncached_prefill_pairs)::decimal(38, 0) as uncached_prefill_pairs,
    sum(steps.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    sum(steps.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    sum(steps.full_prefilled_tokens)::decimal(38, 0) as full_prefilled_tokens,
    sum(steps.full_prefill_pairs)::decimal(38, 0) as full_prefill_pairs,
    sum(steps.decode_pairs)::decimal(38, 0) as decode_pairs,
    sum(steps.cache_positions)::decimal(38, 0) as cache_positions,
    sum(steps.decode_steps)::decimal(38, 0) as decode_steps,
    coalesce(sum(steps.latency_s::decimal(18, 6)), 0)::decimal(38, 6) as latency_s
from int_agent_steps as steps
inner join int_cells as cells on steps.cell_id = cells.cell_id
group by all
