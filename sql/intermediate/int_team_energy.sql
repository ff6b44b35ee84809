-- What each team's and project's share of a model and class took in energy: the class's rates times
-- their own token moments, so the teams of a class add up to the class, and projects to teams.
-- energy_frac is the share of the class in every joint draw too.
-- grain: month, provider, model_id, query_class, team, project

with

moments as (
    select
        int_usage_groups.month,
        int_usage_groups.provider,
        int_usage_groups.model_id,
        int_usage_groups.query_class,
        int_usage_groups.team,
        int_usage_groups.project,
        sum(int_usage_groups.request_count) as request_count,
        sum(int_usage_groups.measurable_request_count) as measurable_request_count,
        sum(int_usage_groups.prompts) as prompts,
        coalesce(sum(int_usage_groups.passes), 0) as passes,
        coalesce(sum(int_usage_groups.prefilled_tokens), 0) as prefilled_tokens,
        coalesce(sum(int_usage_groups.prefill_pairs), 0) as prefill_pairs,
        coalesce(sum(int_usage_groups.decode_pairs), 0) as decode_pairs,
        coalesce(sum(int_usage_groups.cache_positions), 0) as cache_positions,
        coalesce(sum(int_usage_groups.decode_steps), 0) as decode_steps
    from int_usage_groups
    group by all
),

energies as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.team,
        moments.project,
        moments.request_count,
        moments.request_count
        - case
            when rates.model_id is null then 0 else moments.measurable_request_count
        end as unmeasured_request_count,
        moments.passes,
        rates.evidence_grade,
        rates.batch,
        rates.coefficient_set_id,
        rates.facility_ratio,
        rates.carbon_gco2e_per_kwh,
        rates.electricity_usd_per_kwh,
        case
            when moments.measurable_request_count > 0
                then
                    moments.prefilled_tokens::double * rates.energy_j_per_prefilled_token
                    + moments.prefill_pairs::double * rates.energy_j_per_pair
                    + moments.prompts::double * rates.energy_j_per_prompt
                    + moments.cache_positions::double * rates.energy_j_per_cache_position
                    + moments.decode_pairs::double * rates.energy_j_per_pair
                    + moments.decode_steps::double * rates.energy_j_per_decode_step
                    + moments.passes::double * rates.energy_j_per_pass
        end as gpu_energy_j
    from moments
    left join int_class_energy as rates
        on
            moments.month = rates.month
            and moments.provider = rates.provider
            and moments.model_id = rates.model_id
            and moments.query_class = rates.query_class
)

select
    energies.month::varchar as month,
    energies.provider::varchar as provider,
    energies.model_id::varchar as model_id,
    energies.query_class::varchar as query_class,
    energies.team::varchar as team,
    energies.project::varchar as project,
    energies.request_count::decimal(38, 0) as request_count,
    energies.unmeasured_request_count::decimal(38, 0) as unmeasured_request_count,
    energies.passes::decimal(38, 0) as passes,
    energies.evidence_grade::varchar as evidence_grade,
    energies.batch::double as batch,
    energies.coefficient_set_id::varchar as coefficient_set_id,
    energies.facility_ratio::double as facility_ratio,
    energies.carbon_gco2e_per_kwh::double as carbon_gco2e_per_kwh,
    energies.electricity_usd_per_kwh::double as electricity_usd_per_kwh,
    energies.gpu_energy_j::double as gpu_energy_j,
    (
        energies.gpu_energy_j::decimal(38, 15)::double
        / nullif(
            sum(energies.gpu_energy_j::decimal(38, 15)) over (
                partition by
                    energies.month, energies.provider, energies.model_id, energies.query_class
            ),
            0
        )::double
    )::double as energy_frac
from energies
