-- What is known of each model's usage in a month: its tokens, those without a price, its money,
-- and whether the catalog knows the model.
-- grain: month, provider, model_id

select
    usage.month::varchar as month,
    usage.provider::varchar as provider,
    usage.model_id::varchar as model_id,
    bool_and(hosts.is_known_model)::boolean as is_known_model,
    sum(usage.request_count)::decimal(38, 0) as request_count,
    sum(coalesce(usage.input_tokens, 0))::decimal(38, 0) as input_tokens,
    sum(coalesce(usage.output_tokens, 0))::decimal(38, 0) as output_tokens,
    sum(
        case
            when costs.cost_usd is null
                then coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0)
            else 0
        end
    )::decimal(38, 0) as unpriced_tokens,
    sum(costs.unpriced_request_count)::decimal(38, 0) as unpriced_request_count,
    sum(costs.cost_usd)::decimal(38, 15) as cost_usd
from int_usage_groups as usage
inner join int_group_costs as costs
    on
        usage.month = costs.month
        and usage.provider = costs.provider
        and usage.model_id = costs.model_id
        and usage.query_class = costs.query_class
        and usage.team is not distinct from costs.team
        and usage.project is not distinct from costs.project
        and usage.service_tier = costs.service_tier
        and usage.price_band_id is not distinct from costs.price_band_id
        and usage.is_billed = costs.is_billed
inner join int_hosts as hosts
    on usage.provider = hosts.provider and usage.model_id = hosts.model_id
group by all
