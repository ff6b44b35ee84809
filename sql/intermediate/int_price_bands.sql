-- One span of time and prompt length over which the prices of a model and service tier hold.
-- A tier re-prices the whole request. A provider that lists no price for cache reads or writes
-- bills them as input.
-- grain: price_band_id

with

wanted as (
    select distinct
        int_models.provider,
        int_models.price_model
    from int_models
    where int_models.price_model is not null
),

prices as (
    select
        stg_prices.provider,
        stg_prices.price_model,
        stg_prices.service_tier,
        stg_prices.token_kind,
        stg_prices.input_tokens_from,
        stg_prices.valid_from,
        stg_prices.valid_to,
        stg_prices.usd_per_mtok
    from stg_prices
    inner join wanted
        on
            stg_prices.provider = wanted.provider
            and stg_prices.price_model = wanted.price_model
),

moments as (
    select
        prices.provider,
        prices.price_model,
        prices.service_tier,
        prices.valid_from as band_from
    from prices
    union
    select
        prices.provider,
        prices.price_model,
        prices.service_tier,
        prices.valid_to as band_from
    from prices
),

spans as (
    select
        moments.provider,
        moments.price_model,
        moments.service_tier,
        moments.band_from,
        lead(moments.band_from) over (
            partition by moments.provider, moments.price_model, moments.service_tier
            order by moments.band_from
        ) as band_to
    from moments
),

starts as (
    select distinct
        prices.provider,
        prices.price_model,
        prices.service_tier,
        prices.input_tokens_from
    from prices
),

tiers as (
    select
        starts.provider,
        starts.price_model,
        starts.service_tier,
        starts.input_tokens_from,
        lead(starts.input_tokens_from) over (
            partition by starts.provider, starts.price_model, starts.service_tier
            order by starts.input_tokens_from
        ) as input_tokens_to
    from starts
),

bands as (
    select
        spans.provider,
        spans.price_model,
        spans.service_tier,
        spans.band_from,
        spans.band_to,
        tiers.input_tokens_from,
        tiers.input_tokens_to,
        prices.token_kind,
        max_by(prices.usd_per_mtok, prices.input_tokens_from) as usd_per_mtok
    from spans
    inner join tiers
        on
            spans.provider = tiers.provider
            and spans.price_model = tiers.price_model
            and spans.service_tier = tiers.service_tier
    inner join prices
        on
            spans.provider = prices.provider
            and spans.price_model = prices.price_model
            and spans.service_tier = prices.service_tier
            and spans.band_from >= prices.valid_from
            and spans.band_from < prices.valid_to
            and tiers.input_tokens_from >= prices.input_tokens_from
    where spans.band_to is not null
    group by all
),

rates as (
    select
        bands.provider,
        bands.price_model,
        bands.service_tier,
        bands.band_from,
        bands.band_to,
        bands.input_tokens_from,
        bands.input_tokens_to,
        max(case when bands.token_kind = 'uncached_input' then bands.usd_per_mtok end)
            as uncached_input_usd_per_mtok,
        max(case when bands.token_kind = 'cache_read' then bands.usd_per_mtok end)
            as cache_read_usd_per_mtok,
        max(case when bands.token_kind = 'cache_write_5m' then bands.usd_per_mtok end)
            as cache_write_5m_usd_per_mtok,
        max(case when bands.token_kind = 'cache_write_1h' then bands.usd_per_mtok end)
            as cache_write_1h_usd_per_mtok,
        max(case when bands.token_kind = 'output' then bands.usd_per_mtok end)
            as output_usd_per_mtok
    from bands
    group by all
)

select
    row_number() over (
        order by
            rates.provider, rates.price_model, rates.service_tier, rates.band_from,
            rates.input_tokens_from
    )::integer as price_band_id,
    rates.provider::varchar as provider,
    rates.price_model::varchar as price_model,
    rates.service_tier::varchar as service_tier,
    rates.band_from::timestamp as valid_from,
    rates.band_to::timestamp as valid_to,
    rates.input_tokens_from::bigint as input_tokens_from,
    coalesce(rates.input_tokens_to, 1000000000000)::bigint as input_tokens_to,
    rates.uncached_input_usd_per_mtok::decimal(18, 9) as uncached_input_usd_per_mtok,
    coalesce(rates.cache_read_usd_per_mtok, rates.uncached_input_usd_per_mtok)::decimal(18, 9)
        as cache_read_usd_per_mtok,
    coalesce(rates.cache_write_5m_usd_per_mtok, rates.uncached_input_usd_per_mtok)::decimal(18, 9)
        as cache_write_5m_usd_per_mtok,
    coalesce(
        rates.cache_write_1h_usd_per_mtok,
        rates.cache_write_5m_usd_per_mtok,
        rates.uncached_input_usd_per_mtok
    )::decimal(18, 9) as cache_write_1h_usd_per_mtok,
    rates.output_usd_per_mtok::decimal(18, 9) as output_usd_per_mtok
from rates
where rates.uncached_input_usd_per_mtok is not null and rates.output_usd_per_mtok is not null
