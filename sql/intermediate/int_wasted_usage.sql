-- Summed usage of requests that failed, or whose answer was cut off at the longest one allowed
-- (finish_reason length): their own counts, tokens, token moments and money.
-- grain: month, provider, model_id, query_class, waste_kind

select
    usage.month::varchar as month,
    usage.provider::varchar as provider,
    usage.model_id::varchar as model_id,
    usage.query_class::varchar as query_class,
    usage.waste_kind::varchar as waste_kind,
    sum(usage.request_count)::decimal(38, 0) as request_count,
    sum(usage.measurable_request_count)::decimal(38, 0) as measurable_request_count,
    sum(case when usage.cost_usd is null then usage.request_count else 0 end)::decimal(38, 0)
        as unpriced_request_count,
    sum(usage.prompts)::decimal(38, 0) as prompts,
    sum(usage.input_tokens)::decimal(38, 0) as input_tokens,
    sum(usage.output_tokens)::decimal(38, 0) as output_tokens,
    sum(usage.passes)::decimal(38, 0) as passes,
    sum(usage.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    sum(usage.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    sum(usage.decode_pairs)::decimal(38, 0) as decode_pairs,
    sum(usage.cache_positions)::decimal(38, 0) as cache_positions,
    sum(usage.decode_steps)::decimal(38, 0) as decode_steps,
    sum(usage.cost_usd)::decimal(38, 15) as cost_usd
from int_day_usage as usage
where usage.waste_kind is not null
group by all
