-- Which days of a month the logs cover: from its first day, or that of the logs, to the last day
-- with usage; and what a day took on average.
-- grain: month

with

logged as (
    select min(int_days.day_on) as first_on
    from int_days
    where int_days.is_day
),

months as (
    select
        int_days.month,
        min(logged.first_on) as logs_begin_on,
        max(case when int_days.is_day then int_days.day_on end) as last_on,
        sum(int_days.cost_usd) as cost_usd,
        sum(int_days.facility_energy_kwh) as facility_energy_kwh,
        count(*) filter (where not int_days.is_day) as long_bucket_count
    from int_days
    cross join logged
    group by all
)

select
    months.month::varchar as month,
    months.logs_begin_on::date as logs_begin_on,
    greatest(months.logs_begin_on, month_start(months.month))::date as first_on,
    months.last_on::date as last_on,
    (
        days_between(greatest(months.logs_begin_on, month_start(months.month)), months.last_on) + 1
    )::bigint as day_count,
    months.long_bucket_count::bigint as long_bucket_count,
    months.cost_usd::decimal(38, 15) as cost_usd,
    months.facility_energy_kwh::decimal(38, 22) as facility_energy_kwh
from months
