-- One bill for provisioned throughput: units of a model for the hours of a month, used or not.
-- materialised: view
-- grain: month, provider, model

select
    month::varchar as month,
    lower(provider)::varchar as provider,
    model::varchar as model,
    hours::decimal(18, 6) as hours,
    units::decimal(18, 6) as units,
    usd::decimal(24, 9) as usd,
    used_frac::decimal(12, 9) as used_frac
from raw_commitments
