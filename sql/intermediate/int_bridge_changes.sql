-- What a quantity of this month comes to after each change in turn since the month before:
-- requests, then classes and teams, then models within them, then lengths. What is left is price.
-- Where last month has no such cell, the nearest it has stands in: lengths of class and team, of
-- the class, of all; values of the class, of all; a model that is new has its own price. mix_base
-- and is_rate_new say which of them stood in; quantity_at_model is what this month's requests would
-- have taken at those lengths.
-- grain: month, measure, provider, model_id, query_class, team, quantity_kind

with

quantities as (
    select
        int_bridge_quantities.month,
        int_bridge_quantities.provider,
        int_bridge_quantities.model_id,
        int_bridge_quantities.query_class,
        coalesce(int_bridge_quantities.team, '') as team,
        int_bridge_quantities.team is null as is_teamless,
        int_bridge_quantities.measure,
        int_bridge_quantities.quantity_kind,
        int_bridge_quantities.request_count,
        int_bridge_quantities.quantity,
        int_bridge_quantities.unit_value,
        -- a price belongs to a model, a rate of energy to a model and class
        case
            when int_bridge_quantities.measure = 'cost_usd' then ''
            else int_bridge_quantities.query_class
        end as value_class,
        case
            when int_bridge_quantities.month like '%-12'
                then
                    (substring(int_bridge_quantities.month, 1, 4)::integer + 1)::varchar || '-01'
            else
                substring(int_bridge_quantities.month, 1, 5)
                || lpad(
                    (substring(int_bridge_quantities.month, 6, 2)::integer + 1)::varchar, 2, '0'
                )
        end as next_month
    from int_bridge_quantities
),

-- Levels at which last month's lengths and values are taken, from the nearest to the widest.
by_cell as (
    select
        quantities.next_month as month,
        quantities.measure,
        quantities.provider,
        quantities.model_id,
        quantities.query_class,
        quantities.team,
        quantities.is_teamless,
        quantities.quantity_kind,
        quantities.quantity::double / nullif(quantities.request_count, 0)::double as mean_quantity
    from quantities
),

by_class_team as (
    select
        quantities.next_month as month,
        quantities.measure,
        quantities.query_class,
        quantities.team,
        quantities.is_teamless,
        quantities.quantity_kind,
        sum(quantities.quantity)::double / nullif(sum(quantities.request_count), 0)::double
            as mean_quantity,
        sum((quantities.quantity::double * quantities.unit_value)::decimal(38, 15))::double
        / nullif(sum(quantities.request_count), 0)::double as mean_value
    from quantities
    group by all
),

by_class as (
    select
        quantities.next_month as month,
        quantities.measure,
        quantities.query_class,
        quantities.quantity_kind,
        sum(quantities.quantity)::double / nullif(sum(quantities.request_count), 0)::double
            as mean_quantity,
        sum((quantities.quantity::double * quantities.unit_value)::decimal(38, 15))::double
        / nullif(sum(quantities.request_count), 0)::double as mean_value
    from quantities
    group by all
),

by_kind as (
    select
        quantities.next_month as month,
        quantities.measure,
        quantities.quantity_kind,
        sum(quantities.quantity)::double / nullif(sum(quantities.request_count), 0)::double
            as mean_quantity,
        sum((quantities.quantity::double * quantities.unit_value)::decimal(38, 15))::double
        / nullif(sum(quantities.request_count), 0)::double as mean_value,
        sum((quantities.quantity::double * quantities.unit_value)::decimal(38, 15)) as value_before,
        sum(quantities.request_count) as request_before_count
    from quantities
    group by all
),

unit_values as (
    select distinct
        quantities.next_month as month,
        quantities.measure,
        quantities.provider,
        quantities.model_id,
        quantities.value_class,
        quantities.quantity_kind,
        quantities.unit_value
    from quantities
),

changed as (
    select
        now.month,
        now.measure,
        now.provider,
        now.model_id,
        now.query_class,
        now.team,
        now.is_teamless,
        case
            when by_class_team.mean_value is not null then 'class and team'
            when by_class.mean_value is not null then 'class'
            else 'all'
        end as mix_base,
        unit_values.unit_value is null as is_rate_new,
        by_kind.value_before,
        by_kind.request_before_count,
        now.quantity_kind,
        now.request_count,
        now.request_count::double * by_kind.mean_value as at_volume,
        now.request_count::double
        * coalesce(by_class_team.mean_value, by_class.mean_value, by_kind.mean_value) as at_mix,
        now.quantity,
        now.request_count::double
        * coalesce(
            by_cell.mean_quantity,
            by_class_team.mean_quantity,
            by_class.mean_quantity,
            by_kind.mean_quantity
        ) as quantity_at_model,
        now.unit_value,
        coalesce(unit_values.unit_value, now.unit_value) as unit_value_before
    from quantities as now
    inner join by_kind
        on
            now.month = by_kind.month
            and now.measure = by_kind.measure
            and now.quantity_kind = by_kind.quantity_kind
    left join by_class
        on
            now.month = by_class.month
            and now.measure = by_class.measure
            and now.query_class = by_class.query_class
            and now.quantity_kind = by_class.quantity_kind
    left join by_class_team
        on
            now.month = by_class_team.month
            and now.measure = by_class_team.measure
            and now.query_class = by_class_team.query_class
            and now.team = by_class_team.team
            and now.is_teamless = by_class_team.is_teamless
            and now.quantity_kind = by_class_team.quantity_kind
    left join by_cell
        on
            now.month = by_cell.month
            and now.measure = by_cell.measure
            and now.provider = by_cell.provider
            and now.model_id = by_cell.model_id
            and now.query_class = by_cell.query_class
            and now.team = by_cell.team
            and now.is_teamless = by_cell.is_teamless
            and now.quantity_kind = by_cell.quantity_kind
    left join unit_values
        on
            now.month = unit_values.month
            and now.measure = unit_values.measure
            and now.provider = unit_values.provider
            and now.model_id = unit_values.model_id
            and now.value_class = unit_values.value_class
            and now.quantity_kind = unit_values.quantity_kind
)

select
    changed.month::varchar as month,
    changed.measure::varchar as measure,
    changed.provider::varchar as provider,
    changed.model_id::varchar as model_id,
    changed.query_class::varchar as query_class,
    case when not changed.is_teamless then changed.team end::varchar as team,
    changed.quantity_kind::varchar as quantity_kind,
    changed.mix_base::varchar as mix_base,
    changed.is_rate_new::boolean as is_rate_new,
    changed.value_before::decimal(38, 15) as value_before,
    changed.request_before_count::decimal(38, 0) as request_before_count,
    changed.request_count::decimal(38, 0) as request_count,
    changed.quantity::decimal(38, 0) as quantity,
    changed.quantity_at_model::double as quantity_at_model,
    changed.at_volume::double as at_volume,
    changed.at_mix::double as at_mix,
    (changed.quantity_at_model * changed.unit_value_before)::double as at_model,
    (changed.quantity::double * changed.unit_value_before)::double as at_length,
    (changed.quantity::double * changed.unit_value)::double as at_price
from changed
