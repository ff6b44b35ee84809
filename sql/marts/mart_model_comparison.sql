-- The month's own requests of a class on every model that the month used anywhere, and on models of
-- the catalog: list price, energy and carbon. A model replayed on what it served itself gives what
-- it cost and took. Tasks are those of the class; per solved task only where the model's own tasks
-- in the class have enough known outcomes. The front holds the models that no other beats in cost
-- and energy at once; quality is not in it, nor is a class of a single request.
-- Cost is what the company pays: by its contracts where it has any (cost_source contracted), else the
-- list price; on own servers the part of their GPU bill: its own requests' as shared, of the others
-- what a joule of the model's requests paid in the month. Idle hours are in neither. Prices of tokens
-- are exact; what others' joules would have paid has the range of the joint draws.
-- A saving is stated only where the user holds this model to be of equal quality to others of the
-- class, and only for the requests that models of that set served (equal_request_count). Cost is
-- exact at the lengths shown; energy is the difference of both alternatives in every joint draw,
-- and within noise where fewer than 90 % of them agree on its sign.
-- grain: month, query_class, provider, model_id

with

ends as (
    select
        draws.month,
        draws.query_class,
        draws.provider,
        draws.model_id,
        drawn_p05(draws.gpu_energy_j) as energy_low_j,
        drawn_p95(draws.gpu_energy_j) as energy_high_j,
        drawn_p05(draws.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p95(draws.facility_energy_kwh) as facility_energy_high_kwh
    from int_replay_draws as draws
    where draws.scope = 'all'
    group by all
),

facility as (
    select host.value * idle.value * pue.value as facility_ratio
    from stg_assumptions as host
    inner join stg_assumptions as idle on idle.assumption = 'idle_ratio'
    inner join stg_assumptions as pue on pue.assumption = 'pue_ratio'
    where host.assumption = 'host_ratio'
),

-- What the models of the set took as they were.
served as (
    select
        cells.month,
        cells.query_class,
        sum(cells.request_count) as request_count,
        sum(cells.list_cost_usd) as list_cost_usd,
        sum(cells.contracted_cost_usd) as contracted_cost_usd,
        bool_and(cells.contracted_cost_usd is not null and cells.unpriced_request_count = 0)
            as is_priced,
        bool_and(cells.unmeasured_request_count = 0) as is_measured
    from mart_cost_per_task as cells
    inner join stg_equal_quality
        on
            cells.query_class = stg_equal_quality.query_class
            and cells.model_id = stg_equal_quality.model_id
    group by all
),

served_draws as (
    select
        draws.month,
        draws.query_class,
        draws.draw,
        sum(draws.facility_energy_kwh::decimal(38, 18)) as facility_energy_kwh
    from int_class_draws as draws
    inner join stg_equal_quality
        on
            draws.query_class = stg_equal_quality.query_class
            and draws.model_id = stg_equal_quality.model_id
    group by all
),

savings as (
    select
        draws.month,
        draws.query_class,
        draws.provider,
        draws.model_id,
        drawn_p05(served_draws.facility_energy_kwh::double - draws.facility_energy_kwh)
            as low_kwh,
        drawn_p50(served_draws.facility_energy_kwh::double - draws.facility_energy_kwh)
            as p50_kwh,
        drawn_p95(served_draws.facility_energy_kwh::double - draws.facility_energy_kwh)
            as high_kwh,
        drawn_positive_frac(
            served_draws.facility_energy_kwh::double - draws.facility_energy_kwh
        ) as positive_frac,
        drawn_positive_frac(
            draws.facility_energy_kwh - served_draws.facility_energy_kwh::double
        ) as negative_frac
    from int_replay_draws as draws
    inner join served_draws
        on
            draws.month = served_draws.month
            and draws.query_class = served_draws.query_class
            and draws.draw = served_draws.draw
    where draws.scope = 'equal'
    group by all
),

told as (
    select
        replays.month,
        replays.query_class,
        replays.provider,
        replays.model_id,
        replays.hosting_kind,
        replays.is_used,
        replays.own_prompts,
        replays.request_count,
        replays.measurable_request_count,
        replays.verbosity_ratio,
        case
            when replays.is_stretched then 'log'
            when replays.own_prompts = replays.prompts then 'its own requests alone'
            else 'assumed alike'
        end as verbosity_source,
        replays.input_tokenizer_ratio,
        replays.input_tokens,
        replays.passes,
        replays.mean_input_tokens,
        costs.list_cost_usd,
        costs.cached_list_cost_usd,
        costs.contracted_cost_usd,
        costs.is_contracted,
        hosting.hosting_cost_usd,
        hosting.hosting_cost_low_usd,
        hosting.hosting_cost_high_usd,
        energies.gpu_energy_j,
        energies.coefficient_set_id,
        coalesce(energies.evidence_grade, 'U') as evidence_grade,
        batches.batch,
        batches.batch_source,
        batches.batch_max,
        batches.reason,
        totals.task_count,
        totals.task_count::double * replays.measurable_request_count::double
        / nullif(replays.request_count, 0)::double as covered_tasks,
        case
            when
                own.task_count - own.unknown_outcome_task_count >= least_requests.value
                and own.solved_task_count > 0
                then
                    own.solved_task_count::double
                    / (own.task_count - own.unknown_outcome_task_count)::double
        end as solved_frac,
        moved.contracted_cost_usd as equal_cost_usd,
        (
            moved.is_contracted
            or served.list_cost_usd is null
            or served.contracted_cost_usd <> served.list_cost_usd
        ) as is_saving_contracted,
        served.list_cost_usd as current_list_cost_usd,
        served.contracted_cost_usd as current_cost_usd,
        served.request_count as equal_request_count,
        chosen.source as equal_quality_source,
        case
            when chosen.model_id is null then 'equal quality is not told'
            when served.month is null
                then 'no model told to be of equal quality served the class'
            when served.request_count < 2 then 'not enough: a single request'
        end as saving_reason,
        served.is_priced,
        served.is_measured
    from int_replays as replays
    inner join int_replay_costs as costs
        on
            replays.month = costs.month
            and replays.query_class = costs.query_class
            and replays.provider = costs.provider
            and replays.model_id = costs.model_id
            and replays.scope = costs.scope
    left join int_replay_costs as moved
        on
            replays.month = moved.month
            and replays.query_class = moved.query_class
            and replays.provider = moved.provider
            and replays.model_id = moved.model_id
            and moved.scope = 'equal'
    left join int_replay_batches as batches
        on
            replays.month = batches.month
            and replays.query_class = batches.query_class
            and replays.provider = batches.provider
            and replays.model_id = batches.model_id
            and replays.scope = batches.scope
    left join int_replay_energy as energies
        on
            replays.month = energies.month
            and replays.query_class = energies.query_class
            and replays.provider = energies.provider
            and replays.model_id = energies.model_id
    left join int_replay_hosting as hosting
        on
            replays.month = hosting.month
            and replays.query_class = hosting.query_class
            and replays.provider = hosting.provider
            and replays.model_id = hosting.model_id
    left join mart_month_total as totals
        on
            replays.month = totals.month
            and replays.query_class = totals.total_of
            and totals.total_kind = 'query_class'
    left join int_class_tasks as own
        on
            replays.month = own.month
            and replays.query_class = own.query_class
            and replays.provider = own.provider
            and replays.model_id = own.model_id
    left join served
        on replays.month = served.month and replays.query_class = served.query_class
    left join stg_equal_quality as chosen
        on replays.query_class = chosen.query_class and replays.model_id = chosen.model_id
    inner join stg_assumptions as least_requests
        on least_requests.assumption = 'comparison_requests_least'
    where replays.scope = 'all'
),

costed as (
    select
        told.month,
        told.query_class,
        told.provider,
        told.model_id,
        told.gpu_energy_j,
        coalesce(told.contracted_cost_usd, told.hosting_cost_usd)::decimal(38, 15) as cost_usd,
        coalesce(told.contracted_cost_usd, told.hosting_cost_low_usd)::decimal(38, 15)
            as cost_low_usd,
        coalesce(told.contracted_cost_usd, told.hosting_cost_high_usd)::decimal(38, 15)
            as cost_high_usd,
        case
            when told.contracted_cost_usd is not null and told.is_contracted then 'contracted'
            when told.contracted_cost_usd is not null then 'list'
            when told.hosting_cost_usd is not null then 'hosting'
        end as cost_source,
        case
            when coalesce(told.contracted_cost_usd, told.hosting_cost_usd) is not null then null
            when told.hosting_kind = 'api' then 'no list price'
            else 'no list price and no GPU bill'
        end as cost_reason
    from told
),

beaten as (
    select distinct
        one.month,
        one.query_class,
        one.provider,
        one.model_id
    from costed as one
    inner join costed as other
        on
            one.month = other.month
            and one.query_class = other.query_class
            and one.cost_usd >= other.cost_usd
            and one.gpu_energy_j >= other.gpu_energy_j
            and (
                one.cost_usd > other.cost_usd
                or one.gpu_energy_j > other.gpu_energy_j
            )
)

select
    told.month::varchar as month,
    told.query_class::varchar as query_class,
    told.provider::varchar as provider,
    told.model_id::varchar as model_id,
    told.hosting_kind::varchar as hosting_kind,
    told.is_used::boolean as is_used,
    told.own_prompts::bigint as own_request_count,
    told.request_count::bigint as request_count,
    (told.request_count - told.measurable_request_count)::bigint as unmeasured_request_count,
    told.task_count::bigint as task_count,
    told.verbosity_ratio::double as verbosity_ratio,
    told.verbosity_source::varchar as verbosity_source,
    told.input_tokenizer_ratio::double as input_tokenizer_ratio,
    told.input_tokens::bigint as input_tokens,
    told.passes::bigint as output_tokens,
    told.mean_input_tokens::double as mean_input_tokens,
    told.list_cost_usd::decimal(38, 15) as list_cost_usd,
    told.cached_list_cost_usd::decimal(38, 15) as cached_list_cost_usd,
    told.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    told.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    costed.cost_usd::decimal(38, 15) as cost_usd,
    costed.cost_low_usd::decimal(38, 15) as cost_low_usd,
    costed.cost_high_usd::decimal(38, 15) as cost_high_usd,
    costed.cost_source::varchar as cost_source,
    (costed.cost_usd::double / nullif(told.covered_tasks, 0))::double as cost_usd_per_task,
    (costed.cost_low_usd::double / nullif(told.covered_tasks, 0))::double
        as cost_low_usd_per_task,
    (costed.cost_high_usd::double / nullif(told.covered_tasks, 0))::double
        as cost_high_usd_per_task,
    (costed.cost_usd::double / nullif(told.covered_tasks, 0) / told.solved_frac)::double
        as cost_usd_per_solved_task,
    (told.list_cost_usd::double / nullif(told.covered_tasks, 0))::double
        as list_cost_usd_per_task,
    (
        told.list_cost_usd::double / nullif(told.covered_tasks, 0) / told.solved_frac
    )::double as list_cost_usd_per_solved_task,
    told.gpu_energy_j::double as gpu_energy_j,
    least(ends.energy_low_j, told.gpu_energy_j)::double as energy_low_j,
    greatest(ends.energy_high_j, told.gpu_energy_j)::double as energy_high_j,
    facility_energy_kwh(told.gpu_energy_j, facility.facility_ratio)::double
        as facility_energy_kwh,
    least(
        ends.facility_energy_low_kwh,
        facility_energy_kwh(told.gpu_energy_j, facility.facility_ratio)
    )::double as facility_energy_low_kwh,
    greatest(
        ends.facility_energy_high_kwh,
        facility_energy_kwh(told.gpu_energy_j, facility.facility_ratio)
    )::double as facility_energy_high_kwh,
    (told.gpu_energy_j / nullif(told.covered_tasks, 0))::double as energy_j_per_task,
    (told.gpu_energy_j / nullif(told.covered_tasks, 0) / told.solved_frac)::double
        as energy_j_per_solved_task,
    (
        facility_energy_kwh(told.gpu_energy_j, facility.facility_ratio) * grid.value
    )::double as carbon_gco2e,
    (
        facility_energy_kwh(told.gpu_energy_j, facility.facility_ratio) * grid.value
        / nullif(told.covered_tasks, 0)
    )::double as carbon_gco2e_per_task,
    told.solved_frac::double as solved_frac,
    told.evidence_grade::varchar as evidence_grade,
    told.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    told.batch::double as batch,
    told.batch_source::varchar as batch_source,
    told.batch_max::double as batch_max,
    coalesce(
        told.reason,
        costed.cost_reason,
        case when told.request_count < 2 then 'not enough: a single request' end
    )::varchar as reason,
    (
        told.request_count > 1
        and costed.cost_usd is not null
        and told.gpu_energy_j is not null
        and beaten.model_id is null
    )::boolean as is_on_front,
    told.equal_request_count::bigint as equal_request_count,
    told.equal_quality_source::varchar as equal_quality_source,
    told.current_list_cost_usd::decimal(38, 15) as current_list_cost_usd,
    told.current_cost_usd::decimal(38, 15) as current_cost_usd,
    told.equal_cost_usd::decimal(38, 15) as equal_cost_usd,
    case
        when told.saving_reason is null and told.is_priced
            then told.current_cost_usd - told.equal_cost_usd
    end::decimal(38, 15) as cost_saving_usd,
    case
        when told.saving_reason is not null or not told.is_priced then null
        when told.current_cost_usd > told.equal_cost_usd then 1
        when told.current_cost_usd <= told.equal_cost_usd then 0
    end::double as cost_saving_positive_frac,
    case
        when told.saving_reason is not null or not told.is_priced or told.equal_cost_usd is null
            then null
        when told.is_saving_contracted then 'contracted'
        else 'list'
    end::varchar as cost_saving_source,
    case when told.saving_reason is null and told.is_measured then savings.low_kwh end::double
        as facility_energy_saving_low_kwh,
    case when told.saving_reason is null and told.is_measured then savings.p50_kwh end::double
        as facility_energy_saving_p50_kwh,
    case when told.saving_reason is null and told.is_measured then savings.high_kwh end::double
        as facility_energy_saving_high_kwh,
    case
        when told.saving_reason is null and told.is_measured then savings.positive_frac
    end::double as energy_saving_positive_frac,
    case
        when told.saving_reason is not null or not told.is_measured then null
        when savings.positive_frac >= 0.9 then 'saves'
        when savings.negative_frac >= 0.9 then 'takes more'
        when savings.positive_frac is not null then 'within noise'
    end::varchar as energy_saving_verdict,
    coalesce(
        told.saving_reason,
        case
            when not told.is_measured then 'not all requests of the set have an energy'
            when not told.is_priced then 'not all requests of the set have a list price'
        end,
        told.reason,
        case when told.contracted_cost_usd is null then 'no list price' end
    )::varchar as saving_reason,
    case
        when told.saving_reason is null
            then 'models of equal_quality.csv answer alike; lengths and tokenizers as told here'
    end::varchar as assumption
from told
inner join costed
    on
        told.month = costed.month
        and told.query_class = costed.query_class
        and told.provider = costed.provider
        and told.model_id = costed.model_id
left join ends
    on
        told.month = ends.month
        and told.query_class = ends.query_class
        and told.provider = ends.provider
        and told.model_id = ends.model_id
left join savings
    on
        told.month = savings.month
        and told.query_class = savings.query_class
        and told.provider = savings.provider
        and told.model_id = savings.model_id
left join beaten
    on
        told.month = beaten.month
        and told.query_class = beaten.query_class
        and told.provider = beaten.provider
        and told.model_id = beaten.model_id
cross join facility
cross join raw_method as method
inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
