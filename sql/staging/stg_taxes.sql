-- One tax of a month on a provider's charges: an amount, or a share of the provider's cost.
-- materialised: view
-- grain: month, provider, description

select
    raw_taxes.month::varchar as month,
    coalesce(aliases.provider, lower(raw_taxes.provider))::varchar as provider,
    raw_taxes.usd::decimal(24, 9) as usd,
    raw_taxes.tax_frac::decimal(12, 9) as tax_frac,
    raw_taxes.description::varchar as description
from raw_taxes
left join raw_provider_aliases as aliases on lower(raw_taxes.provider) = aliases.alias
