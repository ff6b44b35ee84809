-- The quantities that carry a cost (tokens, else requests) and those that carry an energy.
-- grain: carrier, quantity_kind

with

kinds as (
    select
        'cost' as carrier,
        'uncached_input' as quantity_kind
    union all
    select
        'cost' as carrier,
        'cache_read' as quantity_kind
    union all
    select
        'cost' as carrier,
        'cache_write_5m' as quantity_kind
    union all
    select
        'cost' as carrier,
        'cache_write_1h' as quantity_kind
    union all
    select
        'cost' as carrier,
        'output' as quantity_kind
    union all
    select
        'cost' as carrier,
        'request' as quantity_kind
    union all
    select
        'energy' as carrier,
        'prefilled_token' as quantity_kind
    union all
    select
        'energy' as carrier,
        'prefill_pair' as quantity_kind
    union all
    select
        'energy' as carrier,
        'decode_pair' as quantity_kind
    union all
    select
        'energy' as carrier,
        'prompt' as quantity_kind
    union all
    select
        'energy' as carrier,
        'cache_position' as quantity_kind
    union all
    select
        'energy' as carrier,
        'decode_step' as quantity_kind
    union all
    select
        'energy' as carrier,
        'pass' as quantity_kind
)

select
    kinds.carrier::varchar as carrier,
    kinds.quantity_kind::varchar as quantity_kind
from kinds
