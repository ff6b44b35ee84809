-- The value of a month between last month's and its own, after each change in turn: requests, then
-- classes and teams, then models within them, then lengths. What is left is price.
-- grain: month, measure

with

kinds as (
    select
        changed.month,
        changed.measure,
        changed.quantity_kind,
        max(changed.value_before) as value_before,
        max(changed.request_before_count) as request_before_count,
        sum(changed.request_count) as request_count,
        sum(changed.at_volume::decimal(38, 15)) as at_volume,
        sum(changed.at_mix::decimal(38, 15)) as at_mix,
        sum(changed.at_model::decimal(38, 15)) as at_model,
        sum(changed.at_length::decimal(38, 15)) as at_length,
        sum(changed.at_price::decimal(38, 15)) as at_price
    from int_bridge_changes as changed
    group by all
)

select
    kinds.month::varchar as month,
    kinds.measure::varchar as measure,
    max(kinds.request_before_count)::decimal(38, 0) as request_before_count,
    max(kinds.request_count)::decimal(38, 0) as request_count,
    sum(kinds.value_before)::decimal(38, 9) as value_before,
    sum(kinds.at_volume)::decimal(38, 9) as value_at_volume,
    sum(kinds.at_mix)::decimal(38, 9) as value_at_mix,
    sum(kinds.at_model)::decimal(38, 9) as value_at_model,
    sum(kinds.at_length)::decimal(38, 9) as value_at_length,
    sum(kinds.at_price)::decimal(38, 9) as value_at_price
from kinds
group by all
