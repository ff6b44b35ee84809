-- How long an agent's context may grow: the length at which a median task of the model has taken as
-- much as a task of its other work (energy; money at list prices), and as much money as a task is
-- worth (agentic_task_value_usd, where told). A task begins with its first context, adds the same
-- input in every step and finds the rest in the cache, so what it took grows with the square of its
-- steps. Errors of the law move both sides of a length alike, so its low and high come from both sides
-- in every joint draw; the energy of another task has the draws of the model's month. Lengths of equal
-- money are at list prices, which are exact.
-- Beside it what long contexts do to others: how many requests of a length the cache holds at once,
-- by the stand-in with least room; beyond it batch-mates are evicted.
-- grain: month, provider, model_id

with

named as (
    select
        int_tasks.month,
        int_tasks.provider,
        int_tasks.model_id,
        count(distinct int_tasks.task_id) as task_count
    from int_tasks
    cross join raw_reported as reported
    left join int_agent_tasks as agentic
        on int_tasks.month = agentic.month and int_tasks.task_id = agentic.task_id
    where int_tasks.month >= reported.first_month and agentic.task_id is null
    group by all
),

unnamed as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        sum(case when usage.query_class = 'agentic' then 0 else usage.taskless_request_count end)
            as task_count
    from int_usage_groups as usage
    group by all
),

costs as (
    select
        int_group_costs.month,
        int_group_costs.provider,
        int_group_costs.model_id,
        sum(int_group_costs.list_cost_usd) as list_cost_usd
    from int_group_costs
    group by all
),

energies as (
    select
        int_class_energy.month,
        int_class_energy.provider,
        int_class_energy.model_id,
        listed_sets(int_class_energy.coefficient_set_id) as coefficient_set_id,
        sum(int_class_energy.gpu_energy_j::decimal(38, 15))::double as gpu_energy_j
    from int_class_energy
    group by all
),

worlds as (
    select
        int_class_draws.month,
        int_class_draws.provider,
        int_class_draws.model_id,
        int_class_draws.draw,
        sum(int_class_draws.gpu_energy_j::decimal(38, 15))::double as gpu_energy_j
    from int_class_draws
    group by all
),

ratios as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.draw,
        worlds.gpu_energy_j / energies.gpu_energy_j as energy_ratio
    from worlds
    inner join energies
        on
            worlds.month = energies.month
            and worlds.provider = energies.provider
            and worlds.model_id = energies.model_id
    where energies.gpu_energy_j > 0
),

ends as (
    select
        ratios.month,
        ratios.provider,
        ratios.model_id,
        least(drawn_p05(ratios.energy_ratio), 1) as low_ratio,
        greatest(drawn_p95(ratios.energy_ratio), 1) as high_ratio
    from ratios
    group by all
),

-- Work of the model that is no agentic task: all of it less the steps of such tasks.
others as (
    select
        agents.month,
        agents.provider,
        agents.model_id,
        energies.coefficient_set_id,
        coalesce(named.task_count, 0) + coalesce(unnamed.task_count, 0) as task_count,
        case
            when energies.gpu_energy_j >= agents.gpu_energy_j
                then energies.gpu_energy_j - agents.gpu_energy_j
        end
        / nullif(coalesce(named.task_count, 0) + coalesce(unnamed.task_count, 0), 0)::double
            as energy_j_per_task,
        case
            when costs.list_cost_usd >= agents.list_cost_usd
                then (costs.list_cost_usd - agents.list_cost_usd)::double
        end
        / nullif(coalesce(named.task_count, 0) + coalesce(unnamed.task_count, 0), 0)::double
            as list_cost_usd_per_task
    from mart_agentic as agents
    left join named
        on
            agents.month = named.month
            and agents.provider = named.provider
            and agents.model_id = named.model_id
    left join unnamed
        on
            agents.month = unnamed.month
            and agents.provider = unnamed.provider
            and agents.model_id = unnamed.model_id
    left join costs
        on
            agents.month = costs.month
            and agents.provider = costs.provider
            and agents.model_id = costs.model_id
    left join energies
        on
            agents.month = energies.month
            and agents.provider = energies.provider
            and agents.model_id = energies.model_id
    where agents.cache_state = 'as_cached'
),

-- Rates as reported, without a draw, and those of every joint draw.
rates as (
    select
        int_class_energy.month,
        int_class_energy.provider,
        int_class_energy.model_id,
        int_class_energy.query_class,
        null::integer as draw,
        int_class_energy.energy_j_per_prefilled_token,
        int_class_energy.energy_j_per_pair,
        int_class_energy.energy_j_per_prompt,
        int_class_energy.energy_j_per_cache_position,
        int_class_energy.energy_j_per_decode_step,
        int_class_energy.energy_j_per_pass
    from int_class_energy
    union all
    select
        int_rate_draws.month,
        int_rate_draws.provider,
        int_rate_draws.model_id,
        int_rate_draws.query_class,
        int_rate_draws.draw,
        int_rate_draws.energy_j_per_prefilled_token,
        int_rate_draws.energy_j_per_pair,
        int_rate_draws.energy_j_per_prompt,
        int_rate_draws.energy_j_per_cache_position,
        int_rate_draws.energy_j_per_decode_step,
        int_rate_draws.energy_j_per_pass
    from int_rate_draws
),

-- What the first step takes with its context cached but for the new input, what each step after it
-- takes more, and what the first takes on top, since nothing of it is cached yet.
step_energies as (
    select
        shapes.month,
        shapes.provider,
        shapes.model_id,
        rates.draw,
        geometric_mean(
            rates.energy_j_per_prefilled_token * shapes.new_input_tokens
            + rates.energy_j_per_pair * (
                prefill_pairs(
                    shapes.first_context_tokens,
                    shapes.first_context_tokens - shapes.new_input_tokens, 1, 1
                )
                + decode_pairs(shapes.first_context_tokens, shapes.output_tokens, 1, 1, 1)
            )
            + rates.energy_j_per_prompt
            + rates.energy_j_per_cache_position
            * cache_positions(shapes.first_context_tokens, shapes.output_tokens, 1, 1, 1)
            + rates.energy_j_per_decode_step * decode_steps(shapes.output_tokens, 1)
            + rates.energy_j_per_pass * shapes.output_tokens
        ) as step_j,
        geometric_mean(
            cached_step_saving_energy_j(
                rates.energy_j_per_pair, rates.energy_j_per_cache_position,
                shapes.new_input_tokens, 0, shapes.new_input_tokens, shapes.output_tokens
            )
        ) as growth_j,
        geometric_mean(
            rates.energy_j_per_prefilled_token
            * (shapes.first_context_tokens - shapes.new_input_tokens)
            + rates.energy_j_per_pair
            * prefill_pairs(shapes.first_context_tokens - shapes.new_input_tokens, 0, 1, 1)
        ) as start_j
    from int_agent_shapes as shapes
    inner join rates
        on
            shapes.month = rates.month
            and shapes.provider = rates.provider
            and shapes.model_id = rates.model_id
            and shapes.query_class = rates.query_class
    where shapes.first_context_tokens > shapes.new_input_tokens
    group by shapes.month, shapes.provider, shapes.model_id, rates.draw
),

steps as (
    select
        shapes.month,
        shapes.provider,
        shapes.model_id,
        shapes.first_context_tokens,
        shapes.new_input_tokens,
        energies.step_j,
        energies.growth_j,
        energies.start_j,
        (
            (shapes.first_context_tokens - shapes.new_input_tokens)
            * shapes.cache_read_usd_per_mtok
            + shapes.new_input_tokens * shapes.cache_write_usd_per_mtok
            + shapes.output_tokens * shapes.output_usd_per_mtok
        ) * 0.000001 as step_usd,
        shapes.new_input_tokens * shapes.cache_read_usd_per_mtok * 0.000001 as growth_usd,
        (shapes.first_context_tokens - shapes.new_input_tokens)
        * (shapes.cache_write_usd_per_mtok - shapes.cache_read_usd_per_mtok) * 0.000001
            as start_usd,
        rates.batch,
        rates.evidence_grade
    from int_agent_shapes as shapes
    left join int_class_energy as rates
        on
            shapes.month = rates.month
            and shapes.provider = rates.provider
            and shapes.model_id = rates.model_id
            and shapes.query_class = rates.query_class
    left join step_energies as energies
        on
            shapes.month = energies.month
            and shapes.provider = energies.provider
            and shapes.model_id = energies.model_id
            and energies.draw is null
    where shapes.first_context_tokens > shapes.new_input_tokens
),

-- The length at which both have taken as much, in every joint draw.
passing_worlds as (
    select
        shapes.month,
        shapes.provider,
        shapes.model_id,
        shapes.first_context_tokens
        + shapes.new_input_tokens * greatest(
            growing_paying_steps(
                greatest(others.energy_j_per_task * ratios.energy_ratio - energies.start_j, 0),
                energies.step_j - energies.growth_j, energies.growth_j
            ) - 1,
            0
        ) as context_tokens
    from int_agent_shapes as shapes
    inner join others
        on
            shapes.month = others.month
            and shapes.provider = others.provider
            and shapes.model_id = others.model_id
    inner join step_energies as energies
        on
            shapes.month = energies.month
            and shapes.provider = energies.provider
            and shapes.model_id = energies.model_id
    inner join ratios
        on
            energies.month = ratios.month
            and energies.provider = ratios.provider
            and energies.model_id = ratios.model_id
            and energies.draw = ratios.draw
    where others.energy_j_per_task is not null
),

passing_ends as (
    select
        passing_worlds.month,
        passing_worlds.provider,
        passing_worlds.model_id,
        drawn_p05(passing_worlds.context_tokens) as low_tokens,
        drawn_p95(passing_worlds.context_tokens) as high_tokens
    from passing_worlds
    group by all
),

rooms as (
    select
        shapes.month,
        shapes.provider,
        shapes.model_id,
        min(
            batch_max(
                usable.value, hosts.gpu_count, hosts.gpu_memory_gb, hosts.held_weight_bytes,
                hosts.kv_bytes_per_position, shapes.first_context_tokens + shapes.output_tokens,
                hosts.state_bytes
            )
        ) as first_batch_max,
        min(
            batch_max(
                usable.value, hosts.gpu_count, hosts.gpu_memory_gb, hosts.held_weight_bytes,
                hosts.kv_bytes_per_position, shapes.long_context_tokens + shapes.output_tokens,
                hosts.state_bytes
            )
        ) as long_batch_max
    from int_agent_shapes as shapes
    inner join int_deployments as hosts
        on shapes.provider = hosts.provider and shapes.model_id = hosts.model_id
    inner join stg_assumptions as usable on usable.assumption = 'gpu_memory_usable_frac'
    group by all
),

counted as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        steps.first_context_tokens,
        steps.new_input_tokens,
        steps.batch,
        steps.evidence_grade,
        others.energy_j_per_task,
        others.list_cost_usd_per_task,
        case when value.value > 0 then value.value end as value_usd,
        growing_paying_steps(
            greatest(others.energy_j_per_task - steps.start_j, 0),
            steps.step_j - steps.growth_j, steps.growth_j
        ) as energy_steps,
        growing_paying_steps(
            greatest(others.list_cost_usd_per_task - steps.start_usd, 0),
            steps.step_usd - steps.growth_usd, steps.growth_usd
        ) as cost_steps,
        growing_paying_steps(
            greatest(value.value - steps.start_usd, 0),
            steps.step_usd - steps.growth_usd, steps.growth_usd
        ) as value_steps
    from steps
    left join others
        on
            steps.month = others.month
            and steps.provider = others.provider
            and steps.model_id = others.model_id
    inner join stg_assumptions as value on value.assumption = 'agentic_task_value_usd'
),

limited as (
    select
        counted.month,
        counted.provider,
        counted.model_id,
        counted.list_cost_usd_per_task,
        counted.value_usd,
        counted.energy_steps,
        counted.cost_steps,
        counted.value_steps,
        counted.batch,
        counted.evidence_grade,
        case
            when counted.energy_j_per_task is not null and counted.energy_steps is not null
                then
                    counted.first_context_tokens
                    + counted.new_input_tokens * greatest(counted.energy_steps - 1, 0)
        end as passing_other_energy_tokens
    from counted
)

select
    shapes.month::varchar as month,
    shapes.provider::varchar as provider,
    shapes.model_id::varchar as model_id,
    shapes.median_task_steps::double as median_task_steps,
    shapes.first_context_tokens::double as first_context_tokens,
    shapes.long_context_tokens::double as long_context_tokens,
    shapes.new_input_tokens::double as median_new_input_tokens,
    shapes.output_tokens::double as median_output_tokens,
    others.task_count::bigint as other_task_count,
    others.energy_j_per_task::double as other_energy_j_per_task,
    (others.energy_j_per_task * ends.low_ratio)::double as other_energy_low_j_per_task,
    (others.energy_j_per_task * ends.high_ratio)::double as other_energy_high_j_per_task,
    others.list_cost_usd_per_task::double as other_list_cost_usd_per_task,
    limited.value_usd::decimal(38, 15) as task_value_usd,
    limited.passing_other_energy_tokens::double as passing_other_energy_tokens,
    least(passing_ends.low_tokens, limited.passing_other_energy_tokens)::double
        as passing_other_energy_low_tokens,
    greatest(passing_ends.high_tokens, limited.passing_other_energy_tokens)::double
        as passing_other_energy_high_tokens,
    (
        case
            when limited.list_cost_usd_per_task is not null and limited.cost_steps is not null
                then
                    shapes.first_context_tokens
                    + shapes.new_input_tokens * greatest(limited.cost_steps - 1, 0)
        end
    )::double as passing_other_cost_tokens,
    (
        case
            when limited.value_usd is not null and limited.value_steps is not null
                then
                    shapes.first_context_tokens
                    + shapes.new_input_tokens * greatest(limited.value_steps - 1, 0)
        end
    )::double as passing_value_tokens,
    rooms.first_batch_max::double as first_batch_max,
    rooms.long_batch_max::double as long_batch_max,
    case
        when shapes.followed_step_count = 0
            then 'not enough: no step follows another of its task with a longer context'
        when limited.month is null
            then 'not enough: a step adds as much as a first context holds'
        when coalesce(others.task_count, 0) = 0 then 'not enough: the model has no other work'
        when limited.energy_steps is null and limited.cost_steps is null
            then 'not enough: neither energy nor list price is known'
        when limited.energy_steps is null then 'no energy: model unknown, or does not fit'
        when limited.cost_steps is null then 'no list price'
    end::varchar as reason,
    'agentic_task_value_usd; median steps, cached'::varchar as assumption,
    limited.batch::double as batch,
    coalesce(limited.evidence_grade, 'U')::varchar as evidence_grade,
    others.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version
from int_agent_shapes as shapes
left join others
    on
        shapes.month = others.month
        and shapes.provider = others.provider
        and shapes.model_id = others.model_id
left join ends
    on
        shapes.month = ends.month
        and shapes.provider = ends.provider
        and shapes.model_id = ends.model_id
left join limited
    on
        shapes.month = limited.month
        and shapes.provider = limited.provider
        and shapes.model_id = limited.model_id
left join passing_ends
    on
        shapes.month = passing_ends.month
        and shapes.provider = passing_ends.provider
        and shapes.model_id = passing_ends.model_id
left join rooms
    on
        shapes.month = rooms.month
        and shapes.provider = rooms.provider
        and shapes.model_id = rooms.model_id
cross join raw_method as method
