-- What a contract row says of one kind of token: a row of all kinds is one row a kind. Of rows that
-- hold at once the one of highest precedence counts: a named model weighs more than a named kind,
-- that more than a tier, that more than a region.
-- materialised: view
-- grain: provider, model, token_kind, service_tier, region, valid_from, precedence

select
    rates.provider::varchar as provider,
    rates.model::varchar as model,
    kinds.token_kind::varchar as token_kind,
    rates.service_tier::varchar as service_tier,
    rates.region::varchar as region,
    rates.valid_from::timestamp as valid_from,
    rates.valid_to::timestamp as valid_to,
    rates.usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    rates.discount_frac::decimal(9, 6) as discount_frac,
    (
        case when rates.model <> '*' then 8 else 0 end
        + case when rates.token_kind <> '*' then 4 else 0 end
        + case when rates.service_tier <> '*' then 2 else 0 end
        + case when rates.region <> '*' then 1 else 0 end
    )::integer as precedence
from stg_contract_rates as rates
inner join (
    values
    ('uncached_input'), ('cache_read'), ('cache_write_5m'), ('cache_write_1h'), ('output')
) as kinds (token_kind)
    on rates.token_kind in ('*', kinds.token_kind)
