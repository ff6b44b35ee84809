-- What levers of an architecture do to the energy of one request: how many KV heads, depth against
-- width, precision of weights and cache. One reference shape (Llama-3.1-8B) on one H100, with its
-- default coefficient set, at the mean lengths of the class that takes most energy in the month,
-- asked at batch 1, 8 and 64 and served at as much of it as its cache holds (served_batch).
-- By the law alone, without bias factors: coefficients of two dense 16-bit models are carried to
-- shapes and precisions that nobody measured, so the grade is C. A saving is against the reference
-- at the same batch asked; its range comes from the joint draws of the coefficients, and for latent
-- attention from the errors of its class over the range of grade C as well.
-- Where reason says why not, the variant has no energy.
-- grain: month, variant, batch

with

classes as (
    select
        moments.month,
        moments.query_class,
        sum(energy.gpu_energy_j::decimal(38, 15)) as gpu_energy_j,
        sum(moments.prompts) as prompts,
        sum(moments.input_tokens) as input_tokens,
        sum(moments.prefilled_tokens) as prefilled_tokens,
        sum(moments.passes) as passes
    from int_class_moments as moments
    inner join int_class_energy as energy
        on
            moments.month = energy.month
            and moments.provider = energy.provider
            and moments.model_id = energy.model_id
            and moments.query_class = energy.query_class
    where moments.passes > 0
    group by all
),

ordered as (
    select
        classes.month,
        classes.query_class,
        classes.input_tokens::double / classes.prompts::double as mean_input_tokens,
        (classes.input_tokens - classes.prefilled_tokens)::double / classes.prompts::double
            as mean_cached_tokens,
        classes.passes::double / classes.prompts::double as mean_output_tokens,
        row_number() over (
            partition by classes.month order by classes.gpu_energy_j desc, classes.query_class asc
        ) as class_number
    from classes
),

asked as (
    select
        ordered.month,
        ordered.query_class,
        ordered.mean_input_tokens,
        ordered.mean_cached_tokens,
        ordered.mean_output_tokens,
        variants.variant,
        variants.lever,
        variants.step,
        variants.meaning,
        variants.architecture_class,
        variants.layers,
        batches.batch,
        sets.coefficient_set_id,
        parts.mixing_params + parts.held_ffn_params as body_params,
        parts.head_params,
        parts.attention_flop_per_pair,
        parts.kv_bytes_per_position,
        weight_bytes(
            variants.bytes_per_weight,
            parts.mixing_params + parts.held_ffn_params + parts.head_params
        ) as weight_bytes,
        -- the embedding is held beside the head, and read a row at a time
        batch_max(
            usable.value, 1, gpus.memory_gb,
            weight_bytes(
                variants.bytes_per_weight,
                parts.mixing_params + parts.held_ffn_params + 2 * parts.head_params
            ),
            parts.kv_bytes_per_position,
            ordered.mean_input_tokens + ordered.mean_output_tokens, 0
        ) as batch_max
    from stg_architecture_variants as variants
    inner join int_architectures as parts
        on 'variant ' || variants.variant = parts.architecture_id
    cross join (values (1), (8), (64)) as batches (batch)
    cross join stg_coefficients as sets
    inner join stg_gpus as gpus on sets.gpu = gpus.gpu
    inner join stg_assumptions as usable on usable.assumption = 'gpu_memory_usable_frac'
    cross join ordered
    where sets.is_default and sets.gpu = 'H100-SXM' and ordered.class_number = 1
),

-- World 0 is the value, the others are the joint draws.
worlds as (
    select
        0 as draw,
        1.0 as a_ratio,
        1.0 as b_ratio,
        1.0 as c_ratio,
        1.0 as s_ratio,
        1.0 as stack_ratio,
        1.0 as latent_ratio
    union all
    select
        draws.draw,
        draws.a_ratio,
        draws.b_ratio,
        draws.c_ratio,
        draws.s_ratio,
        draws.stack_ratio,
        drawn_value(1, ranges.low_ratio, ranges.high_ratio, own.z_score) as latent_ratio
    from int_draws as draws
    inner join int_own_errors as own on draws.draw = own.draw and own.error_of = 'mla'
    inner join stg_grade_ranges as ranges on ranges.evidence_grade = 'C'
),

priced as (
    select
        asked.month,
        asked.variant,
        asked.lever,
        asked.batch,
        worlds.draw,
        worlds.stack_ratio
        * case when asked.architecture_class = 'mla' then worlds.latent_ratio else 1 end
        * request_energy_j(
            prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, 2 * asked.body_params),
            prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, asked.attention_flop_per_pair),
            prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, 2 * asked.head_params),
            kv_cache_energy_j(
                worlds.a_ratio * sets.a_j_per_flop, worlds.b_ratio * sets.b_j_per_kv_byte,
                asked.kv_bytes_per_position, 0
            ),
            prefill_energy_j(
                worlds.a_ratio * sets.a_j_per_flop, 2 * (asked.body_params + asked.head_params)
            ),
            next_token_energy_j(
                worlds.a_ratio * sets.a_j_per_flop, worlds.c_ratio * sets.c_j_per_weight_byte,
                worlds.s_ratio * sets.s_j_per_layer_step, worlds.s_ratio * sets.s_j_per_step, 0,
                asked.weight_bytes, asked.layers, 1, least(asked.batch, asked.batch_max)
            ),
            asked.mean_input_tokens, asked.mean_cached_tokens, asked.mean_output_tokens
        ) as energy_j
    from asked
    inner join stg_coefficients as sets on asked.coefficient_set_id = sets.coefficient_set_id
    cross join worlds
    where asked.batch_max >= 1
),

saved as (
    select
        priced.month,
        priced.variant,
        priced.batch,
        priced.draw,
        priced.energy_j,
        1 - priced.energy_j / reference.energy_j as saving_frac
    from priced
    left join priced as reference
        on
            priced.month = reference.month
            and priced.batch = reference.batch
            and priced.draw = reference.draw
            and reference.lever = 'reference'
),

ends as (
    select
        saved.month,
        saved.variant,
        saved.batch,
        max(case when saved.draw = 0 then saved.energy_j end) as energy_j,
        drawn_p05(case when saved.draw > 0 then saved.energy_j end) as energy_low_j,
        drawn_p95(case when saved.draw > 0 then saved.energy_j end) as energy_high_j,
        max(case when saved.draw = 0 then saved.saving_frac end) as saving_frac,
        drawn_p05(case when saved.draw > 0 then saved.saving_frac end) as saving_low_frac,
        drawn_p50(case when saved.draw > 0 then saved.saving_frac end) as saving_p50_frac,
        drawn_p95(case when saved.draw > 0 then saved.saving_frac end) as saving_high_frac,
        drawn_positive_frac(case when saved.draw > 0 then saved.saving_frac end)
            as saving_positive_frac
    from saved
    group by all
)

select
    asked.month::varchar as month,
    asked.variant::varchar as variant,
    asked.batch::double as batch,
    asked.lever::varchar as lever,
    asked.step::integer as step_count,
    asked.meaning::varchar as meaning,
    'C'::varchar as evidence_grade,
    asked.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    asked.query_class::varchar as query_class,
    asked.mean_input_tokens::double as mean_input_tokens,
    asked.mean_cached_tokens::double as mean_cached_tokens,
    asked.mean_output_tokens::double as mean_output_tokens,
    asked.body_params::bigint as body_params,
    asked.kv_bytes_per_position::double as kv_bytes_per_position,
    asked.batch_max::double as batch_max,
    case when asked.batch_max >= 1 then least(asked.batch, asked.batch_max) end::double
        as served_batch,
    ends.energy_j::double as energy_j_per_request,
    least(ends.energy_low_j, ends.energy_j)::double as energy_low_j_per_request,
    greatest(ends.energy_high_j, ends.energy_j)::double as energy_high_j_per_request,
    (ends.energy_j / asked.mean_output_tokens)::double as energy_j_per_output_token,
    ends.saving_frac::double as saving_frac,
    least(ends.saving_low_frac, ends.saving_frac)::double as saving_low_frac,
    ends.saving_p50_frac::double as saving_p50_frac,
    greatest(ends.saving_high_frac, ends.saving_frac)::double as saving_high_frac,
    case when asked.lever <> 'reference' then ends.saving_positive_frac end::double
        as saving_positive_frac,
    case when asked.batch_max < 1 then 'not even one request fits beside the weights' end::varchar
        as reason,
    'answers are as good; the law holds for shapes that nobody measured'::varchar as assumption
from asked
left join ends
    on
        asked.month = ends.month
        and asked.variant = ends.variant
        and asked.batch = ends.batch
cross join raw_method as method
