-- Usage by day for the workbook: tokens and token moments of a model, class, team and price band.
-- Days are cut in the zone of the report. Prices and energies are linear in these sums, so the
-- workbook prices them again when an assumption moves.
-- grain: day, provider, model_id, query_class, team, price_band_id, is_billed

with

usage as (
    select
        requests.month,
        requests.provider,
        requests.model_id,
        requests.query_class,
        requests.team,
        bands.price_band_id,
        requests.billed_cost_usd is not null as is_billed,
        timezone(getvariable('time_zone'), timezone('UTC', requests.occurred_at))::date as day,
        sum(requests.request_count) as request_count,
        sum(requests.input_tokens) as input_tokens,
        sum(requests.uncached_input_tokens) as uncached_input_tokens,
        sum(requests.cache_read_tokens) as cache_read_tokens,
        sum(requests.cache_write_5m_tokens) as cache_write_5m_tokens,
        sum(requests.cache_write_1h_tokens) as cache_write_1h_tokens,
        sum(requests.output_tokens) as output_tokens,
        sum(requests.prefilled_tokens) as prefilled_tokens,
        sum(requests.prefill_pairs) as prefill_pairs,
        sum(case when requests.has_work then requests.request_count else 0 end) as prompts,
        sum(requests.cache_positions) as cache_positions,
        sum(requests.decode_pairs) as decode_pairs,
        sum(requests.decode_steps) as decode_steps,
        sum(case when requests.has_work then requests.output_tokens end) as passes,
        sum(requests.billed_cost_usd) as billed_cost_usd
    from int_requests as requests
    left join int_price_bands as bands
        on
            requests.provider = bands.provider
            and requests.price_model = bands.price_model
            and requests.service_tier = bands.service_tier
            and requests.occurred_at >= bands.valid_from
            and requests.occurred_at < bands.valid_to
            and requests.mean_input_tokens >= bands.input_tokens_from
            and requests.mean_input_tokens < bands.input_tokens_to
    where requests.month <= getvariable('report_month')
    group by all
)

select
    (usage.month || '-01')::date as month_start,
    usage.day,
    usage.provider,
    usage.model_id,
    usage.query_class,
    usage.team,
    usage.price_band_id,
    usage.is_billed,
    usage.request_count::bigint as request_count,
    usage.input_tokens::bigint as input_tokens,
    usage.uncached_input_tokens::bigint as uncached_input_tokens,
    usage.cache_read_tokens::bigint as cache_read_tokens,
    usage.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    usage.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    usage.output_tokens::bigint as output_tokens,
    coalesce(usage.prefilled_tokens, 0)::double as prefilled_tokens,
    coalesce(usage.prefill_pairs, 0)::double as prefill_pairs,
    usage.prompts::double as prompts,
    coalesce(usage.cache_positions, 0)::double as cache_positions,
    coalesce(usage.decode_pairs, 0)::double as decode_pairs,
    coalesce(usage.decode_steps, 0)::double as decode_steps,
    coalesce(usage.passes, 0)::double as passes,
    usage.billed_cost_usd::decimal(38, 12) as billed_cost_usd
from usage
order by all
