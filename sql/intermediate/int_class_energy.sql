-- Energy of one model and class in joules of GPU boards, with its range and what it rests on.
-- A closed model's energy is the geometric mean of its stand-ins' totals; its three terms are the
-- stand-ins' geometric means scaled to add up to it. The range is that of its joint draws, from the
-- 5 % to the 95 % one; an A whose draws spread further than an A may is a B.
-- The rates price one token moment each, so that teams and requests share out exactly this energy.
-- Requests without a single input token (refused, failed at once) had no work: their energy is 0.
-- grain: month, provider, model_id, query_class

with

blended as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        work.batch,
        deployments.stand_in_tier,
        deployments.hosting_kind,
        count(*) as architecture_count,
        min(deployments.architecture_class) as architecture_class,
        min(deployments.gpu) as gpu,
        min(deployments.stack) as stack,
        min(deployments.coefficient_set_id) as coefficient_set_id,
        max(work.gpu_count) as gpu_count,
        max(work.prefill_flop) as prefill_flop,
        max(work.decode_flop) as decode_flop,
        max(work.decode_attention_flop) as decode_attention_flop,
        max(work.kv_read_bytes) as kv_read_bytes,
        max(work.weight_read_bytes) as weight_read_bytes,
        max(work.layer_steps) as layer_steps,
        geometric_mean(energies.bias_factor) as bias_factor,
        geometric_mean(work.prefill_energy_j) as prefill_mean_j,
        geometric_mean(work.kv_cache_energy_j) as kv_cache_mean_j,
        geometric_mean(work.next_token_energy_j) as next_token_mean_j,
        geometric_mean(energies.energy_j) as energy_j,
        geometric_mean(energies.gpu_energy_j) as gpu_energy_j,
        geometric_mean(work.energy_j_per_prefilled_token) as energy_j_per_prefilled_token,
        geometric_mean(work.energy_j_per_pair) as energy_j_per_pair,
        geometric_mean(work.energy_j_per_prompt) as energy_j_per_prompt,
        geometric_mean(work.energy_j_per_cache_position) as energy_j_per_cache_position,
        geometric_mean(work.energy_j_per_decode_step) as energy_j_per_decode_step,
        geometric_mean(work.energy_j_per_pass) as energy_j_per_pass,
        geometric_mean(work.optimum_output_tokens) as optimum_output_tokens
    from int_class_work as work
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    inner join int_architecture_energy as energies
        on
            work.month = energies.month
            and work.provider = energies.provider
            and work.model_id = energies.model_id
            and work.query_class = energies.query_class
            and work.architecture_id = energies.architecture_id
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
        ) as rate_scale_ratio
    from blended
    inner join int_class_moments as moments
        on
            blended.month = moments.month
            and blended.provider = moments.provider
            and blended.model_id = moments.model_id
            and blended.query_class = moments.query_class
),

ends as (
    select
        draws.month,
        draws.provider,
        draws.model_id,
        draws.query_class,
        drawn_p05(draws.gpu_energy_j) as gpu_energy_low_j,
        drawn_p95(draws.gpu_energy_j) as gpu_energy_high_j,
        drawn_p05(draws.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p95(draws.facility_energy_kwh) as facility_energy_high_kwh
    from int_class_draws as draws
    group by all
),

facility as (
    select
        host.value * idle.value * pue.value as facility_ratio,
        grid.value as carbon_gco2e_per_kwh,
        tariff.value as electricity_usd_per_kwh
    from stg_assumptions as host
    inner join stg_assumptions as idle on idle.assumption = 'idle_ratio'
    inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
    inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
    inner join stg_assumptions as tariff on tariff.assumption = 'electricity_usd_per_kwh'
    where host.assumption = 'host_ratio'
),

-- A value that no world reaches ends its own range.
ranged as (
    select
        blended.month,
        blended.provider,
        blended.model_id,
        blended.query_class,
        doubts.evidence_grade,
        least(ends.gpu_energy_low_j, blended.gpu_energy_j) as energy_low_j,
        greatest(ends.gpu_energy_high_j, blended.gpu_energy_j) as energy_high_j,
        facility_energy_kwh(blended.gpu_energy_j, facility.facility_ratio) as facility_energy_kwh,
        least(
            ends.facility_energy_low_kwh,
            facility_energy_kwh(blended.gpu_energy_j, facility.facility_ratio)
        ) as facility_energy_low_kwh,
        greatest(
            ends.facility_energy_high_kwh,
            facility_energy_kwh(blended.gpu_energy_j, facility.facility_ratio)
        ) as facility_energy_high_kwh
    from blended
    inner join ends
        on
            blended.month = ends.month
            and blended.provider = ends.provider
            and blended.model_id = ends.model_id
            and blended.query_class = ends.query_class
    inner join int_class_doubts as doubts
        on
            blended.month = doubts.month
            and blended.provider = doubts.provider
            and blended.model_id = doubts.model_id
            and blended.query_class = doubts.query_class
    cross join facility
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
    case
        when
            ranged.evidence_grade = 'A'
            and ranged.energy_high_j - ranged.energy_low_j
            > 2 * widest.value * blended.gpu_energy_j
            then 'B'
        else ranged.evidence_grade
    end::varchar as evidence_grade,
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
    ranged.energy_low_j::double as energy_low_j,
    ranged.energy_high_j::double as energy_high_j,
    facility.facility_ratio::double as facility_ratio,
    ranged.facility_energy_kwh::double as facility_energy_kwh,
    ranged.facility_energy_low_kwh::double as facility_energy_low_kwh,
    ranged.facility_energy_high_kwh::double as facility_energy_high_kwh,
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
inner join ranged
    on
        blended.month = ranged.month
        and blended.provider = ranged.provider
        and blended.model_id = ranged.model_id
        and blended.query_class = ranged.query_class
inner join stg_assumptions as widest on widest.assumption = 'grade_a_half_width_frac'
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
    0::double as energy_low_j,
    0::double as energy_high_j,
    facility.facility_ratio::double as facility_ratio,
    0::double as facility_energy_kwh,
    0::double as facility_energy_low_kwh,
    0::double as facility_energy_high_kwh,
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
