-- What serving more requests together would save: the energy of each model and class at batch 1,
-- 2, 4 and so on, and at the effective batch, which is that of mart_energy_per_class. Work is
-- summed once; only the weights that a pass reads (with experts, more of them) and what the batch
-- shares follow it. The batch of an API model is an assumption, so its line is a what-if as well.
-- The effective batch has the range of the report; at any other, taken as given, it is the
-- grade's own. What a batch would save of the energy at the one in force is compared world by world
-- over the joint draws: a batch in force that is itself unsure may lie above it. Below nine worlds
-- of ten that save it is within noise.
-- grain: month, provider, model_id, query_class, batch

with

priced as (
    select
        ladder.month,
        ladder.provider,
        ladder.model_id,
        ladder.query_class,
        ladder.batch,
        ladder.is_effective,
        work.prefill_energy_j + work.kv_cache_energy_j
        + next_token_energy_j(
            sets.a_j_per_flop, sets.c_j_per_weight_byte, sets.s_j_per_layer_step,
            sets.s_j_per_step, work.decode_flop,
            weight_read_bytes(sizes.weight_bytes, moments.passes), work.layer_steps,
            moments.passes * work.gpu_count, ladder.batch
        ) as energy_j
    from int_batch_ladder as ladder
    inner join int_class_work as work
        on
            ladder.month = work.month
            and ladder.provider = work.provider
            and ladder.model_id = work.model_id
            and ladder.query_class = work.query_class
    inner join int_class_moments as moments
        on
            ladder.month = moments.month
            and ladder.provider = moments.provider
            and ladder.model_id = moments.model_id
            and ladder.query_class = moments.query_class
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    inner join stg_coefficients as sets
        on deployments.coefficient_set_id = sets.coefficient_set_id
    inner join int_model_work as sizes
        on
            deployments.architecture_id = sizes.architecture_id
            and deployments.bytes_per_weight = sizes.bytes_per_weight
            and ladder.batch = sizes.batch
),

blended as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.batch,
        priced.is_effective,
        geometric_mean(priced.energy_j) as energy_j
    from priced
    group by all
),

ranged as (
    select
        blended.month,
        blended.provider,
        blended.model_id,
        blended.query_class,
        blended.batch,
        blended.is_effective,
        blended.energy_j,
        energy.hosting_kind,
        energy.stand_in_tier,
        energy.evidence_grade,
        energy.coefficient_set_id,
        energy.facility_ratio,
        blended.energy_j * energy.bias_factor as gpu_energy_j,
        case
            when blended.is_effective then energy.energy_low_j
            else blended.energy_j * energy.bias_factor * ranges.low_ratio
        end as energy_low_j,
        case
            when blended.is_effective then energy.energy_high_j
            else blended.energy_j * energy.bias_factor * ranges.high_ratio
        end as energy_high_j
    from blended
    inner join int_class_energy as energy
        on
            blended.month = energy.month
            and blended.provider = energy.provider
            and blended.model_id = energy.model_id
            and blended.query_class = energy.query_class
    inner join stg_grade_ranges as ranges on energy.evidence_grade = ranges.evidence_grade
),

-- To twelve digits, so that a batch held against itself saves nothing.
worlds as (
    select
        draws.month,
        draws.provider,
        draws.model_id,
        draws.query_class,
        draws.batch,
        (1 - draws.gpu_energy_j / nullif(draws.in_force_energy_j, 0))::decimal(38, 12)
            as saving_frac
    from int_batch_draws as draws
),

ends as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        worlds.batch,
        drawn_p05(worlds.saving_frac) as low_frac,
        drawn_p50(worlds.saving_frac) as p50_frac,
        drawn_p95(worlds.saving_frac) as high_frac,
        drawn_positive_frac(worlds.saving_frac) as positive_frac
    from worlds
    group by all
),

savings as (
    select
        ranged.month,
        ranged.provider,
        ranged.model_id,
        ranged.query_class,
        ranged.batch,
        1 - ranged.gpu_energy_j / nullif(in_force.gpu_energy_j, 0) as saving_frac
    from ranged
    inner join ranged as in_force
        on
            ranged.month = in_force.month
            and ranged.provider = in_force.provider
            and ranged.model_id = in_force.model_id
            and ranged.query_class = in_force.query_class
            and in_force.is_effective
    where not ranged.is_effective
)

select
    ranged.month::varchar as month,
    ranged.provider::varchar as provider,
    ranged.model_id::varchar as model_id,
    ranged.query_class::varchar as query_class,
    ranged.batch::double as batch,
    ranged.is_effective::boolean as is_effective,
    batches.batch_source::varchar as batch_source,
    batches.batch_max::double as batch_max,
    ranged.hosting_kind::varchar as hosting_kind,
    ranged.stand_in_tier::varchar as stand_in_tier,
    ranged.evidence_grade::varchar as evidence_grade,
    ranged.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    moments.prompts::bigint as request_count,
    moments.passes::bigint as output_tokens,
    ranged.energy_j::double as energy_j,
    ranged.gpu_energy_j::double as gpu_energy_j,
    ranged.energy_low_j::double as energy_low_j,
    ranged.energy_high_j::double as energy_high_j,
    facility_energy_kwh(ranged.gpu_energy_j, ranged.facility_ratio)::double
        as facility_energy_kwh,
    (ranged.gpu_energy_j / moments.prompts::double)::double as energy_j_per_request,
    (ranged.gpu_energy_j / nullif(moments.passes, 0)::double)::double
        as energy_j_per_output_token,
    (
        facility_energy_kwh(ranged.gpu_energy_j, ranged.facility_ratio) / moments.prompts::double
    )::double as facility_energy_kwh_per_request,
    savings.saving_frac::double as saving_frac,
    case when not ranged.is_effective then least(ends.low_frac, savings.saving_frac) end::double
        as saving_low_frac,
    case when not ranged.is_effective then ends.p50_frac end::double as saving_p50_frac,
    case when not ranged.is_effective then greatest(ends.high_frac, savings.saving_frac) end
    ::double as saving_high_frac,
    case when not ranged.is_effective then ends.positive_frac end::double
        as saving_positive_frac,
    case
        when not ranged.is_effective then 'enough requests wait together to fill this batch'
    end::varchar as assumption
from ranged
left join savings
    on
        ranged.month = savings.month
        and ranged.provider = savings.provider
        and ranged.model_id = savings.model_id
        and ranged.query_class = savings.query_class
        and ranged.batch = savings.batch
left join ends
    on
        ranged.month = ends.month
        and ranged.provider = ends.provider
        and ranged.model_id = ends.model_id
        and ranged.query_class = ends.query_class
        and ranged.batch = ends.batch
inner join int_class_moments as moments
    on
        ranged.month = moments.month
        and ranged.provider = moments.provider
        and ranged.model_id = moments.model_id
        and ranged.query_class = moments.query_class
inner join int_batches as batches
    on
        ranged.month = batches.month
        and ranged.provider = batches.provider
        and ranged.model_id = batches.model_id
        and ranged.query_class = batches.query_class
cross join raw_method as method
