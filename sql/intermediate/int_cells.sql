-- One model and class of a month, numbered, since numbers sort and group faster than four texts. Of a
-- month that is only compared with (is_reported is false) the sums are enough: steps of agents are
-- not followed there.
-- grain: cell_id

with

cells as (
    select distinct
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class
    from int_usage_groups as usage
)

select
    row_number() over (
        order by cells.month, cells.provider, cells.model_id, cells.query_class
    )::integer as cell_id,
    dense_rank() over (order by cells.month, cells.provider, cells.model_id)::integer
        as model_number,
    cells.month::varchar as month,
    cells.provider::varchar as provider,
    cells.model_id::varchar as model_id,
    cells.query_class::varchar as query_class,
    (cells.month >= reported.first_month)::boolean as is_reported
from cells
cross join raw_reported as reported
