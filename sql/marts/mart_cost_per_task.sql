-- What one task costs in dollars, joules and carbon, for every model and query class.
-- A task that took three tries is paid for three times, so failed requests stay in the sums; only
-- solved tasks divide the cost per solved task. Requests without a price or GPU bill are in no sum,
-- so their share of the tasks divides nothing either; the same holds for energy.
-- cost_usd is billed, else effective, else hosting with its energy; a line may mix them, so each
-- has a sum of its own and cost_source names those that cost_usd holds.
-- grain: month, provider, model_id, query_class

with

usage as (
    select
        int_usage_groups.month,
        int_usage_groups.provider,
        int_usage_groups.model_id,
        int_usage_groups.query_class,
        sum(int_usage_groups.request_count) as request_count,
        sum(int_usage_groups.failed_request_count) as failed_request_count,
        sum(int_usage_groups.measurable_request_count) as measurable_request_count,
        sum(int_usage_groups.uncached_input_tokens) as uncached_input_tokens,
        sum(int_usage_groups.cache_read_tokens) as cache_read_tokens,
        sum(
            coalesce(int_usage_groups.cache_write_5m_tokens, 0)
            + coalesce(int_usage_groups.cache_write_1h_tokens, 0)
        ) as cache_write_tokens,
        sum(int_usage_groups.output_tokens) as output_tokens,
        sum(int_usage_groups.reasoning_tokens) as reasoning_tokens
    from int_usage_groups
    group by all
),

costs as (
    select
        int_group_costs.month,
        int_group_costs.provider,
        int_group_costs.model_id,
        int_group_costs.query_class,
        sum(int_group_costs.cost_usd) as cost_usd,
        sum(int_group_costs.list_cost_usd) as list_cost_usd,
        sum(int_group_costs.contracted_cost_usd) as contracted_cost_usd,
        sum(int_group_costs.effective_cost_usd) as effective_cost_usd,
        sum(int_group_costs.billed_cost_usd) as billed_cost_usd,
        sum(int_group_costs.hosting_cost_usd) as hosting_cost_usd,
        sum(int_group_costs.hosting_energy_cost_usd) as hosting_energy_cost_usd,
        sum(int_group_costs.unpriced_request_count) as unpriced_request_count,
        sum(int_group_costs.no_gpu_bill_request_count) as no_gpu_bill_request_count,
        -- The words stand in the order of the alphabet: billed, effective, hosting, list.
        case
            when min(int_group_costs.cost_source) = max(int_group_costs.cost_source)
                then min(int_group_costs.cost_source)
            when count(distinct int_group_costs.cost_source) = 2
                then
                    min(int_group_costs.cost_source) || ' and ' || max(int_group_costs.cost_source)
            when count(distinct int_group_costs.cost_source) > 2 then 'several'
        end as cost_source
    from int_group_costs
    group by all
),

-- Costs and energies per task divide by the share of tasks that they cover.
known as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        (
            usage.request_count - costs.unpriced_request_count - costs.no_gpu_bill_request_count
        )::double
        / usage.request_count::double as priced_frac,
        usage.measurable_request_count::double / usage.request_count::double as measured_frac
    from usage
    inner join costs
        on
            usage.month = costs.month
            and usage.provider = costs.provider
            and usage.model_id = costs.model_id
            and usage.query_class = costs.query_class
)

select
    usage.month::varchar as month,
    usage.provider::varchar as provider,
    usage.model_id::varchar as model_id,
    usage.query_class::varchar as query_class,
    hosts.hosting_kind::varchar as hosting_kind,
    usage.request_count::bigint as request_count,
    int_class_tasks.task_count::bigint as task_count,
    int_class_tasks.solved_task_count::bigint as solved_task_count,
    int_class_tasks.unknown_outcome_task_count::bigint as unknown_outcome_task_count,
    usage.failed_request_count::bigint as failed_request_count,
    costs.unpriced_request_count::bigint as unpriced_request_count,
    costs.no_gpu_bill_request_count::bigint as no_gpu_bill_request_count,
    (
        usage.request_count
        - case when energy.model_id is null then 0 else usage.measurable_request_count end
    )::bigint as unmeasured_request_count,
    usage.uncached_input_tokens::bigint as uncached_input_tokens,
    usage.cache_read_tokens::bigint as cache_read_tokens,
    usage.cache_write_tokens::bigint as cache_write_tokens,
    usage.output_tokens::bigint as output_tokens,
    usage.reasoning_tokens::bigint as reasoning_tokens,
    costs.cost_usd::decimal(38, 15) as cost_usd,
    costs.list_cost_usd::decimal(38, 15) as list_cost_usd,
    costs.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    costs.effective_cost_usd::decimal(38, 15) as effective_cost_usd,
    costs.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    costs.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    costs.hosting_energy_cost_usd::decimal(38, 15) as hosting_energy_cost_usd,
    costs.cost_source::varchar as cost_source,
    energy.gpu_energy_j::double as gpu_energy_j,
    energy.energy_low_j::double as energy_low_j,
    energy.energy_high_j::double as energy_high_j,
    energy.facility_energy_kwh::double as facility_energy_kwh,
    energy.facility_energy_low_kwh::double as facility_energy_low_kwh,
    energy.facility_energy_high_kwh::double as facility_energy_high_kwh,
    (energy.facility_energy_kwh * energy.electricity_usd_per_kwh)::decimal(38, 9)
        as energy_cost_usd,
    (energy.facility_energy_kwh * energy.carbon_gco2e_per_kwh)::double as carbon_gco2e,
    (energy.facility_energy_low_kwh * energy.carbon_gco2e_per_kwh)::double as carbon_low_gco2e,
    (energy.facility_energy_high_kwh * energy.carbon_gco2e_per_kwh)::double as carbon_high_gco2e,
    coalesce(energy.evidence_grade, 'U')::varchar as evidence_grade,
    energy.coefficient_set_id::varchar as coefficient_set_id,
    energy.batch::double as batch,
    method.method_version::varchar as method_version,
    (
        costs.cost_usd::double
        / nullif(int_class_tasks.task_count::double * known.priced_frac, 0)
    )::double as cost_usd_per_task,
    (
        costs.cost_usd::double
        / nullif(int_class_tasks.solved_task_count::double * known.priced_frac, 0)
    )::double as cost_usd_per_solved_task,
    (
        energy.gpu_energy_j / nullif(int_class_tasks.task_count::double * known.measured_frac, 0)
    )::double as energy_j_per_task,
    (
        energy.gpu_energy_j
        / nullif(int_class_tasks.solved_task_count::double * known.measured_frac, 0)
    )::double as energy_j_per_solved_task,
    (
        energy.facility_energy_kwh * energy.carbon_gco2e_per_kwh
        / nullif(int_class_tasks.task_count::double * known.measured_frac, 0)
    )::double as carbon_gco2e_per_task
from usage
inner join int_class_tasks
    on
        usage.month = int_class_tasks.month
        and usage.provider = int_class_tasks.provider
        and usage.model_id = int_class_tasks.model_id
        and usage.query_class = int_class_tasks.query_class
inner join costs
    on
        usage.month = costs.month
        and usage.provider = costs.provider
        and usage.model_id = costs.model_id
        and usage.query_class = costs.query_class
inner join known
    on
        usage.month = known.month
        and usage.provider = known.provider
        and usage.model_id = known.model_id
        and usage.query_class = known.query_class
left join int_hosts as hosts
    on usage.provider = hosts.provider and usage.model_id = hosts.model_id
left join int_class_energy as energy
    on
        usage.month = energy.month
        and usage.provider = energy.provider
        and usage.model_id = energy.model_id
        and usage.query_class = energy.query_class
cross join raw_method as method
