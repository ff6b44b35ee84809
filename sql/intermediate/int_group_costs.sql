-- What each group of usage cost at list price and as billed, and whether either is known.
-- Prices are exact: tokens times dollars per million, scaled by an exact 0.000001.
-- Tokens have 19 digits there: a product of two decimals of up to 18 is held to 18, and overflows.
-- grain: month, provider, model_id, query_class, team, project, price_band_id, is_billed

with

listed as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.price_band_id,
        usage.is_billed,
        usage.request_count,
        usage.billed_cost_usd,
        case
            when usage.price_band_id is not null and usage.uncached_input_tokens is not null
                then (
                    usage.uncached_input_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok
                    + coalesce(usage.cache_read_tokens, 0)::decimal(19, 0)
                    * bands.cache_read_usd_per_mtok
                    + coalesce(usage.cache_write_5m_tokens, 0)::decimal(19, 0)
                    * bands.cache_write_5m_usd_per_mtok
                    + coalesce(usage.cache_write_1h_tokens, 0)::decimal(19, 0)
                    * bands.cache_write_1h_usd_per_mtok
                    + coalesce(usage.output_tokens, 0)::decimal(19, 0) * bands.output_usd_per_mtok
                )::decimal(31, 9) * 0.000001::decimal(7, 6)
        end::decimal(38, 15) as list_cost_usd
    from int_usage_groups as usage
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
)

select
    listed.month::varchar as month,
    listed.provider::varchar as provider,
    listed.model_id::varchar as model_id,
    listed.query_class::varchar as query_class,
    listed.team::varchar as team,
    listed.project::varchar as project,
    listed.price_band_id::integer as price_band_id,
    listed.is_billed::boolean as is_billed,
    listed.list_cost_usd::decimal(38, 15) as list_cost_usd,
    listed.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    coalesce(listed.billed_cost_usd, listed.list_cost_usd)::decimal(38, 15) as cost_usd,
    case
        when listed.billed_cost_usd is not null then 'billed'
        when listed.list_cost_usd is not null then 'list'
    end::varchar as cost_source,
    case
        when coalesce(listed.billed_cost_usd, listed.list_cost_usd) is null
            then listed.request_count
        else 0
    end::decimal(38, 0) as unpriced_request_count
from listed
