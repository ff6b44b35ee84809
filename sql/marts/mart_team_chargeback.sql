-- What each team used and what it cost, in dollars, kilowatt-hours and carbon.
-- Usage of no team has a row of its own (team is null); what else its logs name could attribute it.
-- Ranges are those of the joint draws of all that the team used.
-- grain: month, team

with

usage as (
    select
        int_usage_groups.month,
        int_usage_groups.team,
        sum(int_usage_groups.request_count) as request_count,
        sum(int_usage_groups.input_tokens) as input_tokens,
        sum(int_usage_groups.output_tokens) as output_tokens,
        sum(int_usage_groups.api_key_request_count) as api_key_request_count,
        sum(int_usage_groups.project_request_count) as project_request_count,
        sum(int_usage_groups.user_request_count) as user_request_count,
        sum(int_usage_groups.route_request_count) as route_request_count
    from int_usage_groups
    group by all
),

costs as (
    select
        int_group_costs.month,
        int_group_costs.team,
        sum(int_group_costs.cost_usd) as cost_usd,
        sum(int_group_costs.list_cost_usd) as list_cost_usd,
        sum(int_group_costs.contracted_cost_usd) as contracted_cost_usd,
        sum(int_group_costs.effective_cost_usd) as effective_cost_usd,
        sum(int_group_costs.billed_cost_usd) as billed_cost_usd,
        sum(int_group_costs.hosting_cost_usd) as hosting_cost_usd,
        sum(int_group_costs.hosting_energy_cost_usd) as hosting_energy_cost_usd,
        sum(int_group_costs.unpriced_request_count) as unpriced_request_count,
        sum(int_group_costs.no_gpu_bill_request_count) as no_gpu_bill_request_count
    from int_group_costs
    group by all
),

energies as (
    select
        int_team_energy.month,
        int_team_energy.team,
        sum(int_team_energy.unmeasured_request_count) as unmeasured_request_count,
        sum(int_team_energy.gpu_energy_j::decimal(38, 15)) as gpu_energy_j,
        sum(
            facility_energy_kwh(int_team_energy.gpu_energy_j, int_team_energy.facility_ratio)
            ::decimal(38, 15)
        ) as facility_energy_kwh,
        worst_material_grade(
            int_team_energy.evidence_grade, int_team_energy.gpu_energy_j, material.value
        ) as evidence_grade,
        listed_sets(int_team_energy.coefficient_set_id) as coefficient_set_id,
        mean_batch(int_team_energy.batch, int_team_energy.passes) as batch,
        max(int_team_energy.carbon_gco2e_per_kwh) as carbon_gco2e_per_kwh,
        max(int_team_energy.electricity_usd_per_kwh) as electricity_usd_per_kwh
    from int_team_energy
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

ends as (
    select
        int_team_draws.month,
        int_team_draws.team,
        drawn_p05(int_team_draws.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p95(int_team_draws.facility_energy_kwh) as facility_energy_high_kwh
    from int_team_draws
    group by all
),

totals as (
    select
        costs.month,
        sum(costs.cost_usd) as cost_usd,
        sum(energies.gpu_energy_j) as gpu_energy_j
    from costs
    inner join energies
        on costs.month = energies.month and costs.team is not distinct from energies.team
    group by all
)

select
    usage.month::varchar as month,
    usage.team::varchar as team,
    usage.request_count::bigint as request_count,
    int_team_tasks.task_count::bigint as task_count,
    costs.unpriced_request_count::bigint as unpriced_request_count,
    costs.no_gpu_bill_request_count::bigint as no_gpu_bill_request_count,
    energies.unmeasured_request_count::bigint as unmeasured_request_count,
    usage.api_key_request_count::bigint as api_key_request_count,
    usage.project_request_count::bigint as project_request_count,
    usage.user_request_count::bigint as user_request_count,
    usage.route_request_count::bigint as route_request_count,
    usage.input_tokens::bigint as input_tokens,
    usage.output_tokens::bigint as output_tokens,
    costs.cost_usd::decimal(38, 15) as cost_usd,
    costs.list_cost_usd::decimal(38, 15) as list_cost_usd,
    costs.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    costs.effective_cost_usd::decimal(38, 15) as effective_cost_usd,
    costs.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    costs.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    costs.hosting_energy_cost_usd::decimal(38, 15) as hosting_energy_cost_usd,
    (costs.cost_usd::double / nullif(totals.cost_usd, 0)::double)::double as cost_frac,
    energies.gpu_energy_j::double as gpu_energy_j,
    energies.facility_energy_kwh::double as facility_energy_kwh,
    least(ends.facility_energy_low_kwh, energies.facility_energy_kwh::double)::double
        as facility_energy_low_kwh,
    greatest(ends.facility_energy_high_kwh, energies.facility_energy_kwh::double)::double
        as facility_energy_high_kwh,
    (energies.facility_energy_kwh::double * energies.electricity_usd_per_kwh)::decimal(38, 9)
        as energy_cost_usd,
    (energies.facility_energy_kwh::double * energies.carbon_gco2e_per_kwh)::double
        as carbon_gco2e,
    (energies.gpu_energy_j::double / nullif(totals.gpu_energy_j, 0)::double)::double
        as energy_frac,
    energies.evidence_grade::varchar as evidence_grade,
    energies.coefficient_set_id::varchar as coefficient_set_id,
    energies.batch::double as batch,
    method.method_version::varchar as method_version
from usage
left join int_team_tasks
    on
        usage.month = int_team_tasks.month
        and usage.team is not distinct from int_team_tasks.team
inner join costs
    on usage.month = costs.month and usage.team is not distinct from costs.team
inner join energies
    on usage.month = energies.month and usage.team is not distinct from energies.team
left join ends
    on usage.month = ends.month and usage.team is not distinct from ends.team
inner join totals on usage.month = totals.month
cross join raw_method as method
