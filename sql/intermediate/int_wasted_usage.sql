-- Summed usage of requests that failed, or whose answer was cut off at the longest one allowed
-- (finish_reason length): their own counts, tokens, token moments and money. A failed request that
-- was cut off is a failed one. Cost is as billed, else by contract or list; shares of
-- GPU bills and of commitments are no part of it.
-- grain: month, provider, model_id, query_class, waste_kind

with

grouped as (
    select
        requests.month,
        requests.provider,
        requests.model_id,
        requests.query_class,
        case when requests.is_failed then 'failed' else 'truncated' end as waste_kind,
        requests.price_band_id,
        requests.billed_cost_usd is not null as is_billed,
        sum(requests.request_count) as request_count,
        sum(case when requests.is_measurable then requests.request_count else 0 end)
            as measurable_request_count,
        sum(case when requests.has_work then requests.request_count else 0 end) as prompts,
        sum(requests.input_tokens) as input_tokens,
        sum(requests.uncached_input_tokens) as uncached_input_tokens,
        sum(requests.cache_read_tokens) as cache_read_tokens,
        sum(requests.cache_write_5m_tokens) as cache_write_5m_tokens,
        sum(requests.cache_write_1h_tokens) as cache_write_1h_tokens,
        sum(requests.output_tokens) as output_tokens,
        sum(case when requests.has_work then requests.output_tokens end) as passes,
        sum(requests.prefilled_tokens) as prefilled_tokens,
        sum(requests.prefill_pairs) as prefill_pairs,
        sum(requests.decode_pairs) as decode_pairs,
        sum(requests.cache_positions) as cache_positions,
        sum(requests.decode_steps) as decode_steps,
        sum(requests.billed_cost_usd) as billed_cost_usd
    from int_priced_requests as requests
    where requests.is_failed or requests.is_cut_off
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
