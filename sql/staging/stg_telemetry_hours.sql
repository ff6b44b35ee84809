-- What one GPU drew in one hour (UTC), as its power log has it; gaps of the log are left out.
-- materialised: view
-- grain: gpu, hour_start_at

select
    month::varchar as month,
    gpu::varchar as gpu,
    gpu_name::varchar as gpu_name,
    hour_start_at::timestamp as hour_start_at,
    energy_j::double as energy_j,
    idle_energy_j::double as idle_energy_j,
    covered_s::double as covered_s
from raw_telemetry_hours
