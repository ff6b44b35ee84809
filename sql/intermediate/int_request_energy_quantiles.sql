-- Quantiles of the energy and of the answer lengths of single requests, for every model and class.
-- Buckets hold no single requests and stay out, and so do months that are only compared with.
-- grain: month, provider, model_id, query_class

with

energies as (
    select
        cells.cell_id,
        int_requests.output_tokens,
        int_requests.prefilled_tokens * rates.energy_j_per_prefilled_token
        + int_requests.prefill_pairs * rates.energy_j_per_pair
        + rates.energy_j_per_prompt
        + int_requests.cache_positions * rates.energy_j_per_cache_position
        + int_requests.decode_pairs * rates.energy_j_per_pair
        + int_requests.decode_steps * rates.energy_j_per_decode_step
        + int_requests.output_tokens * rates.energy_j_per_pass as gpu_energy_j
    from int_requests
    inner join int_cells as cells
        on
            int_requests.month = cells.month
            and int_requests.provider = cells.provider
            and int_requests.model_id = cells.model_id
            and int_requests.query_class = cells.query_class
    inner join int_class_energy as rates
        on
            cells.month = rates.month
            and cells.provider = rates.provider
            and cells.model_id = rates.model_id
            and cells.query_class = rates.query_class
    where int_requests.has_work and not int_requests.is_bucket and cells.is_reported
),

spreads as (
    select
        energies.cell_id,
        quantiles_50_90(energies.gpu_energy_j) as energies_j,
        quantiles_10_50_90(energies.output_tokens) as outputs_tokens
    from energies
    group by energies.cell_id
)

select
    cells.month::varchar as month,
    cells.provider::varchar as provider,
    cells.model_id::varchar as model_id,
    cells.query_class::varchar as query_class,
    nth_of(spreads.energies_j, 1)::double as request_energy_p50_j,
    nth_of(spreads.energies_j, 2)::double as request_energy_p90_j,
    nth_of(spreads.outputs_tokens, 1)::double as output_p10_tokens,
    nth_of(spreads.outputs_tokens, 2)::double as output_p50_tokens,
    nth_of(spreads.outputs_tokens, 3)::double as output_p90_tokens
from spreads
inner join int_cells as cells on spreads.cell_id = cells.cell_id
