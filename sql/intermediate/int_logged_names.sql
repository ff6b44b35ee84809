-- One name under which an input calls a model, with the provider it names ('' where it does not).
-- grain: input_id, logged_provider, logged_model_name

select
    stg_usage.input_id::integer as input_id,
    stg_usage.logged_provider::varchar as logged_provider,
    stg_usage.logged_model_name::varchar as logged_model_name,
    count(*)::bigint as row_count,
    sum(stg_usage.output_tokens)::decimal(38, 0) as output_tokens
from stg_usage
group by all
