-- One task of a reported month that has a request of class agentic, numbered.
-- grain: month, task_id

with

agentic as (
    select
        int_tasks.month,
        int_tasks.task_id
    from int_tasks
    inner join int_cells as cells
        on
            int_tasks.month = cells.month
            and int_tasks.provider = cells.provider
            and int_tasks.model_id = cells.model_id
            and int_tasks.query_class = cells.query_class
    where int_tasks.query_class = 'agentic' and cells.is_reported
    group by all
)

select
    row_number() over (order by agentic.month, agentic.task_id)::integer as task_number,
    agentic.month::varchar as month,
    agentic.task_id::varchar as task_id
from agentic
