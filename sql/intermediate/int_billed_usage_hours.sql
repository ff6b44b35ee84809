-- Usage of providers that sent a bill for tokens, by hour, at list price.
-- Prices and products are those of int_usage_groups and int_group_prices.
-- grain: month, provider, model_id, hour_at

with

billed as (
    select distinct int_billed_days.provider
    from int_billed_days
),

-- Regions that have a price of their own; every other is priced as none.
regions as (
    select distinct
        int_price_bands.provider,
        int_price_bands.model_id,
        int_price_bands.region
    from int_price_bands
    where int_price_bands.region <> ''
),

priced as (
    select
        int_requests.month,
        int_requests.provider,
        int_requests.model_id,
        date_trunc('hour', int_requests.occurred_at) as hour_at,
        int_requests.is_bucket,
        case
            when int_requests.uncached_input_tokens is not null
                then (
                    int_requests.uncached_input_tokens::decimal(19, 0)
                    * int_price_bands.uncached_input_usd_per_mtok
                    + coalesce(int_requests.cache_read_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_read_usd_per_mtok
                    + coalesce(int_requests.cache_write_5m_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_write_5m_usd_per_mtok
                    + coalesce(int_requests.cache_write_1h_tokens, 0)::decimal(19, 0)
                    * int_price_bands.cache_write_1h_usd_per_mtok
                    + coalesce(int_requests.output_tokens, 0)::decimal(19, 0)
                    * int_price_bands.output_usd_per_mtok
                )::decimal(31, 9) * 0.000001::decimal(7, 6)
        end::decimal(38, 15) as list_cost_usd
    from int_requests
    inner join billed on int_requests.provider = billed.provider
    left join regions
        on
            int_requests.provider = regions.provider
            and int_requests.model_id = regions.model_id
            and int_requests.region = regions.region
    left join int_price_bands
        on
            int_requests.provider = int_price_bands.provider
            and int_requests.model_id = int_price_bands.model_id
            and int_requests.price_model is not distinct from int_price_bands.price_model
            and int_requests.service_tier = int_price_bands.service_tier
            and coalesce(regions.region, '') = int_price_bands.region
            and int_requests.occurred_at >= int_price_bands.valid_from
            and int_requests.occurred_at < int_price_bands.valid_to
            and int_requests.mean_input_tokens >= int_price_bands.input_tokens_from
            and int_requests.mean_input_tokens < int_price_bands.input_tokens_to
            and case
                when int_requests.is_bucket then int_price_bands.is_dearest_of_day
                else
                    extract(hour from int_requests.occurred_at) * 60
                    + extract(minute from int_requests.occurred_at)
                    >= int_price_bands.utc_minute_from
                    and extract(hour from int_requests.occurred_at) * 60
                    + extract(minute from int_requests.occurred_at)
                    < int_price_bands.utc_minute_to
            end
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
