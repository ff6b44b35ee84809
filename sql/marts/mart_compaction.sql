-- After how many further steps an agent's compaction pays, at the month's median step of a model:
-- its context, the input it adds, and what it writes. Compacting is one request more that reads the
-- whole context and writes a summary of the assumed share of it (compaction_kept_frac), which the
-- next step reads anew. In energy and in money at list prices, with a prefix cache and without. The
-- rates are those of the class with most such steps.
-- Ranges are those of the joint draws; of 16, 3 take the low end of the share and 3 the high end.
-- The probability is that it has paid with a cache before the task ends, were half of a median task
-- still to come; below within_noise_probability_frac a verdict is within noise.
-- Growth over T steps: money T squared either way, energy T squared with a cache; without one its
-- attention alone grows with T cubed.
-- grain: month, provider, model_id

with

-- What a summary keeps, by the assumption (draw 0), and in each joint draw.
kept as (
    select
        0 as draw,
        share.value as kept_frac
    from stg_assumptions as share
    where share.assumption = 'compaction_kept_frac'
    union all
    select
        draws.draw,
        case
            when draws.draw % 16 < 3 then share.low
            when draws.draw % 16 > 12 then share.high
            else share.value
        end as kept_frac
    from int_draws as draws
    inner join stg_assumptions as share on share.assumption = 'compaction_kept_frac'
),

rates as (
    select
        energy.month,
        energy.provider,
        energy.model_id,
        energy.query_class,
        0 as draw,
        energy.energy_j_per_prefilled_token,
        energy.energy_j_per_pair,
        energy.energy_j_per_prompt,
        energy.energy_j_per_cache_position,
        energy.energy_j_per_decode_step,
        energy.energy_j_per_pass
    from int_class_energy as energy
    union all
    select
        drawn.month,
        drawn.provider,
        drawn.model_id,
        drawn.query_class,
        drawn.draw,
        geometric_mean(drawn.energy_j_per_prefilled_token) as energy_j_per_prefilled_token,
        geometric_mean(drawn.energy_j_per_pair) as energy_j_per_pair,
        geometric_mean(drawn.energy_j_per_prompt) as energy_j_per_prompt,
        geometric_mean(drawn.energy_j_per_cache_position) as energy_j_per_cache_position,
        geometric_mean(drawn.energy_j_per_decode_step) as energy_j_per_decode_step,
        geometric_mean(drawn.energy_j_per_pass) as energy_j_per_pass
    from int_rate_draws as drawn
    inner join int_agent_shapes as shapes
        on
            drawn.month = shapes.month
            and drawn.provider = shapes.provider
            and drawn.model_id = shapes.model_id
            and drawn.query_class = shapes.query_class
    group by all
),

shaped as (
    select
        shapes.month,
        shapes.provider,
        shapes.model_id,
        shapes.query_class,
        kept.draw,
        shapes.context_tokens,
        shapes.new_input_tokens,
        shapes.output_tokens,
        shapes.uncached_input_usd_per_mtok as uncached_usd,
        shapes.cache_read_usd_per_mtok as read_usd,
        shapes.cache_write_usd_per_mtok as write_usd,
        shapes.output_usd_per_mtok as output_usd,
        greatest(kept.kept_frac * shapes.context_tokens, 1) as kept_tokens
    from int_agent_shapes as shapes
    cross join kept
    where shapes.context_tokens > 1
),

rated as (
    select
        shaped.month,
        shaped.provider,
        shaped.model_id,
        shaped.draw,
        shaped.context_tokens,
        shaped.new_input_tokens,
        shaped.output_tokens,
        shaped.kept_tokens,
        shaped.uncached_usd,
        shaped.read_usd,
        shaped.write_usd,
        shaped.output_usd,
        rates.energy_j_per_prefilled_token,
        rates.energy_j_per_pair,
        rates.energy_j_per_cache_position,
        rates.energy_j_per_prompt
        + rates.energy_j_per_cache_position
        * cache_positions(shaped.context_tokens, shaped.kept_tokens, 1, 1, 1)
        + rates.energy_j_per_pair * decode_pairs(shaped.context_tokens, shaped.kept_tokens, 1, 1, 1)
        + rates.energy_j_per_decode_step * decode_steps(shaped.kept_tokens, 1)
        + rates.energy_j_per_pass * shaped.kept_tokens as summary_energy_j
    from shaped
    left join rates
        on
            shaped.month = rates.month
            and shaped.provider = rates.provider
            and shaped.model_id = rates.model_id
            and shaped.query_class = rates.query_class
            and shaped.draw = rates.draw
),

spent as (
    select
        rated.month,
        rated.provider,
        rated.model_id,
        rated.draw,
        rated.kept_tokens,
        -- the one request more: its context read from the cache, its summary read anew after it
        rated.energy_j_per_prefilled_token * (1 + rated.kept_tokens)
        + rated.energy_j_per_pair * (
            prefill_pairs(rated.context_tokens, rated.context_tokens - 1, 1, 1)
            + prefill_pairs(rated.kept_tokens, 0, 1, 1)
        ) + rated.summary_energy_j as cached_once_j,
        rated.energy_j_per_prefilled_token * rated.context_tokens
        + rated.energy_j_per_pair * prefill_pairs(rated.context_tokens, 0, 1, 1)
        + rated.summary_energy_j as recomputed_once_j,
        cached_step_saving_energy_j(
            rated.energy_j_per_pair, rated.energy_j_per_cache_position, rated.context_tokens,
            rated.kept_tokens, rated.new_input_tokens, rated.output_tokens
        ) as cached_saving_j,
        recomputed_step_saving_energy_j(
            rated.energy_j_per_prefilled_token, rated.energy_j_per_pair,
            rated.energy_j_per_cache_position, rated.context_tokens, rated.kept_tokens,
            rated.output_tokens
        ) as recomputed_saving_j,
        recomputed_step_growth_energy_j(
            rated.energy_j_per_pair, rated.context_tokens, rated.kept_tokens,
            rated.new_input_tokens
        ) as recomputed_growth_j,
        rated.context_tokens * rated.read_usd
        + rated.kept_tokens * (rated.output_usd + rated.write_usd - rated.read_usd)
            as cached_once_money,
        (rated.context_tokens - rated.kept_tokens) * rated.read_usd as cached_saving_money,
        rated.context_tokens * rated.uncached_usd + rated.kept_tokens * rated.output_usd
            as plain_once_money,
        (rated.context_tokens - rated.kept_tokens) * rated.uncached_usd as plain_saving_money
    from rated
),

horizons as (
    select
        spent.month,
        spent.provider,
        spent.model_id,
        spent.draw,
        spent.kept_tokens,
        case
            when spent.cached_saving_j > 0
                then paying_steps(spent.cached_once_j, spent.cached_saving_j)
        end as cached_energy_steps,
        case
            when spent.recomputed_saving_j > 0
                then
                    growing_paying_steps(
                        spent.recomputed_once_j, spent.recomputed_saving_j,
                        spent.recomputed_growth_j
                    )
        end as uncached_energy_steps,
        case
            when spent.cached_saving_money > 0
                then paying_steps(spent.cached_once_money, spent.cached_saving_money)
        end as cached_money_steps,
        case
            when spent.plain_saving_money > 0
                then paying_steps(spent.plain_once_money, spent.plain_saving_money)
        end as uncached_money_steps
    from spent
),

ends as (
    select
        horizons.month,
        horizons.provider,
        horizons.model_id,
        drawn_p05(horizons.cached_energy_steps) as cached_energy_low_steps,
        drawn_p95(horizons.cached_energy_steps) as cached_energy_high_steps,
        drawn_p05(horizons.uncached_energy_steps) as uncached_energy_low_steps,
        drawn_p95(horizons.uncached_energy_steps) as uncached_energy_high_steps,
        drawn_p05(horizons.cached_money_steps) as cached_money_low_steps,
        drawn_p95(horizons.cached_money_steps) as cached_money_high_steps,
        drawn_p05(horizons.uncached_money_steps) as uncached_money_low_steps,
        drawn_p95(horizons.uncached_money_steps) as uncached_money_high_steps,
        drawn_positive_frac(shapes.median_task_steps / 2 - horizons.cached_energy_steps)
            as energy_probability_frac,
        drawn_positive_frac(shapes.median_task_steps / 2 - horizons.cached_money_steps)
            as cost_probability_frac
    from horizons
    inner join int_agent_shapes as shapes
        on
            horizons.month = shapes.month
            and horizons.provider = shapes.provider
            and horizons.model_id = shapes.model_id
    where horizons.draw > 0
    group by all
)

select
    shapes.month::varchar as month,
    shapes.provider::varchar as provider,
    shapes.model_id::varchar as model_id,
    shapes.followed_step_count::bigint as followed_step_count,
    shapes.median_task_steps::double as median_task_steps,
    shapes.context_tokens::double as median_context_tokens,
    shapes.new_input_tokens::double as median_new_input_tokens,
    shapes.output_tokens::double as median_output_tokens,
    middle.kept_tokens::double as kept_tokens,
    middle.cached_energy_steps::double as paying_cached_energy_steps,
    least(ends.cached_energy_low_steps, middle.cached_energy_steps)::double
        as paying_cached_energy_low_steps,
    greatest(ends.cached_energy_high_steps, middle.cached_energy_steps)::double
        as paying_cached_energy_high_steps,
    middle.uncached_energy_steps::double as paying_uncached_energy_steps,
    least(ends.uncached_energy_low_steps, middle.uncached_energy_steps)::double
        as paying_uncached_energy_low_steps,
    greatest(ends.uncached_energy_high_steps, middle.uncached_energy_steps)::double
        as paying_uncached_energy_high_steps,
    middle.cached_money_steps::double as paying_cached_money_steps,
    least(ends.cached_money_low_steps, middle.cached_money_steps)::double
        as paying_cached_money_low_steps,
    greatest(ends.cached_money_high_steps, middle.cached_money_steps)::double
        as paying_cached_money_high_steps,
    middle.uncached_money_steps::double as paying_uncached_money_steps,
    least(ends.uncached_money_low_steps, middle.uncached_money_steps)::double
        as paying_uncached_money_low_steps,
    greatest(ends.uncached_money_high_steps, middle.uncached_money_steps)::double
        as paying_uncached_money_high_steps,
    ends.energy_probability_frac::double as energy_saving_probability_frac,
    case
        when ends.energy_probability_frac >= noise.value then 'saves'
        when ends.energy_probability_frac <= 1 - noise.value then 'takes more'
        when ends.energy_probability_frac is not null then 'within noise'
    end::varchar as energy_verdict,
    ends.cost_probability_frac::double as cost_saving_probability_frac,
    case
        when ends.cost_probability_frac >= noise.value then 'saves'
        when ends.cost_probability_frac <= 1 - noise.value then 'takes more'
        when ends.cost_probability_frac is not null then 'within noise'
    end::varchar as cost_verdict,
    case
        when middle.month is null then 'no step follows another of its task with a longer context'
        when middle.cached_energy_steps is null and middle.uncached_money_steps is null
            then 'neither energy nor list price is known'
        when middle.cached_energy_steps is null then 'no energy: model unknown, or does not fit'
        when middle.uncached_money_steps is null then 'no list price'
    end::varchar as reason,
    'compaction_kept_frac, half of the median task to come'::varchar as assumption,
    rates.coefficient_set_id::varchar as coefficient_set_id,
    rates.batch::double as batch,
    coalesce(rates.evidence_grade, 'U')::varchar as evidence_grade,
    method.method_version::varchar as method_version
from int_agent_shapes as shapes
left join horizons as middle
    on
        shapes.month = middle.month
        and shapes.provider = middle.provider
        and shapes.model_id = middle.model_id
        and middle.draw = 0
left join ends
    on
        shapes.month = ends.month
        and shapes.provider = ends.provider
        and shapes.model_id = ends.model_id
left join int_class_energy as rates
    on
        middle.month = rates.month
        and middle.provider = rates.provider
        and middle.model_id = rates.model_id
        and shapes.query_class = rates.query_class
inner join stg_assumptions as noise on noise.assumption = 'within_noise_probability_frac'
cross join raw_method as method
