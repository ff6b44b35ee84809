-- Energy of the steps of agentic tasks of one model in one state of their prefix cache, with its
-- three terms, its range, and the energy it saves on the state before it. A cache changes prefill
-- alone. Ranges are those of the joint draws.
-- grain: month, provider, model_id, cache_state

with

classes as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        steps.query_class,
        sum(steps.measurable_request_count) as measurable_request_count,
        coalesce(sum(steps.prompts), 0)::double as prompts,
        coalesce(sum(steps.passes), 0)::double as passes,
        coalesce(sum(steps.uncached_prefilled_tokens), 0)::double as uncached_prefilled_tokens,
        coalesce(sum(steps.uncached_prefill_pairs), 0)::double as uncached_prefill_pairs,
        coalesce(sum(steps.prefilled_tokens), 0)::double as prefilled_tokens,
        coalesce(sum(steps.prefill_pairs), 0)::double as prefill_pairs,
        coalesce(sum(steps.full_prefilled_tokens), 0)::double as full_prefilled_tokens,
        coalesce(sum(steps.full_prefill_pairs), 0)::double as full_prefill_pairs,
        coalesce(sum(steps.decode_pairs), 0)::double as decode_pairs,
        coalesce(sum(steps.cache_positions), 0)::double as cache_positions,
        coalesce(sum(steps.decode_steps), 0)::double as decode_steps
    from int_agent_groups as steps
    group by all
),

-- The class's rates price each token moment, so all steps of a class come to its energy.
rated as (
    select
        classes.month,
        classes.provider,
        classes.model_id,
        classes.query_class,
        classes.measurable_request_count,
        classes.passes,
        rates.batch,
        rates.coefficient_set_id,
        rates.evidence_grade,
        rates.facility_ratio,
        rates.carbon_gco2e_per_kwh,
        rates.gpu_energy_j as class_energy_j,
        classes.prefilled_tokens * rates.energy_j_per_prefilled_token
        + classes.prefill_pairs * rates.energy_j_per_pair
        + classes.prompts * rates.energy_j_per_prompt as prefill_j,
        classes.cache_positions * rates.energy_j_per_cache_position
        + classes.decode_pairs * rates.energy_j_per_pair as kv_cache_j,
        classes.decode_steps * rates.energy_j_per_decode_step
        + classes.passes * rates.energy_j_per_pass as next_token_j,
        (classes.uncached_prefilled_tokens - classes.prefilled_tokens)
        * rates.energy_j_per_prefilled_token
        + (classes.uncached_prefill_pairs - classes.prefill_pairs) * rates.energy_j_per_pair
            as saved_j,
        (classes.prefilled_tokens - classes.full_prefilled_tokens)
        * rates.energy_j_per_prefilled_token
        + (classes.prefill_pairs - classes.full_prefill_pairs) * rates.energy_j_per_pair
            as left_to_save_j
    from classes
    inner join int_class_energy as rates
        on
            classes.month = rates.month
            and classes.provider = rates.provider
            and classes.model_id = rates.model_id
            and classes.query_class = rates.query_class
),

stated as (
    select
        rated.month,
        rated.provider,
        rated.model_id,
        rated.query_class,
        kinds.cache_state,
        rated.passes,
        rated.batch,
        rated.coefficient_set_id,
        rated.evidence_grade,
        rated.facility_ratio,
        rated.carbon_gco2e_per_kwh,
        rated.measurable_request_count,
        rated.kv_cache_j,
        rated.next_token_j,
        rated.prefill_j
        + case kinds.cache_state
            when 'uncached' then rated.saved_j
            when 'fully_cached' then -rated.left_to_save_j
            else 0
        end as prefill_j,
        case kinds.cache_state
            when 'as_cached' then rated.saved_j
            when 'fully_cached' then rated.left_to_save_j
        end as saved_j
    from rated
    cross join int_cache_states as kinds
),

energies as (
    select
        stated.month,
        stated.provider,
        stated.model_id,
        stated.cache_state,
        min(stated.facility_ratio) as facility_ratio,
        min(stated.carbon_gco2e_per_kwh) as carbon_gco2e_per_kwh,
        sum(stated.measurable_request_count) as measured_request_count,
        mean_batch(stated.batch, stated.passes) as batch,
        listed_sets(stated.coefficient_set_id) as coefficient_set_id,
        worst_material_grade(
            stated.evidence_grade, stated.prefill_j + stated.kv_cache_j + stated.next_token_j,
            material.value
        ) as evidence_grade,
        sum(stated.prefill_j::decimal(38, 15))::double as prefill_j,
        sum(stated.kv_cache_j::decimal(38, 15))::double as kv_cache_j,
        sum(stated.next_token_j::decimal(38, 15))::double as next_token_j,
        sum((stated.prefill_j + stated.kv_cache_j + stated.next_token_j)::decimal(38, 15))::double
            as gpu_energy_j,
        sum(stated.saved_j::decimal(38, 15))::double as saved_j
    from stated
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

-- In one possible world: the steps' share of the class, and the prefill that a cache saves there.
-- The batch moves no prefill, nor do the other coefficients.
worlds as (
    select
        rated.month,
        rated.provider,
        rated.model_id,
        draws.draw,
        draws.facility_ratio,
        (rated.prefill_j + rated.kv_cache_j + rated.next_token_j)
        / nullif(rated.class_energy_j, 0) * class_draws.gpu_energy_j as gpu_energy_j,
        rated.saved_j,
        rated.left_to_save_j,
        draws.a_ratio
        * case when doubts.stack_power = 1 then draws.stack_ratio else 1 end
        * drawn_value(1, doubts.own_low_ratio, doubts.own_high_ratio, own.z_score) as prefill_ratio
    from rated
    inner join int_class_draws as class_draws
        on
            rated.month = class_draws.month
            and rated.provider = class_draws.provider
            and rated.model_id = class_draws.model_id
            and rated.query_class = class_draws.query_class
    inner join int_draws as draws on class_draws.draw = draws.draw
    inner join int_class_doubts as doubts
        on
            rated.month = doubts.month
            and rated.provider = doubts.provider
            and rated.model_id = doubts.model_id
            and rated.query_class = doubts.query_class
    inner join int_own_errors as own
        on class_draws.draw = own.draw and doubts.error_of = own.error_of
),

drawn as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        kinds.cache_state,
        worlds.draw,
        sum(
            (
                worlds.gpu_energy_j
                + case kinds.cache_state
                    when 'uncached' then worlds.saved_j * worlds.prefill_ratio
                    when 'fully_cached' then -worlds.left_to_save_j * worlds.prefill_ratio
                    else 0
                end
            )::decimal(38, 15)
        ) as gpu_energy_j,
        sum(
            facility_energy_kwh(
                worlds.prefill_ratio
                * case kinds.cache_state
                    when 'as_cached' then worlds.saved_j
                    when 'fully_cached' then worlds.left_to_save_j
                    else 0
                end,
                worlds.facility_ratio
            )::decimal(38, 18)
        ) as saved_kwh
    from worlds
    cross join int_cache_states as kinds
    group by all
),

ends as (
    select
        drawn.month,
        drawn.provider,
        drawn.model_id,
        drawn.cache_state,
        drawn_p05(drawn.gpu_energy_j) as energy_low_j,
        drawn_p95(drawn.gpu_energy_j) as energy_high_j,
        drawn_p05(drawn.saved_kwh) as saved_low_kwh,
        drawn_p50(drawn.saved_kwh) as saved_p50_kwh,
        drawn_p95(drawn.saved_kwh) as saved_high_kwh,
        drawn_positive_frac(drawn.saved_kwh) as saving_probability_frac
    from drawn
    group by all
)

select
    energies.month::varchar as month,
    energies.provider::varchar as provider,
    energies.model_id::varchar as model_id,
    energies.cache_state::varchar as cache_state,
    energies.measured_request_count::decimal(38, 0) as measured_request_count,
    energies.batch::double as batch,
    energies.coefficient_set_id::varchar as coefficient_set_id,
    energies.evidence_grade::varchar as evidence_grade,
    energies.prefill_j::double as prefill_j,
    energies.kv_cache_j::double as kv_cache_j,
    energies.next_token_j::double as next_token_j,
    energies.gpu_energy_j::double as gpu_energy_j,
    least(ends.energy_low_j, energies.gpu_energy_j)::double as energy_low_j,
    greatest(ends.energy_high_j, energies.gpu_energy_j)::double as energy_high_j,
    facility_energy_kwh(energies.gpu_energy_j, energies.facility_ratio)::double
        as facility_energy_kwh,
    (
        facility_energy_kwh(energies.gpu_energy_j, energies.facility_ratio)
        * energies.carbon_gco2e_per_kwh
    )::double as carbon_gco2e,
    facility_energy_kwh(energies.saved_j, energies.facility_ratio)::double as saved_kwh,
    ends.saved_low_kwh::double as saved_low_kwh,
    ends.saved_p50_kwh::double as saved_p50_kwh,
    ends.saved_high_kwh::double as saved_high_kwh,
    ends.saving_probability_frac::double as saving_probability_frac
from energies
left join ends
    on
        energies.month = ends.month
        and energies.provider = ends.provider
        and energies.model_id = ends.model_id
        and energies.cache_state = ends.cache_state
