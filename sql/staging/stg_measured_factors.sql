-- What a setting of one GPU multiplied energy and throughput of a phase by in the company's own power
-- logs, with the verdict on its cap.
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
    bound_verdict::varchar as bound_verdict,
    is_generated::boolean as is_generated
from raw_measured_factors
