-- The month's same requests by our law and by the laws of others, like with like: GPU boards
-- against GPU boards, facility against facility.
-- A rival whose method knows no facility gets our chain of host, idle capacity and cooling. Only
-- requests with an energy of ours are here, so every law is asked about the same ones.
-- grain: month, provider, model_id, query_class, law

with

ours as (
    select
        mart.month,
        mart.provider,
        mart.model_id,
        mart.query_class,
        mart.request_count,
        mart.unmeasured_request_count,
        mart.batch,
        mart.evidence_grade,
        mart.coefficient_set_id,
        mart.method_version,
        mart.gpu_energy_j,
        mart.energy_low_j,
        mart.energy_high_j,
        mart.facility_energy_kwh,
        mart.facility_energy_low_kwh,
        mart.facility_energy_high_kwh
    from mart_energy_per_class as mart
    where mart.gpu_energy_j > 0
),

laws as (
    select
        ours.month,
        ours.provider,
        ours.model_id,
        ours.query_class,
        'simple' as law,
        ours.gpu_energy_j,
        ours.facility_energy_kwh
    from ours
    union all
    select
        rivals.month,
        rivals.provider,
        rivals.model_id,
        rivals.query_class,
        rivals.law,
        rivals.gpu_energy_j,
        coalesce(
            facility_energy_kwh(rivals.facility_energy_j, 1),
            rivals.gpu_energy_j * ours.facility_energy_kwh / ours.gpu_energy_j
        ) as facility_energy_kwh
    from int_rival_energy as rivals
    inner join ours
        on
            rivals.month = ours.month
            and rivals.provider = ours.provider
            and rivals.model_id = ours.model_id
            and rivals.query_class = ours.query_class
)

select
    laws.month::varchar as month,
    laws.provider::varchar as provider,
    laws.model_id::varchar as model_id,
    laws.query_class::varchar as query_class,
    laws.law::varchar as law,
    ours.method_version::varchar as method_version,
    (ours.request_count - ours.unmeasured_request_count)::bigint as request_count,
    ours.batch::double as batch,
    ours.evidence_grade::varchar as evidence_grade,
    ours.coefficient_set_id::varchar as coefficient_set_id,
    laws.gpu_energy_j::double as gpu_energy_j,
    ours.gpu_energy_j::double as own_gpu_energy_j,
    ours.energy_low_j::double as own_energy_low_j,
    ours.energy_high_j::double as own_energy_high_j,
    (laws.gpu_energy_j / ours.gpu_energy_j)::double as gpu_energy_ratio,
    (
        laws.gpu_energy_j >= ours.energy_low_j and laws.gpu_energy_j <= ours.energy_high_j
    )::boolean as is_inside_range,
    laws.facility_energy_kwh::double as facility_energy_kwh,
    ours.facility_energy_kwh::double as own_facility_energy_kwh,
    ours.facility_energy_low_kwh::double as own_facility_energy_low_kwh,
    ours.facility_energy_high_kwh::double as own_facility_energy_high_kwh,
    (laws.facility_energy_kwh / ours.facility_energy_kwh)::double as facility_energy_ratio,
    words.source::varchar as source,
    words.domain::varchar as domain,
    words.ignores::varchar as ignores
from laws
inner join ours
    on
        laws.month = ours.month
        and laws.provider = ours.provider
        and laws.model_id = ours.model_id
        and laws.query_class = ours.query_class
inner join stg_laws as words on laws.law = words.law
