-- The median step of a model's agents: its context, the input it adds, what it writes, the class
-- with most such steps, and mean list prices a token, weighted by input. Only steps that follow
-- another of their task tell how a context grows; a task begins with its shortest context.
-- grain: month, provider, model_id

with

medians as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        count(*) as followed_step_count,
        drawn_p50(steps.input_tokens) as context_tokens,
        drawn_p95(steps.input_tokens) as long_context_tokens,
        drawn_p50(steps.new_input_tokens) as new_input_tokens,
        greatest(drawn_p50(steps.output_tokens), 1) as output_tokens
    from int_agent_steps as steps
    inner join int_cells as cells on steps.cell_id = cells.cell_id
    where steps.new_input_tokens is not null
    group by all
),

tasks as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        count(*) as task_step_count,
        min(steps.input_tokens) as first_context_tokens
    from int_agent_steps as steps
    inner join int_cells as cells on steps.cell_id = cells.cell_id
    where steps.is_ordered
    group by cells.month, cells.provider, cells.model_id, steps.task_number
),

lengths as (
    select
        tasks.month,
        tasks.provider,
        tasks.model_id,
        drawn_p50(tasks.task_step_count) as median_task_steps,
        drawn_p50(tasks.first_context_tokens) as first_context_tokens
    from tasks
    group by all
),

ranked as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        steps.query_class,
        row_number() over (
            partition by steps.month, steps.provider, steps.model_id
            order by sum(steps.request_count) desc, steps.query_class
        ) as class_rank
    from int_agent_groups as steps
    group by steps.month, steps.provider, steps.model_id, steps.query_class
),

prices as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        sum(steps.input_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok)::double
        / nullif(sum(steps.input_tokens), 0)::double as uncached_input_usd_per_mtok,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_read_usd_per_mtok)::double
        / nullif(sum(steps.input_tokens), 0)::double as cache_read_usd_per_mtok,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_write_5m_usd_per_mtok)::double
        / nullif(sum(steps.input_tokens), 0)::double as cache_write_usd_per_mtok,
        sum(steps.input_tokens::decimal(19, 0) * bands.output_usd_per_mtok)::double
        / nullif(sum(steps.input_tokens), 0)::double as output_usd_per_mtok
    from int_agent_groups as steps
    inner join int_price_bands as bands on steps.price_band_id = bands.price_band_id
    group by all
)

select
    lengths.month::varchar as month,
    lengths.provider::varchar as provider,
    lengths.model_id::varchar as model_id,
    ranked.query_class::varchar as query_class,
    lengths.median_task_steps::double as median_task_steps,
    lengths.first_context_tokens::double as first_context_tokens,
    coalesce(medians.followed_step_count, 0)::bigint as followed_step_count,
    medians.context_tokens::double as context_tokens,
    medians.long_context_tokens::double as long_context_tokens,
    medians.new_input_tokens::double as new_input_tokens,
    medians.output_tokens::double as output_tokens,
    prices.uncached_input_usd_per_mtok::double as uncached_input_usd_per_mtok,
    prices.cache_read_usd_per_mtok::double as cache_read_usd_per_mtok,
    prices.cache_write_usd_per_mtok::double as cache_write_usd_per_mtok,
    prices.output_usd_per_mtok::double as output_usd_per_mtok
from lengths
inner join ranked
    on
        lengths.month = ranked.month
        and lengths.provider = ranked.provider
        and lengths.model_id = ranked.model_id
        and ranked.class_rank = 1
left join medians
    on
        lengths.month = medians.month
        and lengths.provider = medians.provider
        and lengths.model_id = medians.model_id
left join prices
    on
        lengths.month = prices.month
        and lengths.provider = prices.provider
        and lengths.model_id = prices.model_id
