-- Which factor a setting has on each GPU that serves models of the company: its own measurement,
-- else what papers say of that GPU, else that of another GPU. The last is grade C, and a cap in watts
-- is carried to GPUs of the same board power alone. Measured or told for one model and batch, a
-- factor is carried to all of the GPU's models, so it is no better than B.
-- grain: gpu, policy, phase

with

served as (
    select distinct energies.gpu
    from int_class_energy as energies
    inner join int_hosts as hosts
        on energies.provider = hosts.provider and energies.model_id = hosts.model_id
    where hosts.hosting_kind <> 'api'
),

known as (
    select
        measured.gpu,
        measured.policy,
        measured.lever,
        measured.phase,
        measured.energy_ratio,
        measured.energy_low_ratio,
        measured.energy_high_ratio,
        measured.throughput_ratio,
        measured.throughput_low_ratio,
        measured.throughput_high_ratio,
        measured.bound_verdict,
        'B' as evidence_grade,
        case
            when measured.is_generated then 'generated power logs'
            else 'own power logs'
        end as factor_source,
        1 as source_order
    from stg_measured_factors as measured
    union all
    select
        told.gpu,
        told.policy,
        told.lever,
        told.phase,
        told.energy_ratio,
        told.energy_low_ratio,
        told.energy_high_ratio,
        told.throughput_ratio,
        told.throughput_low_ratio,
        told.throughput_high_ratio,
        null as bound_verdict,
        told.evidence_grade,
        'papers' as factor_source,
        2 as source_order
    from stg_power_factors as told
    where told.energy_ratio is not null
),

carried as (
    select
        served.gpu,
        known.policy,
        known.lever,
        known.phase,
        known.energy_ratio,
        known.energy_low_ratio,
        known.energy_high_ratio,
        known.throughput_ratio,
        known.throughput_low_ratio,
        known.throughput_high_ratio,
        case when known.gpu = served.gpu then known.bound_verdict end as bound_verdict,
        case when known.gpu = served.gpu then known.evidence_grade else 'C' end as evidence_grade,
        case
            when known.gpu = served.gpu then known.factor_source
            else known.factor_source || ', carried over from ' || known.gpu
        end as factor_source,
        case when known.gpu = served.gpu then 0 else 10 end + known.source_order as source_order,
        known.gpu as measured_gpu
    from served
    cross join known
    left join stg_gpus as here on served.gpu = here.gpu
    left join stg_gpus as there on known.gpu = there.gpu
    where
        known.gpu = served.gpu
        or known.lever = 'lock'
        or here.board_power_w = there.board_power_w
),

ordered as (
    select
        carried.gpu,
        carried.policy,
        carried.lever,
        carried.phase,
        carried.energy_ratio,
        carried.energy_low_ratio,
        carried.energy_high_ratio,
        carried.throughput_ratio,
        carried.throughput_low_ratio,
        carried.throughput_high_ratio,
        carried.bound_verdict,
        carried.evidence_grade,
        carried.factor_source,
        row_number() over (
            partition by carried.gpu, carried.policy, carried.phase
            order by carried.source_order, carried.measured_gpu
        ) as place
    from carried
)

select
    ordered.gpu::varchar as gpu,
    ordered.policy::varchar as policy,
    ordered.lever::varchar as lever,
    ordered.phase::varchar as phase,
    ordered.energy_ratio::double as energy_ratio,
    least(ordered.energy_low_ratio, ordered.energy_ratio)::double as energy_low_ratio,
    greatest(ordered.energy_high_ratio, ordered.energy_ratio)::double as energy_high_ratio,
    ordered.throughput_ratio::double as throughput_ratio,
    least(ordered.throughput_low_ratio, ordered.throughput_ratio)::double as throughput_low_ratio,
    greatest(ordered.throughput_high_ratio, ordered.throughput_ratio)::double
        as throughput_high_ratio,
    ordered.bound_verdict::varchar as bound_verdict,
    ordered.evidence_grade::varchar as evidence_grade,
    ordered.factor_source::varchar as factor_source
from ordered
where ordered.place = 1
