-- The same work by the laws of others: energy of one model and class in joules of GPU boards, and
-- of the facility where their method says it.
-- EcoLogits goes by its published method: its own count of GPUs, server and PUE, batch 64 from 0.9
-- on. The two rules of thumb have constants fitted to the rows of the coefficient set in use; their
-- output is shared by our batch. All are linear in tokens, so a class is priced by its sums. A
-- closed model is the geometric mean of its stand-ins, as for our law.
-- grain: month, provider, model_id, query_class, law

with

constants as (
    select
        max(value) filter (
            where law = 'ecologits_0_8' and coefficient = 'kwh_per_billion_params_token'
        ) as old_kwh_per_billion_params_token,
        max(value) filter (where law = 'ecologits_0_8' and coefficient = 'kwh_per_token')
            as old_kwh_per_token,
        max(value) filter (
            where law = 'ecologits_0_9' and coefficient = 'wh_per_billion_params_token'
        ) as new_wh_per_billion_params_token,
        max(value) filter (where law = 'ecologits_0_9' and coefficient = 'batch_exponent')
            as new_batch_exponent,
        max(value) filter (where law = 'ecologits_0_9' and coefficient = 'wh_per_token')
            as new_wh_per_token
    from stg_rival_coefficients
    where scope = '*'
),

methods as (
    select
        scope as version,
        max(value) filter (where coefficient = 'bits_per_weight') as bits_per_weight,
        max(value) filter (where coefficient = 'memory_ratio') as memory_ratio,
        max(value) filter (where coefficient = 'gpu_memory_gb') as gpu_memory_gb,
        max(value) filter (where coefficient = 'latency_s_per_billion_params_token')
            as latency_s_per_billion_params_token,
        max(value) filter (where coefficient = 'latency_s_per_request_token')
            as latency_s_per_request_token,
        max(value) filter (where coefficient = 'latency_s_per_token') as latency_s_per_token,
        max(value) filter (where coefficient = 'server_power_w') as server_power_w,
        max(value) filter (where coefficient = 'server_gpus') as server_gpus,
        max(value) filter (where coefficient = 'batch') as batch,
        max(value) filter (where coefficient = 'pue_ratio') as pue_ratio
    from stg_rival_coefficients
    where law in ('ecologits_gpus', 'ecologits_server')
    group by all
),

fitted as (
    select
        scope as coefficient_set_id,
        max(value) filter (where law = 'linear' and coefficient = 'input_j_per_token')
            as input_j_per_token,
        max(value) filter (where law = 'linear' and coefficient = 'output_j_per_token')
            as output_j_per_token,
        max(value) filter (where law = 'parameters_tokens') as j_per_param_token
    from stg_rival_coefficients
    where law in ('linear', 'parameters_tokens')
    group by all
),

sized as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.batch,
        deployments.coefficient_set_id,
        moments.input_tokens,
        moments.passes,
        parts.mixing_params + parts.active_ffn_params
        + parts.head_params * case when arch.has_tied_embeddings then 1 else 2 end
            as active_params,
        parts.mixing_params + parts.held_ffn_params
        + parts.head_params * case when arch.has_tied_embeddings then 1 else 2 end
            as held_params
    from int_class_work as work
    inner join int_class_moments as moments
        on
            work.month = moments.month
            and work.provider = moments.provider
            and work.model_id = moments.model_id
            and work.query_class = moments.query_class
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    inner join stg_architectures as arch on work.architecture_id = arch.architecture_id
    inner join int_architectures as parts on work.architecture_id = parts.architecture_id
),

served as (
    select
        sized.month,
        sized.provider,
        sized.model_id,
        sized.query_class,
        sized.active_params,
        sized.passes,
        methods.version,
        methods.latency_s_per_billion_params_token,
        methods.latency_s_per_request_token,
        methods.latency_s_per_token,
        methods.server_power_w,
        methods.server_gpus,
        methods.batch,
        methods.pue_ratio,
        case
            when methods.version = '0.8.2'
                then
                    ceil(
                        ecologits_gpus(
                            methods.bits_per_weight, methods.memory_ratio, methods.gpu_memory_gb,
                            sized.held_params
                        )
                    )
            else
                pow(
                    2,
                    greatest(
                        ceil(
                            log2(
                                ecologits_gpus(
                                    methods.bits_per_weight, methods.memory_ratio,
                                    methods.gpu_memory_gb, sized.held_params
                                )
                            )
                        ),
                        0
                    )
                )
        end as gpu_count
    from sized
    cross join methods
),

ecologits as (
    select
        served.month,
        served.provider,
        served.model_id,
        served.query_class,
        served.pue_ratio,
        case when served.version = '0.8.2' then 'ecologits_0_8' else 'ecologits_0_9' end as law,
        case
            when served.version = '0.8.2'
                then
                    ecologits_0_8_j(
                        constants.old_kwh_per_billion_params_token, constants.old_kwh_per_token,
                        served.active_params, served.passes, served.gpu_count
                    )
            else
                ecologits_0_9_j(
                    constants.new_wh_per_billion_params_token, constants.new_batch_exponent,
                    constants.new_wh_per_token, served.active_params, served.passes,
                    served.batch, served.gpu_count
                )
        end as gpu_energy_j,
        ecologits_server_j(
            served.latency_s_per_billion_params_token, served.latency_s_per_request_token,
            served.latency_s_per_token, served.server_power_w, served.server_gpus,
            served.active_params, served.passes, served.batch, served.gpu_count
        ) as server_energy_j
    from served
    cross join constants
),

priced as (
    select
        ecologits.month,
        ecologits.provider,
        ecologits.model_id,
        ecologits.query_class,
        ecologits.law,
        ecologits.gpu_energy_j,
        ecologits.pue_ratio * (ecologits.gpu_energy_j + ecologits.server_energy_j)
            as facility_energy_j
    from ecologits
    union all
    select
        sized.month,
        sized.provider,
        sized.model_id,
        sized.query_class,
        'linear' as law,
        linear_j(
            fitted.input_j_per_token, fitted.output_j_per_token, sized.input_tokens,
            sized.passes::double / sized.batch
        ) as gpu_energy_j,
        null as facility_energy_j
    from sized
    inner join fitted on sized.coefficient_set_id = fitted.coefficient_set_id
    union all
    select
        sized.month,
        sized.provider,
        sized.model_id,
        sized.query_class,
        'parameters_tokens' as law,
        parameters_tokens_j(
            fitted.j_per_param_token, sized.active_params, sized.passes::double / sized.batch
        ) as gpu_energy_j,
        null as facility_energy_j
    from sized
    inner join fitted on sized.coefficient_set_id = fitted.coefficient_set_id
)

select
    priced.month::varchar as month,
    priced.provider::varchar as provider,
    priced.model_id::varchar as model_id,
    priced.query_class::varchar as query_class,
    priced.law::varchar as law,
    geometric_mean(priced.gpu_energy_j)::double as gpu_energy_j,
    case
        when count(priced.facility_energy_j) > 0 then geometric_mean(priced.facility_energy_j)
    end::double as facility_energy_j
from priced
group by all
