-- One month's rate of a currency that bills are written in.
-- materialised: view
-- grain: month, currency

select
    month::varchar as month,
    currency::varchar as currency,
    usd_per_unit::decimal(14, 10) as usd_per_unit,
    source::varchar as source
from raw_fx_rates
