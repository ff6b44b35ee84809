-- Energy of one model and class in joules of GPU boards, with its range and what it rests on.
-- A closed model's energy is the geometric mean of its stand-ins' totals; its three terms are the
-- stand-ins' geometric means scaled to add up to it. The range takes the batch's and the method's
-- doubt as independent: their log half-widths add in squares.
-- Where a log does not tell cached tokens apart, the usual share of the class lowers the low end.
-- The rates price one token moment each, so that teams and requests share out exactly this energy.
-- Requests without a single input token (refused, failed at once) had no work: their energy is 0.
-- grain: month, provider, model_id, query_class

with

biased as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.batch,
        work.gpu_count,
        work.prefill_flop,
        work.decode_flop,
        work.decode_attention_flop,
        work.kv_read_bytes,
        work.weight_read_bytes,
        work.layer_steps,
        work.prefill_energy_j,
        work.kv_cache_energy_j,
        work.next_token_energy_j,
        work.energy_j_per_prefilled_token,
        work.energy_j_per_pair,
        work.energy_j_per_prompt,
        work.energy_j_per_cache_position,
        work.energy_j_per_decode_step,
        work.energy_j_per_pass,
        work.optimum_output_tokens,
        deployments.stand_in_tier,
        deployments.architecture_class,
        deployments.gpu,
        deployments.stack,
        deployments.coefficient_set_id,
        deployments.hosting_kind,
        coalesce(own_bias.bias_factor, any_bias.bias_factor, 1) as bias_factor,
        coalesce(own_bias.bias_low, any_bias.bias_low, 1)
        / coalesce(own_bias.bias_factor, any_bias.bias_factor, 1) as bias_low_ratio,
        coalesce(own_bias.bias_high, any_bias.bias_high, 1)
        / coalesce(own_bias.bias_factor, any_bias.bias_factor, 1) as bias_high_ratio,
        work.prefill_energy_j + work.kv_cache_energy_j + work.next_token_energy_j as energy_j,
        work.prefill_energy_j + work.kv_cache_energy_j + work.next_token_energy_at_batch_high_j
            as energy_at_batch_high_j,
        work.prefill_energy_j + work.kv_cache_energy_j + work.next_token_energy_at_batch_low_j
            as energy_at_batch_low_j
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
),

blended as (
    select
        biased.month,
        biased.provider,
        biased.model_id,
        biased.query_class,
        biased.batch,
        biased.stand_in_tier,
        biased.hosting_kind,
        count(*) as architecture_count,
        min(biased.architecture_class) as architecture_class,
        min(biased.gpu) as gpu,
        min(biased.stack) as stack,
        min(biased.coefficient_set_id) as coefficient_set_id,
        max(biased.gpu_count) as gpu_count,
        max(biased.prefill_flop) as prefill_flop,
        max(biased.decode_flop) as decode_flop,
        max(biased.decode_attention_flop) as decode_attention_flop,
        max(biased.kv_read_bytes) as kv_read_bytes,
        max(biased.weight_read_bytes) as weight_read_bytes,
        max(biased.layer_steps) as layer_steps,
        geometric_mean(biased.bias_factor) as bias_factor,
        min(biased.bias_low_ratio) as bias_low_ratio,
        max(biased.bias_high_ratio) as bias_high_ratio,
        geometric_mean(biased.prefill_energy_j) as prefill_mean_j,
        geometric_mean(biased.kv_cache_energy_j) as kv_cache_mean_j,
        geometric_mean(biased.next_token_energy_j) as next_token_mean_j,
        geometric_mean(biased.energy_j) as energy_j,
        geometric_mean(biased.energy_j * biased.bias_factor) as gpu_energy_j,
        min(biased.energy_j * biased.bias_factor) as least_gpu_energy_j,
        max(biased.energy_j * biased.bias_factor) as most_gpu_energy_j,
        geometric_mean(biased.energy_at_batch_high_j) as energy_at_batch_high_j,
        geometric_mean(biased.energy_at_batch_low_j) as energy_at_batch_low_j,
        geometric_mean(biased.energy_j_per_prefilled_token) as energy_j_per_prefilled_token,
        geometric_mean(biased.energy_j_per_pair) as energy_j_per_pair,
        geometric_mean(biased.energy_j_per_prompt) as energy_j_per_prompt,
        geometric_mean(biased.energy_j_per_cache_position) as energy_j_per_cache_position,
        geometric_mean(biased.energy_j_per_decode_step) as energy_j_per_decode_step,
        geometric_mean(biased.energy_j_per_pass) as energy_j_per_pass,
        geometric_mean(biased.optimum_output_tokens) as optimum_output_tokens
    from biased
    group by all
),

scaled as (
    select
        blended.month,
        blended.provider,
        blended.model_id,
        blended.query_class,
        blended.architecture_count,
        blended.energy_j
        / (blended.prefill_mean_j + blended.kv_cache_mean_j + blended.next_token_mean_j)
            as term_scale_ratio,
        blended.gpu_energy_j / (
            moments.prefilled_tokens::double * blended.energy_j_per_prefilled_token
            + moments.prefill_pairs::double * blended.energy_j_per_pair
            + moments.prompts::double * blended.energy_j_per_prompt
            + moments.cache_positions::double * blended.energy_j_per_cache_position
            + moments.decode_pairs::double * blended.energy_j_per_pair
            + moments.decode_steps::double * blended.energy_j_per_decode_step
            + moments.passes::double * blended.energy_j_per_pass
        ) as rate_scale_ratio,
        grades.evidence_grade,
        sqrt(
            square(ln(blended.energy_at_batch_high_j / blended.energy_j))
            + square(
                ln(
                    least(
                        ranges.low_ratio,
                        blended.bias_low_ratio,
                        blended.least_gpu_energy_j / blended.gpu_energy_j
                    )
                )
            )
            + square(
                ln(
                    1 - cached.value
                    * moments.cache_unknown_tokens::double
                    / nullif(moments.input_tokens, 0)::double
                    * blended.prefill_mean_j
                    / (blended.prefill_mean_j + blended.kv_cache_mean_j + blended.next_token_mean_j)
                )
            )
        ) as low_log,
        sqrt(
            square(ln(blended.energy_at_batch_low_j / blended.energy_j))
            + square(
                ln(
                    greatest(
                        ranges.high_ratio,
                        blended.bias_high_ratio,
                        blended.most_gpu_energy_j / blended.gpu_energy_j
                    )
                )
            )
        ) as high_log
    from blended
    inner join int_class_moments as moments
        on
            blended.month = moments.month
            and blended.provider = moments.provider
            and blended.model_id = moments.model_id
            and blended.query_class = moments.query_class
    inner join int_class_grades as grades
        on
            blended.month = grades.month
            and blended.provider = grades.provider
            and blended.model_id = grades.model_id
            and blended.query_class = grades.query_class
    inner join stg_grade_ranges as ranges on grades.evidence_grade = ranges.evidence_grade
    inner join stg_assumptions as cached
        on cached.assumption = 'cache_read_frac_' || blended.query_class
),

facility as (
    select
        host.value * idle.value * pue.value as facility_ratio,
        sqrt(
            square(ln(host.low / host.value))
            + square(ln(idle.low / idle.value))
            + square(ln(pue.low / pue.value))
        ) as low_log,
        sqrt(
            square(ln(host.high / host.value))
            + square(ln(idle.high / idle.value))
            + square(ln(pue.high / pue.value))
        ) as high_log,
        grid.value as carbon_gco2e_per_kwh,
        tariff.value as electricity_usd_per_kwh
    from stg_assumptions as host
    inner join stg_assumptions as idle on idle.assumption = 'idle_ratio'
    inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
    inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
    inner join stg_assumptions as tariff on tariff.assumption = 'electricity_usd_per_kwh'
    where host.assumption = 'host_ratio'
)

select
    blended.month::varchar as month,
    blended.provider::varchar as provider,
    blended.model_id::varchar as model_id,
    blended.query_class::varchar as query_class,
    blended.hosting_kind::varchar as hosting_kind,
    blended.stand_in_tier::varchar as stand_in_tier,
    case when blended.stand_in_tier is null then blended.architecture_class end::varchar
        as architecture_class,
    blended.gpu::varchar as gpu,
    blended.stack::varchar as stack,
    case when blended.stand_in_tier is null then blended.gpu_count end::integer as gpu_count,
    blended.coefficient_set_id::varchar as coefficient_set_id,
    blended.batch::double as batch,
    scaled.evidence_grade::varchar as evidence_grade,
    case when blended.architecture_count = 1 then blended.prefill_flop end::decimal(38, 0)
        as prefill_flop,
    case when blended.architecture_count = 1 then blended.decode_flop end::decimal(38, 0)
        as decode_flop,
    case when blended.architecture_count = 1 then blended.decode_attention_flop end::decimal(38, 0)
        as decode_attention_flop,
    case when blended.architecture_count = 1 then blended.kv_read_bytes end::decimal(38, 0)
        as kv_read_bytes,
    case when blended.architecture_count = 1 then blended.weight_read_bytes end::decimal(38, 0)
        as weight_read_bytes,
    case when blended.architecture_count = 1 then blended.layer_steps end::decimal(38, 0)
        as layer_steps,
    case
        when blended.architecture_count = 1 then blended.prefill_mean_j
        else blended.prefill_mean_j * scaled.term_scale_ratio
    end::double as prefill_energy_j,
    case
        when blended.architecture_count = 1 then blended.kv_cache_mean_j
        else blended.kv_cache_mean_j * scaled.term_scale_ratio
    end::double as kv_cache_energy_j,
    case
        when blended.architecture_count = 1 then blended.next_token_mean_j
        else blended.next_token_mean_j * scaled.term_scale_ratio
    end::double as next_token_energy_j,
    blended.energy_j::double as energy_j,
    blended.bias_factor::double as bias_factor,
    blended.gpu_energy_j::double as gpu_energy_j,
    exp(-scaled.low_log)::double as low_ratio,
    exp(scaled.high_log)::double as high_ratio,
    facility.facility_ratio::double as facility_ratio,
    exp(-sqrt(square(scaled.low_log) + square(facility.low_log)))::double as facility_low_ratio,
    exp(sqrt(square(scaled.high_log) + square(facility.high_log)))::double as facility_high_ratio,
    facility.carbon_gco2e_per_kwh::double as carbon_gco2e_per_kwh,
    facility.electricity_usd_per_kwh::double as electricity_usd_per_kwh,
    (scaled.rate_scale_ratio * blended.energy_j_per_prefilled_token)::double
        as energy_j_per_prefilled_token,
    (scaled.rate_scale_ratio * blended.energy_j_per_pair)::double as energy_j_per_pair,
    (scaled.rate_scale_ratio * blended.energy_j_per_prompt)::double as energy_j_per_prompt,
    (scaled.rate_scale_ratio * blended.energy_j_per_cache_position)::double
        as energy_j_per_cache_position,
    (scaled.rate_scale_ratio * blended.energy_j_per_decode_step)::double
        as energy_j_per_decode_step,
    (scaled.rate_scale_ratio * blended.energy_j_per_pass)::double as energy_j_per_pass,
    blended.optimum_output_tokens::double as optimum_output_tokens
from blended
inner join scaled
    on
        blended.month = scaled.month
        and blended.provider = scaled.provider
        and blended.model_id = scaled.model_id
        and blended.query_class = scaled.query_class
cross join facility
union all
select
    moments.month::varchar as month,
    moments.provider::varchar as provider,
    moments.model_id::varchar as model_id,
    moments.query_class::varchar as query_class,
    hosts.hosting_kind::varchar as hosting_kind,
    null::varchar as stand_in_tier,
    null::varchar as architecture_class,
    null::varchar as gpu,
    null::varchar as stack,
    null::integer as gpu_count,
    null::varchar as coefficient_set_id,
    null::double as batch,
    'A'::varchar as evidence_grade,
    null::decimal(38, 0) as prefill_flop,
    null::decimal(38, 0) as decode_flop,
    null::decimal(38, 0) as decode_attention_flop,
    null::decimal(38, 0) as kv_read_bytes,
    null::decimal(38, 0) as weight_read_bytes,
    null::decimal(38, 0) as layer_steps,
    0::double as prefill_energy_j,
    0::double as kv_cache_energy_j,
    0::double as next_token_energy_j,
    0::double as energy_j,
    1::double as bias_factor,
    0::double as gpu_energy_j,
    1::double as low_ratio,
    1::double as high_ratio,
    facility.facility_ratio::double as facility_ratio,
    1::double as facility_low_ratio,
    1::double as facility_high_ratio,
    facility.carbon_gco2e_per_kwh::double as carbon_gco2e_per_kwh,
    facility.electricity_usd_per_kwh::double as electricity_usd_per_kwh,
    0::double as energy_j_per_prefilled_token,
    0::double as energy_j_per_pair,
    0::double as energy_j_per_prompt,
    0::double as energy_j_per_cache_position,
    0::double as energy_j_per_decode_step,
    0::double as energy_j_per_pass,
    null::double as optimum_output_tokens
from int_class_moments as moments
inner join int_hosts as hosts
    on moments.provider = hosts.provider and moments.model_id = hosts.model_id
cross join facility
where moments.prompts = 0 and moments.measurable_request_count > 0 and hosts.is_known_model
