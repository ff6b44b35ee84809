-- The electricity of a month after each step of the bridge, in one possible world (joint draw). In
-- a world all rates of a class are off by one ratio: what it takes in that draw over its value. A
-- step's change is the difference of two steps of one world, since what both months share is off
-- alike in both; lows or highs would not subtract to it.
-- grain: month, draw

with

ratios as (
    select
        draws.month,
        draws.provider,
        draws.model_id,
        draws.query_class,
        draws.draw,
        draws.facility_energy_kwh / nullif(rates.facility_energy_kwh, 0) as energy_ratio
    from int_class_draws as draws
    inner join int_class_energy as rates
        on
            draws.month = rates.month
            and draws.provider = rates.provider
            and draws.model_id = rates.model_id
            and draws.query_class = rates.query_class
),

cells as (
    select
        quantities.month,
        quantities.provider,
        quantities.model_id,
        quantities.query_class,
        quantities.team,
        sum((quantities.quantity::double * quantities.unit_value)::decimal(38, 15))::double
            as energy_kwh
    from int_bridge_quantities as quantities
    where quantities.measure = 'facility_energy_kwh'
    group by all
),

befores as (
    select
        month_after(cells.month) as month,
        ratios.draw,
        cells.query_class,
        coalesce(cells.team, '') as team,
        cells.team is null as is_teamless,
        sum(cells.energy_kwh::decimal(38, 18)) as energy_kwh,
        sum((cells.energy_kwh * ratios.energy_ratio)::decimal(38, 18)) as drawn_kwh
    from cells
    inner join ratios
        on
            cells.month = ratios.month
            and cells.provider = ratios.provider
            and cells.model_id = ratios.model_id
            and cells.query_class = ratios.query_class
    group by all
),

class_befores as (
    select
        befores.month,
        befores.draw,
        befores.query_class,
        sum(befores.energy_kwh) as energy_kwh,
        sum(befores.drawn_kwh) as drawn_kwh
    from befores
    group by all
),

month_befores as (
    select
        befores.month,
        befores.draw,
        sum(befores.energy_kwh) as energy_kwh,
        sum(befores.drawn_kwh) as drawn_kwh
    from befores
    group by all
),

changes as (
    select
        changes.month,
        changes.provider,
        changes.model_id,
        changes.query_class,
        coalesce(changes.team, '') as team,
        changes.team is null as is_teamless,
        changes.mix_base,
        bool_and(changes.is_rate_new) as is_rate_new,
        sum(changes.at_volume::decimal(38, 15))::double as at_volume,
        sum(changes.at_mix::decimal(38, 15))::double as at_mix,
        sum(changes.at_model::decimal(38, 15))::double as at_model,
        sum(changes.at_length::decimal(38, 15))::double as at_length,
        sum(changes.at_price::decimal(38, 15))::double as at_price
    from int_bridge_changes as changes
    where changes.measure = 'facility_energy_kwh'
    group by all
),

worlds as (
    select
        changes.month,
        months.draw,
        changes.at_volume,
        changes.at_mix,
        changes.at_model,
        changes.at_length,
        changes.at_price,
        months.drawn_kwh as value_before,
        months.drawn_kwh::double / nullif(months.energy_kwh, 0)::double as month_ratio,
        case changes.mix_base
            when 'class and team'
                then teams.drawn_kwh::double / nullif(teams.energy_kwh, 0)::double
            when 'class' then classes.drawn_kwh::double / nullif(classes.energy_kwh, 0)::double
            else months.drawn_kwh::double / nullif(months.energy_kwh, 0)::double
        end as mix_ratio,
        case when changes.is_rate_new then now.energy_ratio else then_ratios.energy_ratio end
            as rate_ratio,
        now.energy_ratio
    from changes
    inner join ratios as now
        on
            changes.month = now.month
            and changes.provider = now.provider
            and changes.model_id = now.model_id
            and changes.query_class = now.query_class
    inner join month_befores as months
        on changes.month = months.month and now.draw = months.draw
    left join class_befores as classes
        on
            changes.month = classes.month
            and now.draw = classes.draw
            and changes.query_class = classes.query_class
    left join befores as teams
        on
            changes.month = teams.month
            and now.draw = teams.draw
            and changes.query_class = teams.query_class
            and changes.team = teams.team
            and changes.is_teamless = teams.is_teamless
    left join ratios as then_ratios
        on
            changes.month = month_after(then_ratios.month)
            and changes.provider = then_ratios.provider
            and changes.model_id = then_ratios.model_id
            and changes.query_class = then_ratios.query_class
            and now.draw = then_ratios.draw
)

select
    worlds.month::varchar as month,
    worlds.draw::integer as draw,
    max(worlds.value_before)::decimal(38, 9) as value_before,
    sum((worlds.at_volume * coalesce(worlds.month_ratio, 0))::decimal(38, 15))::decimal(38, 9)
        as value_at_volume,
    sum((worlds.at_mix * coalesce(worlds.mix_ratio, 0))::decimal(38, 15))::decimal(38, 9)
        as value_at_mix,
    sum((worlds.at_model * coalesce(worlds.rate_ratio, 0))::decimal(38, 15))::decimal(38, 9)
        as value_at_model,
    sum((worlds.at_length * coalesce(worlds.rate_ratio, 0))::decimal(38, 15))::decimal(38, 9)
        as value_at_length,
    sum((worlds.at_price * coalesce(worlds.energy_ratio, 0))::decimal(38, 15))::decimal(38, 9)
        as value_at_price
from worlds
group by all
