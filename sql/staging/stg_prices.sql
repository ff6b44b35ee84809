-- One list price of one kind of token, in force from valid_from until before valid_to.
-- materialised: view
-- grain: provider, price_model, token_kind, service_tier, input_tokens_from, valid_from

select
    provider::varchar as provider,
    price_model::varchar as price_model,
    token_kind::varchar as token_kind,
    service_tier::varchar as service_tier,
    input_tokens_from::bigint as input_tokens_from,
    coalesce(valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    usd_per_mtok::decimal(18, 9) as usd_per_mtok
from raw_prices
