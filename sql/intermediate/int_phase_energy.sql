-- GPU energy of the company's own servers by phase: prefill is reading the prompts, decode is cache
-- and next tokens; with the GPU hours that their bills hold, shared by energy. Prefill draws more
-- than decode, so it takes less of the hours than of the energy: its hours are an upper end.
-- Hours and price are null where the deployment has no GPU bill.
-- grain: month, provider, model_id, query_class, phase

with

served as (
    select
        energies.month,
        energies.provider,
        energies.model_id,
        energies.query_class,
        energies.gpu,
        energies.batch,
        energies.coefficient_set_id,
        energies.evidence_grade,
        energies.gpu_energy_j,
        energies.prefill_energy_j / energies.energy_j as prefill_frac,
        sum(energies.gpu_energy_j::decimal(38, 15)) over (
            partition by energies.month, energies.model_id
        )::double as model_energy_j
    from int_class_energy as energies
    inner join int_hosts as hosts
        on energies.provider = hosts.provider and energies.model_id = hosts.model_id
    where hosts.hosting_kind <> 'api' and energies.energy_j > 0
),

phased as (
    select
        served.month,
        served.provider,
        served.model_id,
        served.query_class,
        served.gpu,
        served.batch,
        served.coefficient_set_id,
        served.evidence_grade,
        served.gpu_energy_j,
        served.model_energy_j,
        phases.phase,
        case
            when phases.phase = 'prefill' then served.prefill_frac
            else 1 - served.prefill_frac
        end as phase_frac
    from served
    cross join (values ('prefill'), ('decode')) as phases (phase)
)

select
    phased.month::varchar as month,
    phased.provider::varchar as provider,
    phased.model_id::varchar as model_id,
    phased.query_class::varchar as query_class,
    phased.phase::varchar as phase,
    phased.gpu::varchar as gpu,
    phased.batch::double as batch,
    phased.coefficient_set_id::varchar as coefficient_set_id,
    phased.evidence_grade::varchar as evidence_grade,
    phased.phase_frac::double as phase_frac,
    (phased.gpu_energy_j * phased.phase_frac)::double as phase_energy_j,
    hosting.bill_includes_power::boolean as bill_includes_power,
    (
        hosting.gpu_hours::double * hosting.used_usd::double / nullif(hosting.billed_usd::double, 0)
        * phased.gpu_energy_j * phased.phase_frac / phased.model_energy_j
    )::double as phase_gpu_hours,
    (
        hosting.used_usd::double * phased.gpu_energy_j * phased.phase_frac / phased.model_energy_j
    )::double as phase_hosting_usd
from phased
left join int_hosting as hosting
    on phased.month = hosting.month and phased.model_id = hosting.model_id
