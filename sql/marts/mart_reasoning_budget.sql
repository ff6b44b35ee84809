-- What accuracy takes at each budget of reasoning that quality.csv tells: correct answers a joule,
-- the same above chance, joules and dollars of a correct answer and of one more than the budget
-- before gives. Lengths are the file's (input: else the mean of the class in the logs). Rates,
-- batch and list prices are those of the line of the logs with most output among lines of this
-- class, else of any class of the model, at each provider that serves it.
-- The best budget has most accuracy per joule; at an edge a budget beyond it may be better still.
-- On own servers an answer costs what its joules would have paid of the month's GPU bill; without a
-- bill its cost is unknown and cost_reason says so. List prices are exact, a bill's part follows the
-- energy, so it has the range of the joint draws.
-- Net value: accuracy times value_usd, where the file tells it, less the cost of an answer.
-- Budgets of one model err alike, so ends of the range scale them all. What a budget saves on the
-- largest one, a right answer, is compared world by world; below nine worlds of ten it is noise.
-- grain: provider, model_id, query_class, budget

with

cells as (
    select
        told.model_id,
        told.query_class,
        rates.provider,
        rates.query_class as rates_class,
        rates.month as rates_month,
        row_number() over (
            partition by told.model_id, told.query_class, rates.provider
            order by
                case when rates.query_class = told.query_class then 0 else 1 end,
                moments.passes desc, rates.month desc, rates.query_class asc
        ) as cell_rank
    from (select distinct
        stg_quality.model_id,
        stg_quality.query_class
    from stg_quality) as told
    inner join int_class_energy as rates
        on told.model_id = rates.model_id and rates.gpu_energy_j > 0
    inner join int_class_moments as moments
        on
            rates.month = moments.month
            and rates.provider = moments.provider
            and rates.model_id = moments.model_id
            and rates.query_class = moments.query_class
),

bands as (
    select
        cells.model_id,
        cells.query_class,
        cells.provider,
        usage.price_band_id,
        row_number() over (
            partition by cells.model_id, cells.query_class, cells.provider
            order by sum(usage.output_tokens) desc, usage.price_band_id desc
        ) as band_rank
    from cells
    inner join int_usage_groups as usage
        on
            cells.rates_month = usage.month
            and cells.provider = usage.provider
            and cells.model_id = usage.model_id
            and cells.rates_class = usage.query_class
    where cells.cell_rank = 1 and usage.price_band_id is not null
    group by cells.model_id, cells.query_class, cells.provider, usage.price_band_id
),

sized as (
    select
        cells.provider,
        told.model_id,
        told.query_class,
        told.budget,
        told.accuracy_frac,
        told.chance_frac,
        told.output_tokens,
        told.value_usd,
        told.source,
        told.source_date,
        cells.rates_month,
        cells.rates_class,
        moments.prompts as request_count,
        hosts.hosting_kind <> 'api' as is_own_server,
        coalesce(
            told.input_tokens,
            case
                when cells.rates_class = told.query_class then moments.mean_input_tokens
            end
        ) as input_tokens
    from stg_quality as told
    left join cells
        on
            told.model_id = cells.model_id
            and told.query_class = cells.query_class
            and cells.cell_rank = 1
    left join int_hosts as hosts
        on cells.provider = hosts.provider and cells.model_id = hosts.model_id
    left join int_class_moments as moments
        on
            cells.rates_month = moments.month
            and cells.provider = moments.provider
            and told.model_id = moments.model_id
            and cells.rates_class = moments.query_class
),

priced as (
    select
        sized.provider,
        sized.model_id,
        sized.query_class,
        sized.budget,
        sized.accuracy_frac,
        sized.chance_frac,
        sized.input_tokens,
        sized.output_tokens,
        sized.value_usd,
        sized.source,
        sized.source_date,
        sized.rates_month,
        sized.rates_class,
        sized.request_count,
        sized.is_own_server,
        hosting.usd_per_gpu_j,
        rates.batch,
        rates.coefficient_set_id,
        rates.evidence_grade,
        rates.facility_ratio,
        rates.energy_low_j / rates.gpu_energy_j as low_ratio,
        rates.energy_high_j / rates.gpu_energy_j as high_ratio,
        rates.energy_j_per_prefilled_token * sized.input_tokens
        + rates.energy_j_per_pair * (
            prefill_pairs(sized.input_tokens, 0, 1, 1)
            + decode_pairs(sized.input_tokens, sized.output_tokens, 1, 1, 1)
        )
        + rates.energy_j_per_prompt
        + rates.energy_j_per_cache_position
        * cache_positions(sized.input_tokens, sized.output_tokens, 1, 1, 1)
        + rates.energy_j_per_decode_step * decode_steps(sized.output_tokens, 1)
        + rates.energy_j_per_pass * sized.output_tokens as gpu_energy_j,
        (
            sized.input_tokens::decimal(19, 6) * prices.uncached_input_usd_per_mtok
            + sized.output_tokens::decimal(19, 6) * prices.output_usd_per_mtok
        )::decimal(31, 9) * 0.000001::decimal(7, 6) as list_cost_usd
    from sized
    left join int_class_energy as rates
        on
            sized.rates_month = rates.month
            and sized.provider = rates.provider
            and sized.model_id = rates.model_id
            and sized.rates_class = rates.query_class
    left join bands
        on
            sized.model_id = bands.model_id
            and sized.query_class = bands.query_class
            and sized.provider = bands.provider
            and bands.band_rank = 1
    left join int_price_bands as prices on bands.price_band_id = prices.price_band_id
    left join int_class_hosting as hosting
        on
            sized.rates_month = hosting.month
            and sized.provider = hosting.provider
            and sized.model_id = hosting.model_id
            and sized.rates_class = hosting.query_class
),

-- An answer of each budget in each joint draw, and its part of the GPU bill there.
worlds as (
    select
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.budget,
        rates.draw,
        max(paid.usd_per_gpu_j) as usd_per_gpu_j,
        max(priced.accuracy_frac) as accuracy_frac,
        geometric_mean(
            request_energy_j(
                rates.energy_j_per_prefilled_token, rates.energy_j_per_pair,
                rates.energy_j_per_prompt, rates.energy_j_per_cache_position,
                rates.energy_j_per_decode_step, rates.energy_j_per_pass,
                priced.input_tokens, 0, priced.output_tokens
            )
        ) as gpu_energy_j
    from priced
    inner join int_rate_draws as rates
        on
            priced.rates_month = rates.month
            and priced.provider = rates.provider
            and priced.model_id = rates.model_id
            and priced.rates_class = rates.query_class
    left join int_hosting_rate_draws as paid
        on
            rates.month = paid.month
            and rates.provider = paid.provider
            and rates.model_id = paid.model_id
            and rates.draw = paid.draw
    where priced.gpu_energy_j is not null
    group by priced.provider, priced.model_id, priced.query_class, priced.budget, rates.draw
),

largest as (
    select
        sorted.provider,
        sorted.model_id,
        sorted.query_class,
        sorted.budget
    from (
        select
            priced.provider,
            priced.model_id,
            priced.query_class,
            priced.budget,
            row_number() over (
                partition by priced.provider, priced.model_id, priced.query_class
                order by priced.output_tokens desc, priced.budget desc
            ) as place
        from priced
        where priced.gpu_energy_j is not null
    ) as sorted
    where sorted.place = 1
),

compared as (
    select
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        worlds.budget,
        worlds.usd_per_gpu_j * worlds.gpu_energy_j as hosting_usd,
        most.gpu_energy_j / nullif(most.accuracy_frac, 0)
        - worlds.gpu_energy_j / nullif(worlds.accuracy_frac, 0) as saving_j
    from worlds
    inner join largest
        on
            worlds.provider = largest.provider
            and worlds.model_id = largest.model_id
            and worlds.query_class = largest.query_class
    inner join worlds as most
        on
            worlds.provider = most.provider
            and worlds.model_id = most.model_id
            and worlds.query_class = most.query_class
            and worlds.draw = most.draw
            and largest.budget = most.budget
),

ends as (
    select
        compared.provider,
        compared.model_id,
        compared.query_class,
        compared.budget,
        drawn_p05(compared.hosting_usd) as hosting_low_usd,
        drawn_p95(compared.hosting_usd) as hosting_high_usd,
        drawn_p05(compared.saving_j) as saving_low_j,
        drawn_p50(compared.saving_j) as saving_p50_j,
        drawn_p95(compared.saving_j) as saving_high_j,
        drawn_positive_frac(compared.saving_j) as saving_positive_frac
    from compared
    group by all
),

costed as (
    select
        priced.provider,
        priced.model_id,
        priced.query_class,
        priced.budget,
        priced.accuracy_frac,
        priced.chance_frac,
        priced.input_tokens,
        priced.output_tokens,
        priced.value_usd,
        priced.source,
        priced.source_date,
        priced.request_count,
        priced.batch,
        priced.coefficient_set_id,
        priced.evidence_grade,
        priced.facility_ratio,
        priced.low_ratio,
        priced.high_ratio,
        priced.gpu_energy_j,
        priced.list_cost_usd,
        case
            when priced.is_own_server
                then (priced.usd_per_gpu_j * priced.gpu_energy_j)::decimal(38, 15)
        end as hosting_cost_usd,
        case
            when priced.list_cost_usd is not null then priced.list_cost_usd::decimal(38, 15)
            when priced.is_own_server
                then (priced.usd_per_gpu_j * priced.gpu_energy_j)::decimal(38, 15)
        end as cost_usd,
        case
            when priced.gpu_energy_j is null then null
            when priced.list_cost_usd is not null then null
            when priced.is_own_server and priced.usd_per_gpu_j is null then 'no GPU bill'
            when not priced.is_own_server then 'no list price'
        end as cost_reason
    from priced
),

ordered as (
    select
        costed.provider,
        costed.model_id,
        costed.query_class,
        costed.budget,
        costed.accuracy_frac,
        costed.chance_frac,
        costed.input_tokens,
        costed.output_tokens,
        costed.value_usd,
        costed.source,
        costed.source_date,
        costed.batch,
        costed.coefficient_set_id,
        costed.evidence_grade,
        costed.facility_ratio,
        costed.low_ratio,
        costed.high_ratio,
        costed.gpu_energy_j,
        costed.list_cost_usd,
        costed.hosting_cost_usd,
        costed.cost_usd,
        costed.cost_reason,
        costed.request_count,
        count(*) over (partition by costed.provider, costed.model_id, costed.query_class)
            as budget_count,
        row_number() over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by costed.output_tokens, costed.budget
        ) as budget_rank,
        row_number() over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by
                costed.accuracy_frac / costed.gpu_energy_j desc nulls last, costed.output_tokens,
                costed.budget asc
        ) as best_rank,
        row_number() over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by
                (costed.accuracy_frac - costed.chance_frac) / costed.gpu_energy_j desc nulls last,
                costed.output_tokens, costed.budget asc
        ) as best_above_chance_rank,
        row_number() over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by
                costed.accuracy_frac * costed.value_usd - costed.cost_usd::double
                desc nulls last,
                costed.output_tokens, costed.budget asc
        ) as best_net_value_rank,
        count(costed.value_usd * costed.cost_usd::double) over (
            partition by costed.provider, costed.model_id, costed.query_class
        ) as valued_budget_count,
        lag(costed.accuracy_frac) over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by costed.output_tokens, costed.budget
        ) as before_accuracy_frac,
        lag(costed.gpu_energy_j) over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by costed.output_tokens, costed.budget
        ) as before_energy_j,
        lag(costed.output_tokens) over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by costed.output_tokens, costed.budget
        ) as before_output_tokens,
        lag(costed.cost_usd) over (
            partition by costed.provider, costed.model_id, costed.query_class
            order by costed.output_tokens, costed.budget
        ) as before_cost_usd
    from costed
)

select
    ordered.provider::varchar as provider,
    ordered.model_id::varchar as model_id,
    ordered.query_class::varchar as query_class,
    ordered.budget::varchar as budget,
    ordered.accuracy_frac::double as accuracy_frac,
    ordered.chance_frac::double as chance_frac,
    ordered.input_tokens::double as mean_input_tokens,
    ordered.output_tokens::double as mean_output_tokens,
    ordered.gpu_energy_j::double as gpu_energy_j,
    (ordered.gpu_energy_j * ordered.low_ratio)::double as energy_low_j,
    (ordered.gpu_energy_j * ordered.high_ratio)::double as energy_high_j,
    facility_energy_kwh(ordered.gpu_energy_j, ordered.facility_ratio)::double
        as facility_energy_kwh,
    ordered.list_cost_usd::decimal(38, 15) as list_cost_usd,
    ordered.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    ordered.cost_usd::decimal(38, 15) as cost_usd,
    case
        when ordered.list_cost_usd is not null then 'list'
        when ordered.cost_usd is not null then 'hosting'
    end::varchar as cost_source,
    ordered.cost_reason::varchar as cost_reason,
    (ordered.accuracy_frac / ordered.gpu_energy_j)::double as accuracy_frac_per_j,
    ((ordered.accuracy_frac - ordered.chance_frac) / ordered.gpu_energy_j)::double
        as above_chance_frac_per_j,
    (ordered.gpu_energy_j / nullif(ordered.accuracy_frac, 0))::double
        as energy_j_per_correct_answer,
    (ordered.cost_usd::double / nullif(ordered.accuracy_frac, 0))::double
        as cost_usd_per_correct_answer,
    (
        case
            when ordered.list_cost_usd is not null then ordered.cost_usd::double
            else least(ends.hosting_low_usd, ordered.cost_usd::double)
        end / nullif(ordered.accuracy_frac, 0)
    )::double as cost_low_usd_per_correct_answer,
    (
        case
            when ordered.list_cost_usd is not null then ordered.cost_usd::double
            else greatest(ends.hosting_high_usd, ordered.cost_usd::double)
        end / nullif(ordered.accuracy_frac, 0)
    )::double as cost_high_usd_per_correct_answer,
    case
        when ordered.accuracy_frac > ordered.before_accuracy_frac
            then
                (ordered.gpu_energy_j - ordered.before_energy_j)
                / (ordered.accuracy_frac - ordered.before_accuracy_frac)
    end::double as energy_j_per_extra_correct_answer,
    case
        when ordered.accuracy_frac > ordered.before_accuracy_frac
            then
                (ordered.cost_usd - ordered.before_cost_usd)::double
                / (ordered.accuracy_frac - ordered.before_accuracy_frac)
    end::double as cost_usd_per_extra_correct_answer,
    ordered.value_usd::double as value_usd_per_correct_answer,
    (ordered.accuracy_frac * ordered.value_usd - ordered.cost_usd::double)::decimal(38, 15)
        as net_value_usd,
    (ordered.accuracy_frac <= ordered.before_accuracy_frac)::boolean as is_without_gain,
    (
        ordered.gpu_energy_j * ordered.before_output_tokens
        > ordered.before_energy_j * ordered.output_tokens
    )::boolean as is_energy_faster_than_length,
    case
        when ordered.budget_count > 1 and ordered.gpu_energy_j is not null
            then ordered.best_rank = 1
    end::boolean as is_best,
    case
        when ordered.budget_count > 1 and ordered.gpu_energy_j is not null
            then ordered.best_above_chance_rank = 1
    end::boolean as is_best_above_chance,
    case
        when ordered.budget_count > 1 and ordered.valued_budget_count = ordered.budget_count
            then ordered.best_net_value_rank = 1
    end::boolean as is_best_net_value,
    case
        when ordered.budget_count > 1 and ordered.gpu_energy_j is not null
            then ordered.budget_rank = 1 or ordered.budget_rank = ordered.budget_count
    end::boolean as is_edge,
    case
        when ordered.provider is null then 'not enough: no log of this run has used the model'
        when ordered.gpu_energy_j is null
            then 'not enough: input_tokens is empty, and the logs have none of this class'
        when ordered.budget_count = 1 then 'not enough: one budget; two or more have a best one'
    end::varchar as reason,
    case
        when ordered.budget <> largest.budget
            then
                most.gpu_energy_j / nullif(most.accuracy_frac, 0)
                - ordered.gpu_energy_j / nullif(ordered.accuracy_frac, 0)
    end::double as saving_j_per_correct_answer,
    case when ordered.budget <> largest.budget then ends.saving_low_j end::double
        as saving_low_j_per_correct_answer,
    case when ordered.budget <> largest.budget then ends.saving_p50_j end::double
        as saving_p50_j_per_correct_answer,
    case when ordered.budget <> largest.budget then ends.saving_high_j end::double
        as saving_high_j_per_correct_answer,
    case when ordered.budget <> largest.budget then ends.saving_positive_frac end::double
        as saving_positive_frac,
    case
        when ordered.budget <> largest.budget
            then 'the accuracy of the file holds; against its largest budget'
    end::varchar as assumption,
    ordered.request_count::bigint as request_count,
    ordered.source::varchar as source,
    ordered.source_date::date as source_date,
    ordered.coefficient_set_id::varchar as coefficient_set_id,
    ordered.batch::double as batch,
    coalesce(ordered.evidence_grade, 'U')::varchar as evidence_grade,
    method.method_version::varchar as method_version
from ordered
left join largest
    on
        ordered.provider = largest.provider
        and ordered.model_id = largest.model_id
        and ordered.query_class = largest.query_class
left join costed as most
    on
        largest.provider = most.provider
        and largest.model_id = most.model_id
        and largest.query_class = most.query_class
        and largest.budget = most.budget
left join ends
    on
        ordered.provider = ends.provider
        and ordered.model_id = ends.model_id
        and ordered.query_class = ends.query_class
        and ordered.budget = ends.budget
cross join raw_method as method
