-- One GPU and its memory in decimal gigabytes.
-- materialised: view
-- grain: gpu

select
    gpu::varchar as gpu,
    memory_gb::double as memory_gb,
    board_power_w::double as board_power_w
from raw_gpus
