-- Cost and electricity of the month after, from volume per day and mix as they are: what a day of
-- this month took, times the change from the month before damped (forecast_damping_frac of it on a
-- log scale, at most twice or half), times the days of the next month. Its range is 1.645 scaled
-- median deviations of the weeks of the last 8 either way, as if the next month were one such
-- week; for electricity times the ends of the month's own range too. Fewer than 3 whole weeks, or
-- buckets longer than a day, are not enough.
-- grain: month, measure

with

measures as (
    select kind.measure
    from (values ('cost'), ('energy')) as kind (measure)
),

totals as (
    select
        months.month,
        measures.measure,
        months.logs_begin_on,
        months.last_on,
        months.day_count,
        months.long_bucket_count,
        case measures.measure
            when 'cost' then months.cost_usd else months.facility_energy_kwh
        end::double / months.day_count as per_day
    from int_month_days as months
    cross join measures
),

compared as (
    select
        totals.month,
        totals.measure,
        totals.logs_begin_on,
        totals.last_on,
        totals.day_count,
        totals.long_bucket_count,
        totals.per_day,
        before.per_day as per_day_before
    from totals
    left join totals as before
        on
            totals.measure = before.measure
            and totals.month = month_after(before.month)
            and before.day_count >= 7
),

weeks as (
    select
        totals.month,
        totals.measure,
        floor(days_between(int_days.day_on, totals.last_on) / 7) as week_number,
        sum(
            case totals.measure
                when 'cost' then int_days.cost_usd else int_days.facility_energy_kwh
            end
        )::double / 7 as per_day
    from totals
    inner join int_days
        on
            totals.last_on >= int_days.day_on
            and days_between(int_days.day_on, totals.last_on) < 56
            and int_days.is_day
    where
        floor(days_between(int_days.day_on, totals.last_on) / 7) * 7 + 6
        <= days_between(totals.logs_begin_on, totals.last_on)
    group by all
),

middles as (
    select
        weeks.month,
        weeks.measure,
        count(*) as week_count,
        drawn_p50(coalesce(weeks.per_day, 0)) as per_day
    from weeks
    group by all
),

scatters as (
    select
        weeks.month,
        weeks.measure,
        middles.week_count,
        1.645 * 1.4826 * drawn_p50(abs(coalesce(weeks.per_day, 0) - middles.per_day)) as half_width
    from weeks
    inner join middles on weeks.month = middles.month and weeks.measure = middles.measure
    group by all
),

judged as (
    select
        compared.month,
        compared.measure,
        compared.per_day,
        compared.day_count,
        scatters.half_width,
        coalesce(scatters.week_count, 0) as week_count,
        least(
            greatest(coalesce(compared.per_day / nullif(compared.per_day_before, 0), 1), 0.5), 2
        ) as change_ratio,
        compared.per_day_before is not null as has_month_before,
        case
            when compared.per_day is null then 'not enough: nothing known of this measure'
            when compared.long_bucket_count > 0
                then 'not enough: buckets longer than a day tell no day'
            when coalesce(scatters.week_count, 0) < 3
                then 'not enough: fewer than 3 whole weeks of days'
        end as reason
    from compared
    left join scatters
        on compared.month = scatters.month and compared.measure = scatters.measure
),

forecasts as (
    select
        judged.month,
        judged.measure,
        judged.per_day,
        judged.day_count,
        judged.week_count,
        judged.has_month_before,
        judged.reason,
        month_after(judged.month) as forecast_month,
        exp(damping.value * ln(judged.change_ratio)) as damped_ratio,
        case
            when judged.reason is null
                then
                    judged.per_day * exp(damping.value * ln(judged.change_ratio))
                    * days_in_month(month_after(judged.month))
        end as amount,
        judged.half_width * days_in_month(month_after(judged.month)) as half_width
    from judged
    inner join stg_assumptions as damping on damping.assumption = 'forecast_damping_frac'
)

select
    forecasts.month::varchar as month,
    forecasts.measure::varchar as measure,
    forecasts.forecast_month::varchar as forecast_month,
    forecasts.day_count::bigint as day_count,
    forecasts.week_count::bigint as week_count,
    forecasts.has_month_before::boolean as has_month_before,
    forecasts.damped_ratio::double as damped_change_ratio,
    case when forecasts.measure = 'cost' then forecasts.amount end::decimal(38, 9) as cost_usd,
    case
        when forecasts.measure = 'cost' and forecasts.amount is not null
            then greatest(forecasts.amount - forecasts.half_width, 0)
    end::decimal(38, 9) as cost_low_usd,
    case
        when forecasts.measure = 'cost' then forecasts.amount + forecasts.half_width
    end
    ::decimal(38, 9) as cost_high_usd,
    case when forecasts.measure = 'energy' then forecasts.amount end::double
        as facility_energy_kwh,
    case
        when forecasts.measure = 'energy' and forecasts.amount is not null
            then
                greatest(forecasts.amount - forecasts.half_width, 0)
                * totals.facility_energy_low_kwh / nullif(totals.facility_energy_kwh, 0)
    end::double as facility_energy_low_kwh,
    case
        when forecasts.measure = 'energy' and forecasts.amount is not null
            then
                (forecasts.amount + forecasts.half_width)
                * totals.facility_energy_high_kwh / nullif(totals.facility_energy_kwh, 0)
    end::double as facility_energy_high_kwh,
    'forecast_damping_frac'::varchar as assumption,
    forecasts.reason::varchar as reason,
    totals.evidence_grade::varchar as evidence_grade,
    totals.coefficient_set_id::varchar as coefficient_set_id,
    totals.batch::double as batch,
    totals.method_version::varchar as method_version
from forecasts
inner join mart_month_total as totals
    on forecasts.month = totals.month and totals.total_kind = 'month'
