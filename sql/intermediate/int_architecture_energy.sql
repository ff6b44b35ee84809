-- Energy of one model and class on one architecture: the law, and the bias measured over it.
-- grain: month, provider, model_id, query_class, architecture_id

with

biased as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.architecture_id,
        deployments.stand_in_tier,
        deployments.architecture_class,
        coalesce(own_bias.bias_factor, any_bias.bias_factor, 1) as bias_factor,
        coalesce(own_bias.bias_low, any_bias.bias_low, 1) as bias_low,
        coalesce(own_bias.bias_high, any_bias.bias_high, 1) as bias_high,
        work.prefill_energy_j + work.kv_cache_energy_j + work.next_token_energy_j as energy_j
    from int_class_work as work
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    left join stg_bias_factors as own_bias
        on
            deployments.architecture_class = own_bias.architecture_class
            and deployments.coefficient_set_id = own_bias.coefficient_set_id
    left join stg_bias_factors as any_bias
        on
            deployments.architecture_class = any_bias.architecture_class
            and any_bias.coefficient_set_id = '*'
)

select
    biased.month::varchar as month,
    biased.provider::varchar as provider,
    biased.model_id::varchar as model_id,
    biased.query_class::varchar as query_class,
    biased.architecture_id::varchar as architecture_id,
    biased.stand_in_tier::varchar as stand_in_tier,
    biased.architecture_class::varchar as architecture_class,
    biased.bias_factor::double as bias_factor,
    (biased.bias_low / biased.bias_factor)::double as bias_low_ratio,
    (biased.bias_high / biased.bias_factor)::double as bias_high_ratio,
    biased.energy_j::double as energy_j,
    (biased.energy_j * biased.bias_factor)::double as gpu_energy_j
from biased
