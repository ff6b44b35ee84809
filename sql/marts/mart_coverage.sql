-- How much of each month's usage is known: priced, measured, cached share, class, team, outcome.
-- grain: month

with

usage as (
    select
        int_usage_groups.month,
        sum(int_usage_groups.request_count) as request_count,
        sum(int_usage_groups.input_tokens) as input_tokens,
        sum(int_usage_groups.output_tokens) as output_tokens,
        sum(
            case when costs.cost_usd is not null then int_usage_groups.request_count else 0 end
        ) as priced_request_count,
        sum(
            case when costs.cost_usd is not null then int_usage_groups.output_tokens else 0 end
        ) as priced_output_tokens,
        sum(costs.no_gpu_bill_request_count) as no_gpu_bill_request_count,
        sum(
            case
                when energy.model_id is not null then int_usage_groups.measurable_request_count
                else 0
            end
        ) as measured_request_count,
        sum(
            case
                when energy.model_id is not null then int_usage_groups.passes
                else 0
            end
        ) as measured_output_tokens,
        sum(
            case when hosts.is_known_model then int_usage_groups.request_count else 0 end
        ) as known_model_request_count,
        sum(int_usage_groups.cache_known_request_count) as cache_known_request_count,
        sum(int_usage_groups.explicit_class_request_count) as explicit_class_request_count,
        sum(
            case
                when int_usage_groups.team is not null then int_usage_groups.request_count else 0
            end
        ) as attributed_request_count,
        sum(int_usage_groups.outcome_known_request_count) as known_outcome_request_count
    from int_usage_groups
    inner join int_group_costs as costs
        on
            int_usage_groups.month = costs.month
            and int_usage_groups.provider = costs.provider
            and int_usage_groups.model_id = costs.model_id
            and int_usage_groups.query_class = costs.query_class
            and int_usage_groups.team is not distinct from costs.team
            and int_usage_groups.project is not distinct from costs.project
            and int_usage_groups.service_tier = costs.service_tier
            and int_usage_groups.price_band_id is not distinct from costs.price_band_id
            and int_usage_groups.is_billed = costs.is_billed
    left join int_hosts as hosts
        on
            int_usage_groups.provider = hosts.provider
            and int_usage_groups.model_id = hosts.model_id
    left join int_class_energy as energy
        on
            int_usage_groups.month = energy.month
            and int_usage_groups.provider = energy.provider
            and int_usage_groups.model_id = energy.model_id
            and int_usage_groups.query_class = energy.query_class
    group by all
)

select
    usage.month::varchar as month,
    usage.request_count::bigint as request_count,
    usage.input_tokens::bigint as input_tokens,
    usage.output_tokens::bigint as output_tokens,
    usage.priced_request_count::bigint as priced_request_count,
    usage.no_gpu_bill_request_count::bigint as no_gpu_bill_request_count,
    usage.measured_request_count::bigint as measured_request_count,
    usage.known_model_request_count::bigint as known_model_request_count,
    usage.cache_known_request_count::bigint as cache_known_request_count,
    usage.explicit_class_request_count::bigint as explicit_class_request_count,
    usage.attributed_request_count::bigint as attributed_request_count,
    usage.known_outcome_request_count::bigint as known_outcome_request_count,
    usage.priced_output_tokens::bigint as priced_output_tokens,
    usage.measured_output_tokens::bigint as measured_output_tokens,
    (usage.priced_request_count::double / usage.request_count::double)::double
        as priced_request_frac,
    (usage.measured_request_count::double / usage.request_count::double)::double
        as measured_request_frac,
    (usage.known_model_request_count::double / usage.request_count::double)::double
        as known_model_request_frac,
    (usage.cache_known_request_count::double / usage.request_count::double)::double
        as cache_known_request_frac,
    (usage.explicit_class_request_count::double / usage.request_count::double)::double
        as explicit_class_request_frac,
    (usage.attributed_request_count::double / usage.request_count::double)::double
        as attributed_request_frac,
    (usage.known_outcome_request_count::double / usage.request_count::double)::double
        as known_outcome_request_frac,
    (usage.priced_output_tokens::double / nullif(usage.output_tokens, 0)::double)::double
        as priced_output_frac,
    (usage.measured_output_tokens::double / nullif(usage.output_tokens, 0)::double)::double
        as measured_output_frac
from usage
