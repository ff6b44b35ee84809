-- severity: error
-- meaning: low <= value <= high for every energy, and none is without its range

select
    mart_energy_per_class.month,
    mart_energy_per_class.provider,
    mart_energy_per_class.model_id,
    mart_energy_per_class.query_class,
    mart_energy_per_class.energy_low_j,
    mart_energy_per_class.gpu_energy_j,
    mart_energy_per_class.energy_high_j
from mart_energy_per_class
where
    mart_energy_per_class.gpu_energy_j is not null
    and not coalesce(
        mart_energy_per_class.energy_low_j <= mart_energy_per_class.gpu_energy_j
        and mart_energy_per_class.gpu_energy_j <= mart_energy_per_class.energy_high_j,
        false
    )
