-- severity: error
-- meaning: joins to models, classes and prices neither lose nor repeat a row

with

counts as (
    select
        (select count(*) from stg_usage) as accepted_count,
        (
            select coalesce(sum(int_usage_groups.row_count), 0) from int_usage_groups
        ) as request_row_count
)

select
    counts.accepted_count,
    counts.request_row_count
from counts
where counts.accepted_count <> counts.request_row_count
