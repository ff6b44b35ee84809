-- Usage and cost by month for the workbook: what every cost and every team's energy is summed from.
-- grain: month_start, provider, model_id, query_class, team, price_band_id, is_billed

select
    (usage.month || '-01')::date as month_start,
    usage.provider,
    usage.model_id,
    usage.query_class,
    usage.team,
    usage.price_band_id,
    usage.is_billed,
    usage.request_count::bigint as request_count,
    usage.measurable_request_count::bigint as measurable_request_count,
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
    costs.unpriced_request_count::bigint as unpriced_request_count,
    costs.list_cost_usd,
    costs.billed_cost_usd,
    costs.cost_usd,
    costs.cost_source
from int_usage_groups as usage
inner join int_group_costs as costs
    on
        usage.month = costs.month
        and usage.provider = costs.provider
        and usage.model_id = costs.model_id
        and usage.query_class = costs.query_class
        and usage.team is not distinct from costs.team
        and usage.price_band_id is not distinct from costs.price_band_id
        and usage.is_billed = costs.is_billed
where usage.month <= getvariable('report_month')
order by all
