-- One list price of one kind of token, in force from valid_from until before valid_to, and each
-- day from one minute (UTC) until before another. The company's own rows stand beside the list's.
-- noqa: disable=LT05
-- materialised: view
-- grain: provider, price_model, token_kind, service_tier, input_tokens_from, valid_from, utc_minute_from, is_own

with

all_rows as (
    select
        raw_prices.provider,
        raw_prices.price_model,
        raw_prices.token_kind,
        raw_prices.service_tier,
        raw_prices.input_tokens_from,
        raw_prices.valid_from,
        raw_prices.valid_to,
        raw_prices.utc_time_from,
        raw_prices.utc_time_to,
        raw_prices.usd_per_mtok,
        false as is_own
    from raw_prices
    union all
    select
        lower(raw_own_prices.provider) as provider,
        raw_own_prices.price_model,
        lower(raw_own_prices.token_kind) as token_kind,
        lower(raw_own_prices.service_tier) as service_tier,
        raw_own_prices.input_tokens_from,
        raw_own_prices.valid_from,
        raw_own_prices.valid_to,
        raw_own_prices.utc_time_from,
        raw_own_prices.utc_time_to,
        raw_own_prices.usd_per_mtok,
        true as is_own
    from raw_own_prices
)

select
    all_rows.provider::varchar as provider,
    all_rows.price_model::varchar as price_model,
    all_rows.token_kind::varchar as token_kind,
    all_rows.service_tier::varchar as service_tier,
    coalesce(all_rows.input_tokens_from::bigint, 0)::bigint as input_tokens_from,
    coalesce(all_rows.valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(all_rows.valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    coalesce(
        split_part(all_rows.utc_time_from, ':', 1)::integer * 60
        + split_part(all_rows.utc_time_from, ':', 2)::integer,
        0
    )::integer as utc_minute_from,
    coalesce(
        split_part(all_rows.utc_time_to, ':', 1)::integer * 60
        + split_part(all_rows.utc_time_to, ':', 2)::integer,
        1440
    )::integer as utc_minute_to,
    all_rows.usd_per_mtok::decimal(18, 9) as usd_per_mtok,
    all_rows.is_own::boolean as is_own
from all_rows
