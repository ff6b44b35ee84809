-- What each project of each team used and what it cost, in dollars, kilowatt-hours and carbon.
-- Usage of no project has a row for its team (project is null), so rows add up to the teams.
-- Ranges are those of the joint draws of all that the project used.
-- grain: month, team, project

with

usage as (
    select
        int_usage_groups.month,
        int_usage_groups.team,
        int_usage_groups.project,
        sum(int_usage_groups.request_count) as request_count,
        sum(int_usage_groups.input_tokens) as input_tokens,
        sum(int_usage_groups.output_tokens) as output_tokens
    from int_usage_groups
    group by all
),

costs as (
    select
        int_group_costs.month,
        int_group_costs.team,
        int_group_costs.project,
        sum(int_group_costs.cost_usd) as cost_usd,
        sum(int_group_costs.unpriced_request_count) as unpriced_request_count
    from int_group_costs
    group by all
),

energies as (
    select
        int_team_energy.month,
        int_team_energy.team,
        int_team_energy.project,
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
        max(int_team_energy.carbon_gco2e_per_kwh) as carbon_gco2e_per_kwh
    from int_team_energy
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

ends as (
    select
        int_project_draws.month,
        int_project_draws.team,
        int_project_draws.project,
        drawn_p05(int_project_draws.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p95(int_project_draws.facility_energy_kwh) as facility_energy_high_kwh
    from int_project_draws
    group by all
)

select
    usage.month::varchar as month,
    usage.team::varchar as team,
    usage.project::varchar as project,
    usage.request_count::bigint as request_count,
    costs.unpriced_request_count::bigint as unpriced_request_count,
    energies.unmeasured_request_count::bigint as unmeasured_request_count,
    usage.input_tokens::bigint as input_tokens,
    usage.output_tokens::bigint as output_tokens,
    costs.cost_usd::decimal(38, 15) as cost_usd,
    energies.gpu_energy_j::double as gpu_energy_j,
    energies.facility_energy_kwh::double as facility_energy_kwh,
    least(ends.facility_energy_low_kwh, energies.facility_energy_kwh::double)::double
        as facility_energy_low_kwh,
    greatest(ends.facility_energy_high_kwh, energies.facility_energy_kwh::double)::double
        as facility_energy_high_kwh,
    (energies.facility_energy_kwh::double * energies.carbon_gco2e_per_kwh)::double as carbon_gco2e,
    energies.evidence_grade::varchar as evidence_grade,
    energies.coefficient_set_id::varchar as coefficient_set_id,
    energies.batch::double as batch,
    method.method_version::varchar as method_version
from usage
inner join costs
    on
        usage.month = costs.month
        and usage.team is not distinct from costs.team
        and usage.project is not distinct from costs.project
inner join energies
    on
        usage.month = energies.month
        and usage.team is not distinct from energies.team
        and usage.project is not distinct from energies.project
left join ends
    on
        usage.month = ends.month
        and usage.team is not distinct from ends.team
        and usage.project is not distinct from ends.project
cross join raw_method as method
