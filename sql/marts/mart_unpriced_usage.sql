-- Usage that no cost sum holds, why, and what would give it a cost.
-- grain: month, provider, model_id, service_tier, unpriced_reason

with

unpriced as (
    select
        int_group_costs.month,
        int_group_costs.provider,
        int_group_costs.model_id,
        int_group_costs.service_tier,
        int_group_costs.unpriced_reason,
        sum(
            int_group_costs.unpriced_request_count + int_group_costs.no_gpu_bill_request_count
        ) as request_count,
        sum(usage.input_tokens) as input_tokens,
        sum(usage.output_tokens) as output_tokens
    from int_group_costs
    inner join int_usage_groups as usage
        on
            int_group_costs.month = usage.month
            and int_group_costs.provider = usage.provider
            and int_group_costs.model_id = usage.model_id
            and int_group_costs.query_class = usage.query_class
            and int_group_costs.team is not distinct from usage.team
            and int_group_costs.project is not distinct from usage.project
            and int_group_costs.service_tier = usage.service_tier
            and int_group_costs.price_band_id is not distinct from usage.price_band_id
            and int_group_costs.is_billed = usage.is_billed
    where int_group_costs.unpriced_reason is not null
    group by all
)

select
    unpriced.month::varchar as month,
    unpriced.provider::varchar as provider,
    unpriced.model_id::varchar as model_id,
    unpriced.service_tier::varchar as service_tier,
    unpriced.unpriced_reason::varchar as unpriced_reason,
    case unpriced.unpriced_reason
        when 'no GPU bill' then 'a row in hosting_costs, or the provider in the log'
        when 'token counts are missing' then 'logs with token counts, or a bill'
        when 'no list price for this model' then 'a row in prices or contract_rates, or a bill'
        else 'rows in prices or contract_rates for this tier and day, or a bill'
    end::varchar as what_to_add,
    unpriced.request_count::bigint as request_count,
    unpriced.input_tokens::bigint as input_tokens,
    unpriced.output_tokens::bigint as output_tokens
from unpriced
