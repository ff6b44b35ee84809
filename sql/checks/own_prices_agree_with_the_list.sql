-- severity: warn
-- meaning: an own price in the overlay differs from the list's for the same days; the own one holds

select
    own.provider,
    own.price_model,
    own.token_kind,
    own.service_tier,
    own.input_tokens_from,
    own.valid_from,
    own.usd_per_mtok as own_usd_per_mtok,
    listed.usd_per_mtok as list_usd_per_mtok
from stg_prices as own
inner join stg_prices as listed
    on
        own.provider = listed.provider
        and own.price_model = listed.price_model
        and own.token_kind = listed.token_kind
        and own.service_tier = listed.service_tier
        and own.input_tokens_from = listed.input_tokens_from
        and own.valid_from < listed.valid_to
        and own.valid_to > listed.valid_from
        and own.utc_weekday_from < listed.utc_weekday_to
        and own.utc_weekday_to > listed.utc_weekday_from
        and own.utc_minute_from < listed.utc_minute_to
        and own.utc_minute_to > listed.utc_minute_from
where own.is_own and not listed.is_own and own.usd_per_mtok <> listed.usd_per_mtok
order by
    own.provider asc, own.price_model asc, own.token_kind asc, own.service_tier asc,
    own.valid_from asc, listed.valid_from asc
