-- Quantiles of the energy and of the answer lengths of single requests, for every model and class.
-- Buckets hold no single requests and stay out.
-- grain: month, provider, model_id, query_class

with

energies as (
    select
        int_requests.month,
        int_requests.provider,
        int_requests.model_id,
        int_requests.query_class,
        int_requests.output_tokens,
        int_requests.prefilled_tokens * rates.energy_j_per_prefilled_token
        + int_requests.prefill_pairs * rates.energy_j_per_pair
        + rates.energy_j_per_prompt
        + int_requests.cache_positions * rates.energy_j_per_cache_position
        + int_requests.decode_pairs * rates.energy_j_per_pair
        + int_requests.decode_steps * rates.energy_j_per_decode_step
        + int_requests.output_tokens * rates.energy_j_per_pass as gpu_energy_j
    from int_requests
    inner join int_class_energy as rates
        on
            int_requests.month = rates.month
            and int_requests.provider = rates.provider
            and int_requests.model_id = rates.model_id
            and int_requests.query_class = rates.query_class
    where int_requests.has_work and not int_requests.is_bucket
)

select
    energies.month::varchar as month,
    energies.provider::varchar as provider,
    energies.model_id::varchar as model_id,
    energies.query_class::varchar as query_class,
    interpolated_quantile(energies.gpu_energy_j, 0.5)::double as request_energy_p50_j,
    interpolated_quantile(energies.gpu_energy_j, 0.9)::double as request_energy_p90_j,
    interpolated_quantile(energies.output_tokens, 0.1)::double as output_p10_tokens,
    interpolated_quantile(energies.output_tokens, 0.5)::double as output_p50_tokens,
    interpolated_quantile(energies.output_tokens, 0.9)::double as output_p90_tokens
from energies
group by all
