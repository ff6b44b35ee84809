-- Summed usage of requests that failed, or whose answer was cut off at the longest one allowed
-- (finish_reason length): their own counts, tokens, token moments and money. A failed request that
-- was cut off is a failed one. Cost is as billed, else by contract or list; prices are chosen as in int_usage_groups.
-- Shares of GPU bills and of commitments are no part of it.
-- grain: month, provider, model_id, query_class, waste_kind

with

-- Regions that have a price of their own; every other is priced as none.
regions as (
    select distinct
        int_price_bands.provider,
        int_price_bands.model_id,
        int_price_bands.region
    from int_price_bands
    where int_price_bands.region <> ''
),

grouped as (
    select
        int_requests.month,
        int_requests.provider,
        int_requests.model_id,
        int_requests.query_class,
        case when int_requests.is_failed then 'failed' else 'truncated' end as waste_kind,
        int_price_bands.price_band_id,
        int_requests.billed_cost_usd is not null as is_billed,
        sum(int_requests.request_count) as request_count,
        sum(case when int_requests.is_measurable then int_requests.request_count else 0 end)
            as measurable_request_count,
        sum(case when int_requests.has_work then int_requests.request_count else 0 end) as prompts,
        sum(int_requests.input_tokens) as input_tokens,
        sum(int_requests.uncached_input_tokens) as uncached_input_tokens,
        sum(int_requests.cache_read_tokens) as cache_read_tokens,
        sum(int_requests.cache_write_5m_tokens) as cache_write_5m_tokens,
        sum(int_requests.cache_write_1h_tokens) as cache_write_1h_tokens,
        sum(int_requests.output_tokens) as output_tokens,
        sum(case when int_requests.has_work then int_requests.output_tokens end) as passes,
        sum(int_requests.prefilled_tokens) as prefilled_tokens,
        sum(int_requests.prefill_pairs) as prefill_pairs,
        sum(int_requests.decode_pairs) as decode_pairs,
        sum(int_requests.cache_positions) as cache_positions,
        sum(int_requests.decode_steps) as decode_steps,
        sum(int_requests.billed_cost_usd) as billed_cost_usd
    from int_requests
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
    where int_requests.is_failed or int_requests.is_cut_off
    group by all
),

costed as (
    select
        grouped.month,
        grouped.provider,
        grouped.model_id,
        grouped.query_class,
        grouped.waste_kind,
        grouped.request_count,
        grouped.measurable_request_count,
        grouped.prompts,
        grouped.input_tokens,
        grouped.output_tokens,
        grouped.passes,
        grouped.prefilled_tokens,
        grouped.prefill_pairs,
        grouped.decode_pairs,
        grouped.cache_positions,
        grouped.decode_steps,
        case
            when grouped.is_billed then grouped.billed_cost_usd::decimal(38, 15)
            when grouped.price_band_id is not null and grouped.uncached_input_tokens is not null
                then (
                    grouped.uncached_input_tokens::decimal(19, 0)
                    * bands.contracted_uncached_input_usd_per_mtok
                    + coalesce(grouped.cache_read_tokens, 0)::decimal(19, 0)
                    * bands.contracted_cache_read_usd_per_mtok
                    + coalesce(grouped.cache_write_5m_tokens, 0)::decimal(19, 0)
                    * bands.contracted_cache_write_5m_usd_per_mtok
                    + coalesce(grouped.cache_write_1h_tokens, 0)::decimal(19, 0)
                    * bands.contracted_cache_write_1h_usd_per_mtok
                    + coalesce(grouped.output_tokens, 0)::decimal(19, 0)
                    * bands.contracted_output_usd_per_mtok
                )::decimal(31, 9) * 0.000001::decimal(7, 6)
        end::decimal(38, 15) as cost_usd
    from grouped
    left join int_price_bands as bands on grouped.price_band_id = bands.price_band_id
)

select
    costed.month::varchar as month,
    costed.provider::varchar as provider,
    costed.model_id::varchar as model_id,
    costed.query_class::varchar as query_class,
    costed.waste_kind::varchar as waste_kind,
    sum(costed.request_count)::decimal(38, 0) as request_count,
    sum(costed.measurable_request_count)::decimal(38, 0) as measurable_request_count,
    sum(case when costed.cost_usd is null then costed.request_count else 0 end)::decimal(38, 0)
        as unpriced_request_count,
    sum(costed.prompts)::decimal(38, 0) as prompts,
    sum(costed.input_tokens)::decimal(38, 0) as input_tokens,
    sum(costed.output_tokens)::decimal(38, 0) as output_tokens,
    coalesce(sum(costed.passes), 0)::decimal(38, 0) as passes,
    coalesce(sum(costed.prefilled_tokens), 0)::decimal(38, 0) as prefilled_tokens,
    coalesce(sum(costed.prefill_pairs), 0)::decimal(38, 0) as prefill_pairs,
    coalesce(sum(costed.decode_pairs), 0)::decimal(38, 0) as decode_pairs,
    coalesce(sum(costed.cache_positions), 0)::decimal(38, 0) as cache_positions,
    coalesce(sum(costed.decode_steps), 0)::decimal(38, 0) as decode_steps,
    sum(costed.cost_usd)::decimal(38, 15) as cost_usd
from costed
group by all
