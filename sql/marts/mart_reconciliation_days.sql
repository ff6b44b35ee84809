-- Each day of a bill for tokens beside the usage of that day at list price, in the bill's own zone.
-- The model is null where the bill does not tell models apart.
-- The last bucket of a bill may still have been open when the bill was exported. That is taken to be
-- so where it charges less than the usage of its day, and is cut short, or comes after days that the
-- bill charges at list price and none that it charges less for.
-- grain: month, provider, model_id, bill_day

with

bills as (
    select
        int_billed_days.month,
        int_billed_days.provider,
        int_billed_days.model_id,
        coalesce(int_billed_days.model_id, '') as held_model,
        int_billed_days.bill_day,
        int_billed_days.line_count,
        int_billed_days.is_last_bucket,
        int_billed_days.is_cut_short,
        int_billed_days.charged_cost_usd,
        int_billed_days.credit_usd
    from int_billed_days
),

helds as (
    select
        bills.month,
        bills.provider,
        bills.held_model,
        coalesce(int_bill_zones.shift_h, 0) as shift_h,
        max(int_billed_days.billed_until) as billed_until,
        max(int_billed_days.digit_count) as digit_count
    from bills
    inner join int_billed_days
        on bills.month = int_billed_days.month and bills.provider = int_billed_days.provider
    left join int_bill_zones
        on
            bills.month = int_bill_zones.month
            and bills.provider = int_bill_zones.provider
            and bills.held_model = coalesce(int_bill_zones.model_id, '')
    group by all
),

moved as (
    select
        int_billed_usage_hours.month,
        int_billed_usage_hours.provider,
        helds.month as bill_month,
        helds.held_model,
        helds.shift_h,
        int_billed_usage_hours.hour_at + helds.shift_h * interval '1 hour' as local_at,
        int_billed_usage_hours.unlisted_row_count,
        int_billed_usage_hours.list_cost_usd
    from helds
    inner join int_billed_usage_hours
        on
            helds.provider = int_billed_usage_hours.provider
            and helds.held_model in ('', int_billed_usage_hours.model_id)
),

used as (
    select
        moved.bill_month as month,
        moved.provider,
        moved.held_model,
        moved.local_at::date as bill_day,
        sum(moved.unlisted_row_count) as unlisted_row_count,
        sum(moved.list_cost_usd) as list_cost_usd
    from moved
    where
        moved.bill_month = moved.month and moved.shift_h = 0
        or moved.bill_month = substr(moved.local_at::varchar, 1, 7) and moved.shift_h <> 0
    group by all
),

paired as (
    select
        coalesce(bills.month, used.month) as month,
        coalesce(bills.provider, used.provider) as provider,
        coalesce(bills.held_model, used.held_model) as held_model,
        coalesce(bills.bill_day, used.bill_day) as bill_day,
        used.bill_day is not null as has_usage,
        coalesce(bills.line_count, 0) as line_count,
        coalesce(bills.is_last_bucket, false) as is_last_bucket,
        coalesce(bills.is_cut_short, false) as is_cut_short,
        bills.charged_cost_usd,
        bills.credit_usd,
        used.list_cost_usd,
        coalesce(used.unlisted_row_count, 0) as unlisted_row_count
    from bills
    full join used
        on
            bills.month = used.month
            and bills.provider = used.provider
            and bills.held_model = used.held_model
            and bills.bill_day = used.bill_day
),

judged as (
    select
        paired.month,
        paired.provider,
        nullif(paired.held_model, '') as model_id,
        paired.bill_day,
        paired.charged_cost_usd + paired.credit_usd as billed_cost_usd,
        paired.list_cost_usd as computed_cost_usd,
        coalesce(paired.charged_cost_usd, 0) + coalesce(paired.credit_usd, 0)
        - coalesce(paired.list_cost_usd, 0) as gap_usd,
        coalesce(paired.credit_usd, 0) as credit_usd,
        paired.is_last_bucket,
        paired.is_cut_short,
        coalesce(paired.charged_cost_usd < paired.list_cost_usd, false) as is_charged_less,
        case
            when not paired.has_usage then 'missing usage'
            when
                paired.line_count = 0 and paired.bill_day >= helds.billed_until::date
                then 'late'
            when paired.line_count = 0 then 'usage without bill'
            when paired.unlisted_row_count > 0 then 'unpriced usage'
            when paired.charged_cost_usd = paired.list_cost_usd then 'equal'
            when
                abs(paired.charged_cost_usd - paired.list_cost_usd) * 2
                <= paired.line_count * power(10, -helds.digit_count)
                then 'rounding'
            else 'rest'
        end as gap_cause
    from paired
    inner join helds
        on
            paired.month = helds.month
            and paired.provider = helds.provider
            and paired.held_model = helds.held_model
),

settled as (
    select
        judged.month,
        judged.provider,
        coalesce(judged.model_id, '') as held_model,
        sum(case when judged.gap_cause in ('equal', 'rounding') then 1 else 0 end)
            as fitting_day_count,
        sum(case when judged.gap_cause = 'rest' and judged.is_charged_less then 1 else 0 end)
            as charged_less_day_count
    from judged
    where not judged.is_last_bucket
    group by all
)

select
    judged.month::varchar as month,
    judged.provider::varchar as provider,
    judged.model_id::varchar as model_id,
    judged.bill_day::date as bill_day,
    judged.computed_cost_usd::decimal(38, 15) as computed_cost_usd,
    judged.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    judged.gap_usd::decimal(38, 15) as gap_usd,
    judged.credit_usd::decimal(38, 15) as credit_usd,
    case
        when
            judged.gap_cause = 'rest' and judged.is_last_bucket and judged.is_charged_less
            and (
                judged.is_cut_short
                or (settled.fitting_day_count > 0 and settled.charged_less_day_count = 0)
            )
            then 'open bucket'
        else judged.gap_cause
    end::varchar as gap_cause
from judged
left join settled
    on
        judged.month = settled.month
        and judged.provider = settled.provider
        and coalesce(judged.model_id, '') = settled.held_model
