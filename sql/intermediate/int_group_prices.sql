-- What each group of usage costs at list price and by contract, and why where neither is known.
-- Prices are exact (tokens_cost_usd).
-- Tokens have 19 digits there: a product of two decimals of up to 18 is held to 18, and overflows.
-- Without a contract the contracted cost is the list cost.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

with

tiers as (
    select
        int_price_bands.provider,
        int_price_bands.model_id,
        int_price_bands.service_tier
    from int_price_bands
    group by all
),

models as (
    select
        tiers.provider,
        tiers.model_id
    from tiers
    group by all
),

priced as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        usage.is_billed,
        usage.input_tokens is not null and usage.output_tokens is not null as has_tokens,
        coalesce(bands.has_contract, false) as has_contract,
        tokens_cost_usd(
            usage.uncached_input_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens,
            usage.cache_write_1h_tokens, usage.output_tokens,
            bands.uncached_input_usd_per_mtok, bands.cache_read_usd_per_mtok,
            bands.cache_write_5m_usd_per_mtok, bands.cache_write_1h_usd_per_mtok,
            bands.output_usd_per_mtok
        )::decimal(38, 15) as list_cost_usd,
        tokens_cost_usd(
            usage.uncached_input_tokens, usage.cache_read_tokens, usage.cache_write_5m_tokens,
            usage.cache_write_1h_tokens, usage.output_tokens,
            bands.contracted_uncached_input_usd_per_mtok, bands.contracted_cache_read_usd_per_mtok,
            bands.contracted_cache_write_5m_usd_per_mtok,
            bands.contracted_cache_write_1h_usd_per_mtok,
            bands.contracted_output_usd_per_mtok
        )::decimal(38, 15) as contracted_cost_usd
    from int_usage_groups as usage
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
)

select
    priced.month::varchar as month,
    priced.provider::varchar as provider,
    priced.model_id::varchar as model_id,
    priced.query_class::varchar as query_class,
    priced.team::varchar as team,
    priced.project::varchar as project,
    priced.service_tier::varchar as service_tier,
    priced.price_band_id::integer as price_band_id,
    priced.is_billed::boolean as is_billed,
    priced.has_contract::boolean as has_contract,
    priced.list_cost_usd::decimal(38, 15) as list_cost_usd,
    priced.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    case
        when priced.contracted_cost_usd is not null then null
        when not priced.has_tokens then 'token counts are missing'
        when models.model_id is null then 'no list price for this model'
        when tiers.service_tier is null then 'no price for this service tier'
        else 'no price on that day'
    end::varchar as unpriced_reason
from priced
left join models on priced.provider = models.provider and priced.model_id = models.model_id
left join tiers
    on
        priced.provider = tiers.provider
        and priced.model_id = tiers.model_id
        and priced.service_tier = tiers.service_tier
