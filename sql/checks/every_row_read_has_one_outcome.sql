-- severity: error
-- meaning: rows read = accepted + rejected + duplicate, for every file

with

outcomes as (
    select
        mart_intake.source_file,
        sum(mart_intake.row_count) as row_count
    from mart_intake
    group by all
),

files as (
    select
        raw_inputs.source_file,
        sum(raw_inputs.row_count) as row_count
    from raw_inputs
    group by all
)

select
    files.source_file,
    files.row_count as read_row_count,
    coalesce(outcomes.row_count, 0) as outcome_row_count
from files
left join outcomes on files.source_file = outcomes.source_file
where files.row_count <> coalesce(outcomes.row_count, 0)
