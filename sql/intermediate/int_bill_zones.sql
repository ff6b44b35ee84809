-- The hours by which a bill's days lie beside those of UTC: the shift of usage under which the days
-- of usage fit those of the bill best. It is 0 unless another at least halves what differs, and
-- null where usage comes in buckets, which cannot be moved.
-- grain: month, provider, model_id

with

shifts as (
    select shift.shift_h
    from (
        values
        (-12), (-11), (-10), (-9), (-8), (-7), (-6), (-5), (-4), (-3), (-2), (-1), (0), (1),
        (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14)
    ) as shift (shift_h)
),

bills as (
    select
        int_billed_days.month,
        int_billed_days.provider,
        int_billed_days.model_id,
        int_billed_days.bill_day,
        int_billed_days.charged_cost_usd,
        coalesce(int_billed_days.model_id, '') as held_model
    from int_billed_days
),

helds as (
    select distinct
        bills.month,
        bills.provider,
        bills.held_model
    from bills
),

used as (
    select
        helds.month,
        helds.provider,
        helds.held_model,
        shifts.shift_h,
        (int_billed_usage_hours.hour_at + shifts.shift_h * interval '1 hour')::date
            as usage_day,
        bool_or(int_billed_usage_hours.has_buckets) as has_buckets,
        sum(int_billed_usage_hours.list_cost_usd) as list_cost_usd
    from helds
    inner join int_billed_usage_hours
        on
            helds.provider = int_billed_usage_hours.provider
            and helds.held_model in ('', int_billed_usage_hours.model_id)
    cross join shifts
    group by all
),

misfits as (
    select
        bills.month,
        bills.provider,
        bills.held_model,
        shifts.shift_h,
        coalesce(bool_or(used.has_buckets), false) as has_buckets,
        sum(abs(bills.charged_cost_usd - coalesce(used.list_cost_usd, 0))) as misfit_usd
    from bills
    cross join shifts
    left join used
        on
            bills.month = used.month
            and bills.provider = used.provider
            and bills.held_model = used.held_model
            and bills.bill_day = used.usage_day
            and shifts.shift_h = used.shift_h
    group by all
),

ranked as (
    select
        misfits.month,
        misfits.provider,
        misfits.held_model,
        misfits.shift_h,
        misfits.misfit_usd,
        max(case when misfits.shift_h = 0 then misfits.misfit_usd end) over (
            partition by misfits.month, misfits.provider, misfits.held_model
        ) as unshifted_misfit_usd,
        max(misfits.has_buckets) over (
            partition by misfits.month, misfits.provider, misfits.held_model
        ) as has_buckets,
        row_number() over (
            partition by misfits.month, misfits.provider, misfits.held_model
            order by misfits.misfit_usd, abs(misfits.shift_h), misfits.shift_h
        ) as place
    from misfits
)

select
    ranked.month::varchar as month,
    ranked.provider::varchar as provider,
    nullif(ranked.held_model, '')::varchar as model_id,
    case
        when ranked.has_buckets then null
        when ranked.misfit_usd * 2 <= ranked.unshifted_misfit_usd then ranked.shift_h
        else 0
    end::integer as shift_h
from ranked
where ranked.place = 1
