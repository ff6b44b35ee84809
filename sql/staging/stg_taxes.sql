-- One tax of a month on a provider's charges: an amount, or a share of the provider's cost.
-- materialised: view
-- grain: month, provider, description

select
    month::varchar as month,
    lower(provider)::varchar as provider,
    usd::decimal(24, 9) as usd,
    tax_frac::decimal(12, 9) as tax_frac,
    description::varchar as description
from raw_taxes
