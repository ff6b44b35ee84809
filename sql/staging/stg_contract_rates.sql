-- One contract rate: a price of its own, or a discount on the list price, from valid_from until
-- before valid_to. A model or kind of * is all of them, and so is an empty tier or region.
-- materialised: view
-- grain: provider, model, token_kind, service_tier, region, valid_from

select
    lower(provider)::varchar as provider,
    lower(model)::varchar as model,
    token_kind::varchar as token_kind,
    coalesce(nullif(lower(service_tier), ''), '*')::varchar as service_tier,
    coalesce(nullif(lower(region), ''), '*')::varchar as region,
    coalesce(valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    discount_frac::decimal(9, 6) as discount_frac
from raw_contract_rates
