-- One contract rate: a price of its own, or a discount on the list price, from valid_from until
-- before valid_to. A model or kind of * is all of them, and so is an empty tier or region.
-- materialised: view
-- grain: provider, model, token_kind, service_tier, region, valid_from

select
    coalesce(aliases.provider, lower(raw_contract_rates.provider))::varchar as provider,
    lower(raw_contract_rates.model)::varchar as model,
    raw_contract_rates.token_kind::varchar as token_kind,
    coalesce(nullif(lower(raw_contract_rates.service_tier), ''), '*')::varchar as service_tier,
    coalesce(nullif(lower(raw_contract_rates.region), ''), '*')::varchar as region,
    coalesce(raw_contract_rates.valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(raw_contract_rates.valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    raw_contract_rates.usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    raw_contract_rates.discount_frac::decimal(9, 6) as discount_frac
from raw_contract_rates
left join raw_provider_aliases as aliases on lower(raw_contract_rates.provider) = aliases.alias
