-- Summed token moments of one model and class, the carriers of its energy.
-- grain: month, provider, model_id, query_class

select
    int_usage_groups.month::varchar as month,
    int_usage_groups.provider::varchar as provider,
    int_usage_groups.model_id::varchar as model_id,
    int_usage_groups.query_class::varchar as query_class,
    sum(int_usage_groups.request_count)::decimal(38, 0) as request_count,
    sum(int_usage_groups.measurable_request_count)::decimal(38, 0) as measurable_request_count,
    sum(int_usage_groups.prompts)::decimal(38, 0) as prompts,
    sum(int_usage_groups.bucket_request_count)::decimal(38, 0) as bucket_request_count,
    sum(int_usage_groups.guessed_request_count)::decimal(38, 0) as guessed_request_count,
    sum(int_usage_groups.prompt_tokens)::decimal(38, 0) as input_tokens,
    sum(int_usage_groups.passes)::decimal(38, 0) as passes,
    sum(int_usage_groups.cache_unknown_tokens)::decimal(38, 0) as cache_unknown_tokens,
    sum(int_usage_groups.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    sum(int_usage_groups.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    sum(int_usage_groups.decode_pairs)::decimal(38, 0) as decode_pairs,
    sum(int_usage_groups.cache_positions)::decimal(38, 0) as cache_positions,
    sum(int_usage_groups.output_positions)::decimal(38, 0) as output_positions,
    sum(int_usage_groups.decode_steps)::decimal(38, 0) as decode_steps,
    (
        sum(int_usage_groups.prompt_tokens)::double
        / nullif(sum(int_usage_groups.prompts), 0)::double
    )::double as mean_input_tokens,
    (
        sum(int_usage_groups.passes)::double / nullif(sum(int_usage_groups.prompts), 0)::double
    )::double as mean_output_tokens
from int_usage_groups
group by all
