-- One name under which an input calls a model on one day of UTC, with the provider it names (''
-- where it does not). By day, since a name may mean another model from a day on.
-- grain: input_id, logged_provider, logged_model_name, used_on

with

rows_of_models as (
    select
        stg_usage.input_id,
        stg_usage.logged_provider,
        stg_usage.logged_model_name,
        stg_usage.occurred_at::date as used_on,
        stg_usage.output_tokens
    from stg_usage
    union all
    select
        stg_charges.input_id,
        stg_charges.logged_provider,
        stg_charges.logged_model_name,
        stg_charges.occurred_at::date as used_on,
        null as output_tokens
    from stg_charges
    where stg_charges.logged_model_name <> ''
)

select
    rows_of_models.input_id::integer as input_id,
    rows_of_models.logged_provider::varchar as logged_provider,
    rows_of_models.logged_model_name::varchar as logged_model_name,
    rows_of_models.used_on::date as used_on,
    count(*)::bigint as row_count,
    sum(rows_of_models.output_tokens)::decimal(38, 0) as output_tokens
from rows_of_models
group by all
