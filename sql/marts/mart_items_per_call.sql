-- How many items a call should hold where calls share a part of their input: instructions, a form,
-- examples. Shared input is read once a call, but every further item attends to those before it and
-- re-reads them from the cache, so energy per item has a least; cost only falls, up to a limit.
-- What is shared is an assumption (int_shared_calls), and each logged call is taken to hold one
-- item. So no grade here is better than C, and ranges hold that share's: of 16 draws 3 take its low
-- end, 3 its high end. Money is input at the month's mean list prices. The batch is the one in
-- force while its caches fit; beyond cache_items it falls as calls grow. Where reason says why not,
-- nothing is said.
-- grain: month, provider, model_id, query_class

with

optimal as (
    select
        lines.month,
        lines.provider,
        lines.model_id,
        lines.query_class,
        geometric_mean(
            least_energy_items(
                work.energy_j_per_prefilled_token, work.energy_j_per_pair,
                work.energy_j_per_cache_position, lines.shared_tokens, lines.cached_tokens,
                lines.mean_input_tokens - lines.shared_tokens, lines.mean_output_tokens, 0
            )
        ) as optimum_items,
        geometric_mean(
            least_energy_items(
                work.energy_j_per_prefilled_token, work.energy_j_per_pair,
                work.energy_j_per_cache_position, lines.shared_tokens, lines.cached_tokens,
                lines.mean_input_tokens - lines.shared_tokens, lines.mean_output_tokens,
                work.energy_j_per_pass * lines.mean_output_tokens
                * (lines.mean_input_tokens - lines.shared_tokens + lines.mean_output_tokens)
                / lines.room_tokens
            )
        ) as crowded_items
    from int_shared_calls as lines
    inner join int_class_work as work
        on
            lines.month = work.month
            and lines.provider = work.provider
            and lines.model_id = work.model_id
            and lines.query_class = work.query_class
    where lines.reason is null
    group by all
),

most as (
    select
        limited.month,
        limited.provider,
        limited.model_id,
        limited.query_class,
        optimal.optimum_items,
        optimal.crowded_items,
        limited.cache_items,
        least(limited.context_items, limited.output_items, limited.tier_items) as cost_items,
        case least(limited.context_items, limited.output_items, limited.tier_items)
            when limited.output_items then 'longest answer'
            when limited.tier_items then 'price tier'
            else 'context'
        end as cost_limit
    from int_shared_calls as limited
    inner join optimal
        on
            limited.month = optimal.month
            and limited.provider = optimal.provider
            and limited.model_id = optimal.model_id
            and limited.query_class = optimal.query_class
),

-- The best whole number stands beside an optimum or beside the place where caches are full.
tried as (
    select distinct
        most.month,
        most.provider,
        most.model_id,
        most.query_class,
        least(
            case tries.try
                when 'one' then 1
                when 'below' then floor(most.optimum_items)
                when 'above' then floor(most.optimum_items) + 1
                when 'full' then most.cache_items
                when 'over' then most.cache_items + 1
                when 'below crowded' then floor(most.crowded_items)
                else floor(most.crowded_items) + 1
            end,
            most.cost_items
        ) as items
    from most
    cross join (
        values
        ('one'), ('below'), ('above'), ('full'), ('over'), ('below crowded'), ('above crowded')
    ) as tries (try)
),

weighed as (
    select
        tried.month,
        tried.provider,
        tried.model_id,
        tried.query_class,
        tried.items,
        lines.bias_factor * geometric_mean(
            request_energy_j(
                work.energy_j_per_prefilled_token, work.energy_j_per_pair,
                work.energy_j_per_prompt, work.energy_j_per_cache_position,
                work.energy_j_per_decode_step,
                work.energy_j_per_pass * greatest(
                    (
                        lines.shared_tokens
                        + tried.items * (
                            lines.mean_input_tokens - lines.shared_tokens
                            + lines.mean_output_tokens
                        )
                    )
                    / lines.room_tokens,
                    1
                ),
                lines.shared_tokens
                + tried.items * (lines.mean_input_tokens - lines.shared_tokens),
                lines.cached_tokens, tried.items * lines.mean_output_tokens
            ) / tried.items
        ) as energy_j_per_item
    from tried
    inner join int_shared_calls as lines
        on
            tried.month = lines.month
            and tried.provider = lines.provider
            and tried.model_id = lines.model_id
            and tried.query_class = lines.query_class
    inner join int_class_work as work
        on
            tried.month = work.month
            and tried.provider = work.provider
            and tried.model_id = work.model_id
            and tried.query_class = work.query_class
    group by
        tried.month, tried.provider, tried.model_id, tried.query_class, tried.items,
        lines.bias_factor
),

best as (
    select
        weighed.month,
        weighed.provider,
        weighed.model_id,
        weighed.query_class,
        min_by(weighed.items, weighed.energy_j_per_item) as items,
        min(weighed.energy_j_per_item) as energy_j_per_item,
        max(case when weighed.items = 1 then weighed.energy_j_per_item end) as alone_j_per_item
    from weighed
    group by all
),

-- The same two calls in every world, each with its own shared and cached tokens.
worlds as (
    select
        rates.month,
        rates.provider,
        rates.model_id,
        rates.query_class,
        rates.architecture_id,
        rates.draw,
        best.items,
        lines.mean_input_tokens,
        lines.mean_output_tokens,
        lines.batch_max * (lines.mean_input_tokens + lines.mean_output_tokens) / rates.batch
            as room_tokens,
        lines.uncached_input_usd_per_token,
        lines.cache_read_usd_per_token,
        lines.cached_tokens as logged_cached_tokens,
        least(
            lines.cached_tokens
            + rates.cached_frac * (lines.mean_input_tokens - lines.cached_tokens),
            lines.mean_input_tokens - 2
        ) as cached_tokens,
        lines.mean_input_tokens
        * case
            when rates.draw % 16 < 3 then lines.shared_low_frac
            when rates.draw % 16 > 12 then lines.shared_high_frac
            else lines.shared_frac
        end as told_shared_tokens
    from int_shared_calls as lines
    inner join best
        on
            lines.month = best.month
            and lines.provider = best.provider
            and lines.model_id = best.model_id
            and lines.query_class = best.query_class
    inner join int_rate_draws as rates
        on
            lines.month = rates.month
            and lines.provider = rates.provider
            and lines.model_id = rates.model_id
            and lines.query_class = rates.query_class
),

shared_worlds as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        worlds.architecture_id,
        worlds.draw,
        worlds.items,
        worlds.mean_input_tokens,
        worlds.mean_output_tokens,
        worlds.room_tokens,
        worlds.uncached_input_usd_per_token,
        worlds.cache_read_usd_per_token,
        worlds.logged_cached_tokens,
        -- what is read from a cache is the shared part, or a part of it
        greatest(worlds.told_shared_tokens, worlds.logged_cached_tokens + 1) as shared_tokens,
        least(
            worlds.cached_tokens,
            greatest(worlds.told_shared_tokens, worlds.logged_cached_tokens + 1) - 1
        ) as cached_tokens
    from worlds
),

saved as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        worlds.draw,
        case
            when max(worlds.items) = 1 then 0  -- alone against alone
            else
                geometric_mean(
                    request_energy_j(
                        rates.energy_j_per_prefilled_token, rates.energy_j_per_pair,
                        rates.energy_j_per_prompt, rates.energy_j_per_cache_position,
                        rates.energy_j_per_decode_step, rates.energy_j_per_pass,
                        worlds.mean_input_tokens, worlds.cached_tokens, worlds.mean_output_tokens
                    )
                )
                - geometric_mean(
                    request_energy_j(
                        rates.energy_j_per_prefilled_token, rates.energy_j_per_pair,
                        rates.energy_j_per_prompt, rates.energy_j_per_cache_position,
                        rates.energy_j_per_decode_step,
                        rates.energy_j_per_pass * greatest(
                            (
                                worlds.shared_tokens
                                + worlds.items * (
                                    worlds.mean_input_tokens - worlds.shared_tokens
                                    + worlds.mean_output_tokens
                                )
                            )
                            / worlds.room_tokens,
                            1
                        ),
                        worlds.shared_tokens
                        + worlds.items * (worlds.mean_input_tokens - worlds.shared_tokens),
                        worlds.cached_tokens, worlds.items * worlds.mean_output_tokens
                    ) / worlds.items
                )
        end as saving_j,
        max(worlds.items) as items,
        max(
            (worlds.shared_tokens - worlds.logged_cached_tokens)
            * worlds.uncached_input_usd_per_token
            + worlds.logged_cached_tokens * worlds.cache_read_usd_per_token
        ) as shared_usd
    from shared_worlds as worlds
    inner join int_rate_draws as rates
        on
            worlds.month = rates.month
            and worlds.provider = rates.provider
            and worlds.model_id = rates.model_id
            and worlds.query_class = rates.query_class
            and worlds.architecture_id = rates.architecture_id
            and worlds.draw = rates.draw
    group by all
),

ends as (
    select
        saved.month,
        saved.provider,
        saved.model_id,
        saved.query_class,
        drawn_p05(saved.saving_j) as saving_low_j,
        drawn_p50(saved.saving_j) as saving_p50_j,
        drawn_p95(saved.saving_j) as saving_high_j,
        drawn_positive_frac(saved.saving_j) as saving_positive_frac,
        drawn_p05((1 - 1 / saved.items::double) * saved.shared_usd) as saving_low_usd,
        drawn_p50((1 - 1 / saved.items::double) * saved.shared_usd) as saving_p50_usd,
        drawn_p95((1 - 1 / saved.items::double) * saved.shared_usd) as saving_high_usd,
        drawn_positive_frac((1 - 1 / saved.items::double) * saved.shared_usd)
            as cost_saving_positive_frac,
        drawn_positive_frac(saved.shared_usd) as shared_usd_positive_frac
    from saved
    group by all
)

select
    lines.month::varchar as month,
    lines.provider::varchar as provider,
    lines.model_id::varchar as model_id,
    lines.query_class::varchar as query_class,
    lines.hosting_kind::varchar as hosting_kind,
    lines.batch::double as batch,
    case when lines.evidence_grade is null then 'U' else greatest(lines.evidence_grade, 'C') end
    ::varchar as evidence_grade,
    lines.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    lines.prompts::bigint as request_count,
    lines.gpu_energy_j::double as gpu_energy_j,
    lines.energy_low_j::double as energy_low_j,
    lines.energy_high_j::double as energy_high_j,
    ('shared_input_frac_' || lines.query_class)::varchar as assumption,
    lines.shared_frac::double as shared_input_frac,
    lines.shared_low_frac::double as shared_input_low_frac,
    lines.shared_high_frac::double as shared_input_high_frac,
    lines.shared_tokens::double as shared_input_tokens,
    lines.cached_tokens::double as cached_input_tokens,
    (lines.mean_input_tokens - lines.shared_tokens)::double as item_input_tokens,
    lines.mean_output_tokens::double as item_output_tokens,
    most.optimum_items::double as optimum_items,
    best.items::bigint as best_items,
    case
        when best.items = most.cost_items and most.cost_items < most.optimum_items
            then most.cost_limit
    end::varchar as best_items_limit,
    most.cache_items::bigint as cache_items,
    most.cost_items::bigint as cost_items,
    most.cost_limit::varchar as cost_items_limit,
    best.alone_j_per_item::double as energy_j_per_single_item,
    best.energy_j_per_item::double as energy_j_per_item,
    (best.alone_j_per_item - best.energy_j_per_item)::double as saving_j_per_item,
    least(ends.saving_low_j, best.alone_j_per_item - best.energy_j_per_item)::double
        as saving_low_j_per_item,
    ends.saving_p50_j::double as saving_p50_j_per_item,
    greatest(ends.saving_high_j, best.alone_j_per_item - best.energy_j_per_item)::double
        as saving_high_j_per_item,
    ends.saving_positive_frac::double as saving_positive_frac,
    (1 - best.energy_j_per_item / nullif(best.alone_j_per_item, 0))::double as saving_frac,
    (
        (1 - 1 / best.items::double) * (
            (lines.shared_tokens - lines.cached_tokens) * lines.uncached_input_usd_per_token
            + lines.cached_tokens * lines.cache_read_usd_per_token
        )
    )::decimal(38, 15) as saving_usd_per_item,
    ends.saving_low_usd::decimal(38, 15) as saving_low_usd_per_item,
    ends.saving_p50_usd::decimal(38, 15) as saving_p50_usd_per_item,
    ends.saving_high_usd::decimal(38, 15) as saving_high_usd_per_item,
    ends.cost_saving_positive_frac::double as cost_saving_positive_frac,
    (
        (1 - 1 / most.cost_items) * (
            (lines.shared_tokens - lines.cached_tokens) * lines.uncached_input_usd_per_token
            + lines.cached_tokens * lines.cache_read_usd_per_token
        )
    )::decimal(38, 15) as cost_items_saving_usd_per_item,
    case
        when most.cost_items > 1 or ends.shared_usd_positive_frac is null
            then ends.shared_usd_positive_frac
        else 0
    end::double as cost_items_saving_positive_frac,
    lines.reason::varchar as reason
from int_shared_calls as lines
left join most
    on
        lines.month = most.month
        and lines.provider = most.provider
        and lines.model_id = most.model_id
        and lines.query_class = most.query_class
left join best
    on
        lines.month = best.month
        and lines.provider = best.provider
        and lines.model_id = best.model_id
        and lines.query_class = best.query_class
left join ends
    on
        lines.month = ends.month
        and lines.provider = ends.provider
        and lines.model_id = ends.model_id
        and lines.query_class = ends.query_class
cross join raw_method as method
