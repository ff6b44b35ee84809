-- severity: error
-- meaning: prefill + KV cache + next token = energy, within one part in a thousand million

select
    mart_energy_per_class.month,
    mart_energy_per_class.provider,
    mart_energy_per_class.model_id,
    mart_energy_per_class.query_class,
    mart_energy_per_class.energy_j,
    mart_energy_per_class.prefill_energy_j
    + mart_energy_per_class.kv_cache_energy_j
    + mart_energy_per_class.next_token_energy_j as sum_of_terms_j
from mart_energy_per_class
where
    mart_energy_per_class.energy_j is not null
    and not coalesce(
        abs(
            mart_energy_per_class.energy_j
            - mart_energy_per_class.prefill_energy_j
            - mart_energy_per_class.kv_cache_energy_j
            - mart_energy_per_class.next_token_energy_j
        ) <= 0.000000001 * mart_energy_per_class.energy_j,
        false
    )
