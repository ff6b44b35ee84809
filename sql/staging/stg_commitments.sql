-- One bill for provisioned throughput: units of a model for the hours of a month, used or not.
-- materialised: view
-- grain: month, provider, model

select
    raw_commitments.month::varchar as month,
    coalesce(aliases.provider, lower(raw_commitments.provider))::varchar as provider,
    raw_commitments.model::varchar as model,
    raw_commitments.hours::decimal(18, 6) as hours,
    raw_commitments.units::decimal(18, 6) as units,
    raw_commitments.usd::decimal(24, 9) as usd,
    raw_commitments.used_frac::decimal(12, 9) as used_frac
from raw_commitments
left join raw_provider_aliases as aliases on lower(raw_commitments.provider) = aliases.alias
