-- What a month comes to, in all and by model, provider and class, each task counted once in each.
-- Ranges are the 5 %, 50 % and 95 % of the joint draws summed over what the total holds: neither as
-- if all erred together nor as if each erred alone.
-- grain: month, total_kind, total_of

with

kinds as (
    select kind.total_kind
    from (values ('month'), ('model'), ('provider'), ('query_class')) as kind (total_kind)
),

named as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        cells.query_class,
        kinds.total_kind,
        case kinds.total_kind
            when 'model' then cells.model_id
            when 'provider' then cells.provider
            when 'query_class' then cells.query_class
            else 'all'
        end as total_of
    from mart_cost_per_task as cells
    cross join kinds
),

-- Which cells a total holds. Totals are numbered, since numbers group faster than three texts.
members as (
    select
        named.month,
        named.provider,
        named.model_id,
        named.query_class,
        named.total_kind,
        named.total_of,
        dense_rank() over (order by named.month, named.total_kind, named.total_of) as total_number
    from named
),

sums as (
    select
        members.total_number,
        members.month,
        members.total_kind,
        members.total_of,
        sum(cells.request_count) as request_count,
        sum(cells.failed_request_count) as failed_request_count,
        sum(cells.unpriced_request_count) as unpriced_request_count,
        sum(cells.no_gpu_bill_request_count) as no_gpu_bill_request_count,
        sum(cells.unmeasured_request_count) as unmeasured_request_count,
        sum(cells.uncached_input_tokens) as uncached_input_tokens,
        sum(cells.cache_read_tokens) as cache_read_tokens,
        sum(cells.cache_write_tokens) as cache_write_tokens,
        sum(cells.output_tokens) as output_tokens,
        sum(cells.reasoning_tokens) as reasoning_tokens,
        sum(cells.cost_usd) as cost_usd,
        sum(cells.list_cost_usd) as list_cost_usd,
        sum(cells.contracted_cost_usd) as contracted_cost_usd,
        sum(cells.effective_cost_usd) as effective_cost_usd,
        sum(cells.hosting_cost_usd) as hosting_cost_usd,
        sum(cells.hosting_energy_cost_usd) as hosting_energy_cost_usd,
        sum(cells.billed_cost_usd) as billed_cost_usd,
        sum(cells.energy_cost_usd) as energy_cost_usd,
        sum(cells.gpu_energy_j::decimal(38, 15))::double as gpu_energy_j,
        sum(cells.facility_energy_kwh::decimal(38, 22))::double as facility_energy_kwh,
        worst_material_grade(cells.evidence_grade, cells.gpu_energy_j, material.value)
            as evidence_grade,
        listed_sets(cells.coefficient_set_id) as coefficient_set_id,
        mean_batch(cells.batch, cells.output_tokens) as batch
    from mart_cost_per_task as cells
    inner join members
        on
            cells.month = members.month
            and cells.provider = members.provider
            and cells.model_id = members.model_id
            and cells.query_class = members.query_class
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

summed_draws as (
    select
        members.total_number,
        draws.draw,
        sum(draws.gpu_energy_j::decimal(38, 15)) as gpu_energy_j,
        sum(draws.facility_energy_kwh::decimal(38, 18)) as facility_energy_kwh
    from int_class_draws as draws
    inner join members
        on
            draws.month = members.month
            and draws.provider = members.provider
            and draws.model_id = members.model_id
            and draws.query_class = members.query_class
    group by all
),

ends as (
    select
        summed_draws.total_number,
        drawn_p05(summed_draws.gpu_energy_j) as energy_low_j,
        drawn_p50(summed_draws.gpu_energy_j) as energy_p50_j,
        drawn_p95(summed_draws.gpu_energy_j) as energy_high_j,
        drawn_p05(summed_draws.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p50(summed_draws.facility_energy_kwh) as facility_energy_p50_kwh,
        drawn_p95(summed_draws.facility_energy_kwh) as facility_energy_high_kwh
    from summed_draws
    group by all
),

named_tasks as (
    select
        members.total_number,
        int_tasks.task_id,
        bool_or(int_tasks.is_solved) as is_solved,
        bool_and(int_tasks.is_unknown) as is_unknown
    from int_tasks
    inner join members
        on
            int_tasks.month = members.month
            and int_tasks.provider = members.provider
            and int_tasks.model_id = members.model_id
            and int_tasks.query_class = members.query_class
    group by all
),

counted as (
    select
        named_tasks.total_number,
        count(*) as task_count,
        count(*) filter (where named_tasks.is_solved) as solved_task_count,
        count(*) filter (where named_tasks.is_unknown) as unknown_outcome_task_count
    from named_tasks
    group by all
    union all
    select
        members.total_number,
        sum(usage.taskless_request_count) as task_count,
        sum(usage.taskless_solved_request_count) as solved_task_count,
        sum(usage.taskless_unknown_outcome_request_count) as unknown_outcome_task_count
    from int_usage_groups as usage
    inner join members
        on
            usage.month = members.month
            and usage.provider = members.provider
            and usage.model_id = members.model_id
            and usage.query_class = members.query_class
    group by all
),

tasks as (
    select
        counted.total_number,
        sum(counted.task_count) as task_count,
        sum(counted.solved_task_count) as solved_task_count,
        sum(counted.unknown_outcome_task_count) as unknown_outcome_task_count
    from counted
    group by all
)

select
    sums.month::varchar as month,
    sums.total_kind::varchar as total_kind,
    sums.total_of::varchar as total_of,
    sums.request_count::bigint as request_count,
    tasks.task_count::bigint as task_count,
    tasks.solved_task_count::bigint as solved_task_count,
    tasks.unknown_outcome_task_count::bigint as unknown_outcome_task_count,
    sums.failed_request_count::bigint as failed_request_count,
    sums.unpriced_request_count::bigint as unpriced_request_count,
    sums.no_gpu_bill_request_count::bigint as no_gpu_bill_request_count,
    sums.unmeasured_request_count::bigint as unmeasured_request_count,
    sums.uncached_input_tokens::bigint as uncached_input_tokens,
    sums.cache_read_tokens::bigint as cache_read_tokens,
    sums.cache_write_tokens::bigint as cache_write_tokens,
    sums.output_tokens::bigint as output_tokens,
    sums.reasoning_tokens::bigint as reasoning_tokens,
    sums.cost_usd::decimal(38, 15) as cost_usd,
    sums.list_cost_usd::decimal(38, 15) as list_cost_usd,
    sums.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    sums.effective_cost_usd::decimal(38, 15) as effective_cost_usd,
    sums.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    sums.hosting_energy_cost_usd::decimal(38, 15) as hosting_energy_cost_usd,
    sums.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    sums.gpu_energy_j::double as gpu_energy_j,
    least(ends.energy_low_j, sums.gpu_energy_j)::double as energy_low_j,
    coalesce(ends.energy_p50_j, sums.gpu_energy_j)::double as energy_p50_j,
    greatest(ends.energy_high_j, sums.gpu_energy_j)::double as energy_high_j,
    sums.facility_energy_kwh::double as facility_energy_kwh,
    least(ends.facility_energy_low_kwh, sums.facility_energy_kwh)::double
        as facility_energy_low_kwh,
    coalesce(ends.facility_energy_p50_kwh, sums.facility_energy_kwh)::double
        as facility_energy_p50_kwh,
    greatest(ends.facility_energy_high_kwh, sums.facility_energy_kwh)::double
        as facility_energy_high_kwh,
    sums.energy_cost_usd::decimal(38, 9) as energy_cost_usd,
    (sums.facility_energy_kwh * grid.value)::double as carbon_gco2e,
    (least(ends.facility_energy_low_kwh, sums.facility_energy_kwh) * grid.value)::double
        as carbon_low_gco2e,
    (greatest(ends.facility_energy_high_kwh, sums.facility_energy_kwh) * grid.value)::double
        as carbon_high_gco2e,
    sums.evidence_grade::varchar as evidence_grade,
    sums.coefficient_set_id::varchar as coefficient_set_id,
    sums.batch::double as batch,
    method.method_version::varchar as method_version
from sums
inner join tasks on sums.total_number = tasks.total_number
left join ends on sums.total_number = ends.total_number
inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
cross join raw_method as method
