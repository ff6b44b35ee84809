-- Bills in other currencies, the month's rate that turned them into dollars, and where it is from.
-- grain: month, currency

select
    stg_converted_bills.month::varchar as month,
    stg_converted_bills.currency::varchar as currency,
    max(stg_fx_rates.usd_per_unit)::decimal(14, 10) as rate_usd_per_unit,
    max(stg_fx_rates.source)::varchar as rate_source,
    count(*)::bigint as row_count,
    sum(stg_converted_bills.billed_cost_usd)::decimal(38, 15) as billed_cost_usd
from stg_converted_bills
inner join stg_fx_rates
    on
        stg_converted_bills.month = stg_fx_rates.month
        and stg_converted_bills.currency = stg_fx_rates.currency
group by stg_converted_bills.month, stg_converted_bills.currency
