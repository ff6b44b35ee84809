-- One month's bill for the GPUs that serve a model: so many GPUs, each billed for so many hours.
-- materialised: view
-- grain: month, deployment, gpu

select
    month::varchar as month,
    deployment::varchar as deployment,
    gpu::varchar as gpu,
    gpu_count::decimal(18, 0) as gpu_count,
    hours::decimal(18, 6) as hours,
    usd::decimal(24, 9) as usd,
    lower(bill_includes_power)::boolean as bill_includes_power
from raw_hosting_costs
