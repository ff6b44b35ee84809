-- What accuracy takes at each budget of reasoning that quality.csv tells: correct answers a joule,
-- the same above chance, joules and dollars of a correct answer and of one more than the budget
-- before gives. Lengths are the file's (input: else the mean of the class in the logs). Rates,
-- batch and list prices are those of the line of the logs with most output among lines of this
-- class, else of any class of the model, at each provider that serves it.
-- The best budget has most accuracy per joule; at an edge a budget beyond it may be better still.
-- Net value: accuracy times value_usd, where the file tells it, less the list cost of an answer.
-- Budgets of one model err alike, so ends of the range scale them all: ranks do not move with them.
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
),

ordered as (
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
        priced.batch,
        priced.coefficient_set_id,
        priced.evidence_grade,
        priced.facility_ratio,
        priced.low_ratio,
        priced.high_ratio,
        priced.gpu_energy_j,
        priced.list_cost_usd,
        count(*) over (partition by priced.provider, priced.model_id, priced.query_class)
            as budget_count,
        row_number() over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by priced.output_tokens, priced.budget
        ) as budget_rank,
        row_number() over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by
                priced.accuracy_frac / priced.gpu_energy_j desc nulls last, priced.output_tokens,
                priced.budget asc
        ) as best_rank,
        row_number() over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by
                (priced.accuracy_frac - priced.chance_frac) / priced.gpu_energy_j desc nulls last,
                priced.output_tokens, priced.budget asc
        ) as best_above_chance_rank,
        row_number() over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by
                priced.accuracy_frac * priced.value_usd - priced.list_cost_usd::double
                desc nulls last,
                priced.output_tokens, priced.budget asc
        ) as best_net_value_rank,
        count(priced.value_usd * priced.list_cost_usd::double) over (
            partition by priced.provider, priced.model_id, priced.query_class
        ) as valued_budget_count,
        lag(priced.accuracy_frac) over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by priced.output_tokens, priced.budget
        ) as before_accuracy_frac,
        lag(priced.gpu_energy_j) over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by priced.output_tokens, priced.budget
        ) as before_energy_j,
        lag(priced.output_tokens) over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by priced.output_tokens, priced.budget
        ) as before_output_tokens,
        lag(priced.list_cost_usd) over (
            partition by priced.provider, priced.model_id, priced.query_class
            order by priced.output_tokens, priced.budget
        ) as before_cost_usd
    from priced
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
    (ordered.accuracy_frac / ordered.gpu_energy_j)::double as accuracy_frac_per_j,
    ((ordered.accuracy_frac - ordered.chance_frac) / ordered.gpu_energy_j)::double
        as above_chance_frac_per_j,
    (ordered.gpu_energy_j / nullif(ordered.accuracy_frac, 0))::double
        as energy_j_per_correct_answer,
    (ordered.list_cost_usd::double / nullif(ordered.accuracy_frac, 0))::double
        as list_cost_usd_per_correct_answer,
    case
        when ordered.accuracy_frac > ordered.before_accuracy_frac
            then
                (ordered.gpu_energy_j - ordered.before_energy_j)
                / (ordered.accuracy_frac - ordered.before_accuracy_frac)
    end::double as energy_j_per_extra_correct_answer,
    case
        when ordered.accuracy_frac > ordered.before_accuracy_frac
            then
                (ordered.list_cost_usd - ordered.before_cost_usd)::double
                / (ordered.accuracy_frac - ordered.before_accuracy_frac)
    end::double as list_cost_usd_per_extra_correct_answer,
    ordered.value_usd::double as value_usd_per_correct_answer,
    (ordered.accuracy_frac * ordered.value_usd - ordered.list_cost_usd::double)::decimal(38, 15)
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
    ordered.source::varchar as source,
    ordered.source_date::date as source_date,
    ordered.coefficient_set_id::varchar as coefficient_set_id,
    ordered.batch::double as batch,
    coalesce(ordered.evidence_grade, 'U')::varchar as evidence_grade,
    method.method_version::varchar as method_version
from ordered
cross join raw_method as method
