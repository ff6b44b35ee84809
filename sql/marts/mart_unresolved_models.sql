-- Names in the logs that the catalog does not know: what was used under them, and what it cost
-- where a bill or a price list says so. Their energy is unknown. Their nearest name in the catalog
-- is a hint to a reader, never used.
-- grain: month, provider, model_name

with

months as (
    select
        int_model_coverage.month,
        sum(int_model_coverage.input_tokens + int_model_coverage.output_tokens) as tokens
    from int_model_coverage
    group by all
)

select
    coverage.month::varchar as month,
    coverage.provider::varchar as provider,
    coverage.model_id::varchar as model_name,
    coverage.request_count::bigint as request_count,
    coverage.input_tokens::bigint as input_tokens,
    coverage.output_tokens::bigint as output_tokens,
    (
        (coverage.input_tokens + coverage.output_tokens)::double
        / nullif(months.tokens::double, 0)
    )::double as token_frac,
    coverage.cost_usd::decimal(38, 15) as cost_usd,
    coverage.unpriced_request_count::bigint as unpriced_request_count,
    int_nearest_models.nearest_model_id::varchar as nearest_model_id
from int_model_coverage as coverage
inner join months on coverage.month = months.month
left join int_nearest_models on coverage.model_id = int_nearest_models.model_name
where not coverage.is_known_model
