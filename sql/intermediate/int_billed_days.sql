-- What bills for tokens charge for each day, and to which digit. A bill that is exported while its
-- last bucket runs holds a part of that bucket; some exports then also end the bucket early.
-- Where any line of a provider's bill in a month names no model, its whole bill is held against all
-- models together: the model is null then.
-- grain: month, provider, model_id, bill_day

with

lines as (
    select
        stg_charges.month,
        coalesce(
            int_models.provider, nullif(lower(stg_charges.logged_provider), ''), 'unknown'
        ) as provider,
        coalesce(int_models.model_id, nullif(stg_charges.logged_model_name, '')) as model_id,
        stg_charges.occurred_at::date as bill_day,
        coalesce(stg_charges.bucket_end_at, stg_charges.occurred_at) as ends_at,
        microseconds_between(
            stg_charges.occurred_at,
            coalesce(stg_charges.bucket_end_at, stg_charges.occurred_at)
        ) as width_us,
        stg_charges.billed_cost_usd,
        length(rtrim(split_part(stg_charges.billed_cost_usd::varchar, '.', 2), '0'))
            as digit_count
    from stg_charges
    left join int_models
        on
            stg_charges.logged_provider = int_models.logged_provider
            and stg_charges.logged_model_name = int_models.logged_model_name
            and stg_charges.occurred_at >= int_models.valid_from
            and stg_charges.occurred_at < int_models.valid_to
    where stg_charges.charge_kind = 'billed_tokens' and stg_charges.billed_cost_usd is not null
),

bills as (
    select
        lines.month,
        lines.provider,
        count(*) = count(lines.model_id) as is_by_model,
        max(lines.width_us) as width_us,
        max(lines.digit_count) as digit_count
    from lines
    group by all
),

ends as (
    select
        lines.provider,
        max(lines.ends_at) as billed_until
    from lines
    group by all
)

select
    lines.month::varchar as month,
    lines.provider::varchar as provider,
    case when bills.is_by_model then lines.model_id end::varchar as model_id,
    lines.bill_day::date as bill_day,
    max(ends.billed_until)::timestamp as billed_until,
    (max(lines.ends_at) = max(ends.billed_until) and max(bills.width_us) > 0)::boolean
        as is_last_bucket,
    (max(lines.width_us) < max(bills.width_us))::boolean as is_cut_short,
    max(bills.digit_count)::integer as digit_count,
    count(*)::bigint as line_count,
    sum(greatest(lines.billed_cost_usd, 0))::decimal(38, 15) as charged_cost_usd,
    sum(least(lines.billed_cost_usd, 0))::decimal(38, 15) as credit_usd
from lines
inner join bills on lines.month = bills.month and lines.provider = bills.provider
inner join ends on lines.provider = ends.provider
group by all
