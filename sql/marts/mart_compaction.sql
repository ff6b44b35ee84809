-- After how many further steps an agent's compaction pays, at the month's median step of a model:
-- its context, the input it adds, and what it writes. Compacting is one request more that reads the
-- whole context and writes a summary of the assumed share of it (compaction_kept_frac; low and high
-- are the ends of that assumption), which the next step reads anew. In energy and in money at list
-- prices, with a prefix cache and without. The rates are those of the class with most such steps.
-- Growth over T steps: money T squared either way, energy T squared with a cache; without one its
-- attention alone grows with T cubed.
-- grain: month, provider, model_id

with

-- Only steps that follow another of their task tell how a context grows.
medians as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        count(*) as followed_step_count,
        drawn_p50(steps.input_tokens) as context_tokens,
        drawn_p50(steps.new_input_tokens) as new_input_tokens,
        greatest(drawn_p50(steps.output_tokens), 1) as output_tokens
    from int_agent_steps as steps
    where steps.new_input_tokens is not null
    group by all
),

step_counts as (
    select
        steps.month,
        steps.provider,
        steps.model_id,
        count(*) as task_step_count
    from int_agent_steps as steps
    where steps.is_ordered
    group by steps.month, steps.provider, steps.model_id, steps.task_id
),

lengths as (
    select
        step_counts.month,
        step_counts.provider,
        step_counts.model_id,
        drawn_p50(step_counts.task_step_count) as median_task_steps
    from step_counts
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
            as at_uncached,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_read_usd_per_mtok)::double as at_read,
        sum(steps.input_tokens::decimal(19, 0) * bands.cache_write_5m_usd_per_mtok)::double
            as at_write,
        sum(steps.input_tokens::decimal(19, 0) * bands.output_usd_per_mtok)::double as at_output
    from int_agent_groups as steps
    inner join int_price_bands as bands on steps.price_band_id = bands.price_band_id
    group by all
),

ends as (
    select
        kind.kept_end,
        case kind.kept_end
            when 'low' then kept.low
            when 'high' then kept.high
            else kept.value
        end as kept_frac
    from (values ('low'), ('value'), ('high')) as kind (kept_end)
    inner join stg_assumptions as kept on kept.assumption = 'compaction_kept_frac'
),

shaped as (
    select
        ranked.month,
        ranked.provider,
        ranked.model_id,
        ranked.query_class,
        ends.kept_end,
        medians.followed_step_count,
        medians.context_tokens,
        medians.new_input_tokens,
        medians.output_tokens,
        greatest(ends.kept_frac * medians.context_tokens, 1) as kept_tokens
    from ranked
    inner join medians
        on
            ranked.month = medians.month
            and ranked.provider = medians.provider
            and ranked.model_id = medians.model_id
    cross join ends
    where ranked.class_rank = 1 and medians.context_tokens > 1
),

rated as (
    select
        shaped.month,
        shaped.provider,
        shaped.model_id,
        shaped.kept_end,
        shaped.context_tokens,
        shaped.new_input_tokens,
        shaped.output_tokens,
        shaped.kept_tokens,
        rates.batch,
        rates.coefficient_set_id,
        rates.evidence_grade,
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
    left join int_class_energy as rates
        on
            shaped.month = rates.month
            and shaped.provider = rates.provider
            and shaped.model_id = rates.model_id
            and shaped.query_class = rates.query_class
),

spent as (
    select
        rated.month,
        rated.provider,
        rated.model_id,
        rated.kept_end,
        rated.kept_tokens,
        rated.batch,
        rated.coefficient_set_id,
        rated.evidence_grade,
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
        rated.context_tokens * prices.at_read
        + rated.kept_tokens * (prices.at_output + prices.at_write - prices.at_read)
            as cached_once_money,
        (rated.context_tokens - rated.kept_tokens) * prices.at_read as cached_saving_money,
        rated.context_tokens * prices.at_uncached + rated.kept_tokens * prices.at_output
            as plain_once_money,
        (rated.context_tokens - rated.kept_tokens) * prices.at_uncached as plain_saving_money
    from rated
    left join prices
        on
            rated.month = prices.month
            and rated.provider = prices.provider
            and rated.model_id = prices.model_id
),

horizons as (
    select
        spent.month,
        spent.provider,
        spent.model_id,
        spent.kept_end,
        spent.kept_tokens,
        spent.batch,
        spent.coefficient_set_id,
        spent.evidence_grade,
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
)

select
    lengths.month::varchar as month,
    lengths.provider::varchar as provider,
    lengths.model_id::varchar as model_id,
    coalesce(medians.followed_step_count, 0)::bigint as followed_step_count,
    lengths.median_task_steps::double as median_task_steps,
    medians.context_tokens::double as median_context_tokens,
    medians.new_input_tokens::double as median_new_input_tokens,
    medians.output_tokens::double as median_output_tokens,
    middle.kept_tokens::double as kept_tokens,
    middle.cached_energy_steps::double as paying_cached_energy_steps,
    least(short.cached_energy_steps, middle.cached_energy_steps)::double
        as paying_cached_energy_low_steps,
    greatest(long.cached_energy_steps, middle.cached_energy_steps)::double
        as paying_cached_energy_high_steps,
    middle.uncached_energy_steps::double as paying_uncached_energy_steps,
    least(short.uncached_energy_steps, middle.uncached_energy_steps)::double
        as paying_uncached_energy_low_steps,
    greatest(long.uncached_energy_steps, middle.uncached_energy_steps)::double
        as paying_uncached_energy_high_steps,
    middle.cached_money_steps::double as paying_cached_money_steps,
    least(short.cached_money_steps, middle.cached_money_steps)::double
        as paying_cached_money_low_steps,
    greatest(long.cached_money_steps, middle.cached_money_steps)::double
        as paying_cached_money_high_steps,
    middle.uncached_money_steps::double as paying_uncached_money_steps,
    least(short.uncached_money_steps, middle.uncached_money_steps)::double
        as paying_uncached_money_low_steps,
    greatest(long.uncached_money_steps, middle.uncached_money_steps)::double
        as paying_uncached_money_high_steps,
    case
        when middle.month is null then 'no step follows another of its task with a longer context'
        when middle.cached_energy_steps is null and middle.uncached_money_steps is null
            then 'neither energy nor list price is known'
        when middle.cached_energy_steps is null then 'no energy: model unknown, or does not fit'
        when middle.uncached_money_steps is null then 'no list price'
    end::varchar as reason,
    'compaction_kept_frac'::varchar as assumption,
    middle.coefficient_set_id::varchar as coefficient_set_id,
    middle.batch::double as batch,
    coalesce(middle.evidence_grade, 'U')::varchar as evidence_grade,
    method.method_version::varchar as method_version
from lengths
left join medians
    on
        lengths.month = medians.month
        and lengths.provider = medians.provider
        and lengths.model_id = medians.model_id
left join horizons as middle
    on
        lengths.month = middle.month
        and lengths.provider = middle.provider
        and lengths.model_id = middle.model_id
        and middle.kept_end = 'value'
left join horizons as short
    on
        lengths.month = short.month
        and lengths.provider = short.provider
        and lengths.model_id = short.model_id
        and short.kept_end = 'low'
left join horizons as long
    on
        lengths.month = long.month
        and lengths.provider = long.provider
        and lengths.model_id = long.model_id
        and long.kept_end = 'high'
cross join raw_method as method
