-- Kinds of attention against GQA: energy of one request on an H200, and the output length and batch
-- from which a kind takes less (or more) of it. One reference shape, Llama-3.1-8B, in which only the
-- attention is another. By the law alone, whose coefficients were fitted to other shapes, so the
-- grade is C; arithmetic on the state itself is not counted, its bytes are.
-- With m output tokens a request takes constant + linear · m + square · m², so the difference to GQA
-- crosses 0 at the roots of its own such polynomial; crossing_output_tokens is the first of 1 or
-- more. In the batch the difference is what a request has for itself plus what passes share, over the
-- batch; crossing_batch is where they even out, at energy_output_tokens.
-- grain: family, input_tokens, batch

with

asked as (
    select
        families.family,
        families.layers,
        families.meaning,
        parts.mixing_params + parts.held_ffn_params as body_params,
        parts.head_params,
        parts.attention_flop_per_pair,
        parts.kv_bytes_per_position,
        parts.state_bytes,
        weight_bytes(
            families.bytes_per_weight,
            parts.mixing_params + parts.held_ffn_params + parts.head_params
        ) as weight_bytes,
        lengths.input_tokens,
        1000 as output_tokens,
        batches.batch,
        sets.coefficient_set_id,
        -- the embedding is held beside the head
        batch_max(
            usable.value, 1, gpus.memory_gb,
            weight_bytes(
                families.bytes_per_weight,
                parts.mixing_params + parts.held_ffn_params + 2 * parts.head_params
            ),
            parts.kv_bytes_per_position, lengths.input_tokens + 1000, parts.state_bytes
        ) as batch_max
    from stg_attention_families as families
    inner join int_architectures as parts
        on 'attention ' || families.family = parts.architecture_id
    cross join (values (1024), (8192), (32768)) as lengths (input_tokens)
    cross join (values (1), (8), (32), (64)) as batches (batch)
    cross join stg_coefficients as sets
    inner join stg_gpus as gpus on sets.gpu = gpus.gpu
    inner join stg_assumptions as usable on usable.assumption = 'gpu_memory_usable_frac'
    where sets.is_default and sets.gpu = 'H200-SXM'
),

-- World 0 is the value, the others are the joint draws. A kind of attention that no measurement
-- stands behind errs as its class of architecture does.
worlds as (
    select
        0 as draw,
        1.0 as a_ratio,
        1.0 as b_ratio,
        1.0 as c_ratio,
        1.0 as s_ratio,
        1.0 as latent_ratio,
        1.0 as state_ratio
    union all
    select
        draws.draw,
        draws.a_ratio,
        draws.b_ratio,
        draws.c_ratio,
        draws.s_ratio,
        drawn_value(1, ranges.low_ratio, ranges.high_ratio, latent.z_score) as latent_ratio,
        drawn_value(1, ranges.low_ratio, ranges.high_ratio, stateful.z_score) as state_ratio
    from int_draws as draws
    inner join int_own_errors as latent on draws.draw = latent.draw and latent.error_of = 'mla'
    inner join int_own_errors as stateful
        on draws.draw = stateful.draw and stateful.error_of = 'hybrid'
    inner join stg_grade_ranges as ranges on ranges.evidence_grade = 'C'
),

-- What a request is made of, in joules.
parts as (
    select
        asked.family,
        asked.input_tokens,
        asked.output_tokens,
        asked.batch,
        worlds.draw,
        case
            when asked.family = 'MLA' then worlds.latent_ratio
            when asked.state_bytes > 0 then worlds.state_ratio
            else 1
        end as own_ratio,
        prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, 2 * asked.body_params)
            as prefilled_token_j,
        prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, asked.attention_flop_per_pair)
            as pair_j,
        prefill_energy_j(worlds.a_ratio * sets.a_j_per_flop, 2 * asked.head_params) as prompt_j,
        worlds.b_ratio * sets.b_j_per_kv_byte * asked.kv_bytes_per_position as position_j,
        prefill_energy_j(
            worlds.a_ratio * sets.a_j_per_flop, 2 * (asked.body_params + asked.head_params)
        ) as step_j,
        worlds.b_ratio * sets.b_j_per_kv_byte * state_moved_bytes(asked.state_bytes, 1)
            as state_pass_j,
        worlds.c_ratio * sets.c_j_per_weight_byte * asked.weight_bytes
        + worlds.s_ratio * (sets.s_j_per_layer_step * asked.layers + sets.s_j_per_step)
            as shared_pass_j
    from asked
    inner join stg_coefficients as sets on asked.coefficient_set_id = sets.coefficient_set_id
    cross join worlds
),

-- Pairs of decode are n·m + m²/2 − m/2 − n, positions read n·m + m²/2 − m/2.
shaped as (
    select
        parts.family,
        parts.input_tokens,
        parts.output_tokens,
        parts.batch,
        parts.draw,
        parts.own_ratio * (
            parts.prefilled_token_j * parts.input_tokens
            + parts.pair_j * prefill_pairs(parts.input_tokens, 0, 1, 1)
            + parts.prompt_j
        ) as prefill_j,
        parts.own_ratio * (
            parts.prefilled_token_j * parts.input_tokens
            + parts.pair_j * (prefill_pairs(parts.input_tokens, 0, 1, 1) - parts.input_tokens)
            + parts.prompt_j - parts.step_j
        ) as constant_j,
        parts.own_ratio * (
            (parts.pair_j + parts.position_j) * (parts.input_tokens - 0.5)
            + parts.step_j + parts.state_pass_j
        ) as own_linear_j,
        parts.own_ratio * parts.shared_pass_j as shared_linear_j,
        parts.own_ratio * (parts.pair_j + parts.position_j) / 2 as square_j
    from parts
),

compared as (
    select
        shaped.family,
        shaped.input_tokens,
        shaped.output_tokens,
        shaped.batch,
        shaped.draw,
        shaped.prefill_j,
        shaped.constant_j
        + (shaped.own_linear_j + shaped.shared_linear_j / shaped.batch) * shaped.output_tokens
        + shaped.square_j * shaped.output_tokens * shaped.output_tokens as energy_j,
        gqa.constant_j
        + (gqa.own_linear_j + gqa.shared_linear_j / gqa.batch) * gqa.output_tokens
        + gqa.square_j * gqa.output_tokens * gqa.output_tokens as gqa_energy_j,
        gqa.prefill_j as gqa_prefill_j,
        shaped.constant_j - gqa.constant_j as constant_j,
        shaped.own_linear_j - gqa.own_linear_j
        + (shaped.shared_linear_j - gqa.shared_linear_j) / shaped.batch as linear_j,
        shaped.square_j - gqa.square_j as square_j,
        shaped.constant_j - gqa.constant_j
        + (shaped.own_linear_j - gqa.own_linear_j) * shaped.output_tokens
        + (shaped.square_j - gqa.square_j) * shaped.output_tokens * shaped.output_tokens
            as own_difference_j,
        (shaped.shared_linear_j - gqa.shared_linear_j) * shaped.output_tokens
            as shared_difference_j
    from shaped
    inner join shaped as gqa
        on
            shaped.input_tokens = gqa.input_tokens
            and shaped.batch = gqa.batch
            and shaped.draw = gqa.draw
            and gqa.family = 'GQA'
),

solved as (
    select
        compared.family,
        compared.input_tokens,
        compared.output_tokens,
        compared.batch,
        compared.draw,
        compared.prefill_j,
        compared.gqa_prefill_j,
        compared.energy_j,
        compared.gqa_energy_j,
        compared.constant_j + compared.linear_j + compared.square_j as first_difference_j,
        case
            when compared.own_difference_j * compared.shared_difference_j < 0
                then -compared.shared_difference_j / compared.own_difference_j
        end as crossing_batch,
        case
            when
                compared.square_j <> 0
                and compared.linear_j * compared.linear_j
                >= 4 * compared.square_j * compared.constant_j
                then
                    (
                        -compared.linear_j - sqrt(
                            compared.linear_j * compared.linear_j
                            - 4 * compared.square_j * compared.constant_j
                        )
                    ) / (2 * compared.square_j)
            when compared.square_j = 0 and compared.linear_j <> 0
                then -compared.constant_j / compared.linear_j
        end as one_root_tokens,
        case
            when
                compared.square_j <> 0
                and compared.linear_j * compared.linear_j
                >= 4 * compared.square_j * compared.constant_j
                then
                    (
                        -compared.linear_j + sqrt(
                            compared.linear_j * compared.linear_j
                            - 4 * compared.square_j * compared.constant_j
                        )
                    ) / (2 * compared.square_j)
        end as other_root_tokens
    from compared
    where compared.family <> 'GQA'
),

crossed as (
    select
        solved.family,
        solved.input_tokens,
        solved.output_tokens,
        solved.batch,
        solved.draw,
        solved.prefill_j / solved.gqa_prefill_j as prefill_ratio,
        solved.energy_j,
        solved.energy_j / solved.gqa_energy_j as energy_ratio,
        solved.first_difference_j,
        case when solved.crossing_batch >= 1 then solved.crossing_batch end as crossing_batch,
        least(
            case when solved.one_root_tokens >= 1 then solved.one_root_tokens end,
            case when solved.other_root_tokens >= 1 then solved.other_root_tokens end
        ) as crossing_output_tokens
    from solved
),

ends as (
    select
        crossed.family,
        crossed.input_tokens,
        crossed.batch,
        max(case when crossed.draw = 0 then crossed.prefill_ratio end) as prefill_ratio,
        max(case when crossed.draw = 0 then crossed.energy_j end) as energy_j,
        drawn_p05(case when crossed.draw > 0 then crossed.energy_j end) as energy_low_j,
        drawn_p95(case when crossed.draw > 0 then crossed.energy_j end) as energy_high_j,
        max(case when crossed.draw = 0 then crossed.energy_ratio end) as energy_ratio,
        drawn_p05(case when crossed.draw > 0 then crossed.energy_ratio end) as energy_low_ratio,
        drawn_p95(case when crossed.draw > 0 then crossed.energy_ratio end) as energy_high_ratio,
        max(case when crossed.draw = 0 then crossed.first_difference_j end) as first_difference_j,
        max(case when crossed.draw = 0 then crossed.crossing_batch end) as crossing_batch,
        max(case when crossed.draw = 0 then crossed.crossing_output_tokens end)
            as crossing_output_tokens
    from crossed
    group by all
)

select
    asked.family::varchar as family,
    asked.input_tokens::bigint as input_tokens,
    asked.batch::double as batch,
    asked.meaning::varchar as meaning,
    'C'::varchar as evidence_grade,
    asked.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    asked.batch_max::double as batch_max,
    asked.output_tokens::bigint as energy_output_tokens,
    ends.prefill_ratio::double as prefill_ratio,
    ends.energy_j::double as energy_j_per_request,
    least(ends.energy_low_j, ends.energy_j)::double as energy_low_j_per_request,
    greatest(ends.energy_high_j, ends.energy_j)::double as energy_high_j_per_request,
    ends.energy_ratio::double as energy_ratio,
    least(ends.energy_low_ratio, ends.energy_ratio)::double as energy_low_ratio,
    greatest(ends.energy_high_ratio, ends.energy_ratio)::double as energy_high_ratio,
    case
        when asked.batch_max >= asked.batch and gqa.batch_max >= asked.batch
            then ends.crossing_output_tokens
    end::double as crossing_output_tokens,
    ends.crossing_batch::double as crossing_batch,
    case
        when asked.batch_max < asked.batch then 'its own cache does not hold this batch'
        when gqa.batch_max < asked.batch then 'the cache of GQA does not hold this batch'
        when ends.crossing_output_tokens is not null and ends.first_difference_j > 0
            then 'less energy from this length on'
        when ends.crossing_output_tokens is not null then 'more energy from this length on'
        when ends.first_difference_j > 0 then 'more energy at every length'
        else 'less energy at every length'
    end::varchar as crossing_meaning
from asked
inner join ends
    on
        asked.family = ends.family
        and asked.input_tokens = ends.input_tokens
        and asked.batch = ends.batch
inner join asked as gqa
    on asked.input_tokens = gqa.input_tokens and asked.batch = gqa.batch and gqa.family = 'GQA'
cross join raw_method as method
