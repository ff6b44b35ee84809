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
        case
            when requests.uncached_input_tokens is not null
                then (
                    requests.uncached_input_tokens::decimal(19, 0)
                    * int_price_bands.uncached_input_usd_per_mtok
                    + coalesce(requests.cache_read_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_read_usd_per_mtok
                    + coalesce(requests.cache_write_5m_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_write_5m_usd_per_mtok
                    + coalesce(requests.cache_write_1h_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_write_1h_usd_per_mtok
                    + coalesce(requests.output_tokens, 0)::decimal(19, 0)
                    * int_price_bands.output_usd_per_mtok
                )::decimal(31, 9) * 0.000001::decimal(7, 6)
        end::decimal(38, 15) as list_cost_usd
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
