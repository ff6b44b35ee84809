-- Usage of providers that sent a bill for tokens, by hour, at list price.
-- Products are those of int_group_prices.
-- grain: month, provider, model_id, hour_at

with

billed as (
    select distinct int_billed_days.provider
    from int_billed_days
),

priced as (
    select
        requests.month,
        requests.provider,
        requests.model_id,
        date_trunc('hour', requests.occurred_at) as hour_at,
        requests.is_bucket,
        tokens_cost_usd(
            requests.uncached_input_tokens, requests.cache_read_tokens,
            requests.cache_write_5m_tokens,
            requests.cache_write_1h_tokens, requests.output_tokens,
            int_price_bands.uncached_input_usd_per_mtok, int_price_bands.cache_read_usd_per_mtok,
            int_price_bands.cache_write_5m_usd_per_mtok,
            int_price_bands.cache_write_1h_usd_per_mtok,
            int_price_bands.output_usd_per_mtok
        )::decimal(38, 15) as list_cost_usd
    from int_priced_requests as requests
    inner join billed on requests.provider = billed.provider
    left join int_price_bands on requests.price_band_id = int_price_bands.price_band_id
)

select
    priced.month::varchar as month,
    priced.provider::varchar as provider,
    priced.model_id::varchar as model_id,
    priced.hour_at::timestamp as hour_at,
    bool_or(priced.is_bucket)::boolean as has_buckets,
    sum(case when priced.list_cost_usd is null then 1 else 0 end)::bigint as unlisted_row_count,
    sum(priced.list_cost_usd)::decimal(38, 15) as list_cost_usd
from priced
group by all
