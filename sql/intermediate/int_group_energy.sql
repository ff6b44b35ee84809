-- What each group of usage took in energy: the class's rates times the group's token moments, so
-- that the groups of a class add up to the class. Null where the class has no energy.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

with

parts as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        usage.is_billed,
        rates.evidence_grade,
        rates.facility_ratio,
        rates.facility_energy_low_kwh / nullif(rates.facility_energy_kwh, 0) as facility_low_ratio,
        rates.facility_energy_high_kwh / nullif(rates.facility_energy_kwh, 0)
            as facility_high_ratio,
        rates.carbon_gco2e_per_kwh,
        rates.electricity_usd_per_kwh,
        case
            when usage.measurable_request_count > 0
                then
                    coalesce(usage.prefilled_tokens, 0)::double
                    * rates.energy_j_per_prefilled_token
                    + coalesce(usage.prefill_pairs, 0)::double * rates.energy_j_per_pair
                    + usage.prompts::double * rates.energy_j_per_prompt
        end as prefill_energy_j,
        case
            when usage.measurable_request_count > 0
                then
                    coalesce(usage.cache_positions, 0)::double
                    * rates.energy_j_per_cache_position
                    + coalesce(usage.decode_pairs, 0)::double * rates.energy_j_per_pair
                    + coalesce(usage.decode_steps, 0)::double * rates.energy_j_per_decode_step
                    + coalesce(usage.passes, 0)::double * rates.energy_j_per_pass
        end as decode_energy_j
    from int_usage_groups as usage
    left join int_class_energy as rates
        on
            usage.month = rates.month
            and usage.provider = rates.provider
            and usage.model_id = rates.model_id
            and usage.query_class = rates.query_class
)

select
    parts.month::varchar as month,
    parts.provider::varchar as provider,
    parts.model_id::varchar as model_id,
    parts.query_class::varchar as query_class,
    parts.team::varchar as team,
    parts.project::varchar as project,
    parts.service_tier::varchar as service_tier,
    parts.price_band_id::integer as price_band_id,
    parts.is_billed::boolean as is_billed,
    parts.evidence_grade::varchar as evidence_grade,
    parts.facility_low_ratio::double as facility_low_ratio,
    parts.facility_high_ratio::double as facility_high_ratio,
    parts.carbon_gco2e_per_kwh::double as carbon_gco2e_per_kwh,
    (parts.prefill_energy_j + parts.decode_energy_j)::double as gpu_energy_j,
    facility_energy_kwh(parts.prefill_energy_j, parts.facility_ratio)::double
        as prefill_energy_kwh,
    facility_energy_kwh(parts.decode_energy_j, parts.facility_ratio)::double
        as decode_energy_kwh,
    (
        facility_energy_kwh(parts.prefill_energy_j + parts.decode_energy_j, parts.facility_ratio)
        * parts.electricity_usd_per_kwh
    )::decimal(38, 9) as energy_cost_usd
from parts
