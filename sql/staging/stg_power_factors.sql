-- What a setting of one GPU multiplies energy and throughput of a phase by, as papers tell it; null
-- where they do not.
-- materialised: view
-- grain: gpu, policy, phase

select
    gpu::varchar as gpu,
    policy::varchar as policy,
    lever::varchar as lever,
    phase::varchar as phase,
    energy_ratio::double as energy_ratio,
    energy_low_ratio::double as energy_low_ratio,
    energy_high_ratio::double as energy_high_ratio,
    throughput_ratio::double as throughput_ratio,
    throughput_low_ratio::double as throughput_low_ratio,
    throughput_high_ratio::double as throughput_high_ratio,
    evidence_grade::varchar as evidence_grade
from raw_power_factors
