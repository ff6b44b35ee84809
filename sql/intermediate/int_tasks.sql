-- One named task as it was done with one model and class, and whether it was solved there.
-- A task is solved when any of its requests is; one without any outcome is never solved.
-- grain: month, provider, model_id, query_class, task_id

select
    int_requests.month::varchar as month,
    int_requests.provider::varchar as provider,
    int_requests.model_id::varchar as model_id,
    int_requests.query_class::varchar as query_class,
    int_requests.task_id::varchar as task_id,
    coalesce(bool_or(int_requests.is_solved), false)::boolean as is_solved,
    bool_and(int_requests.is_solved is null)::boolean as is_unknown
from int_requests
where int_requests.task_id is not null
group by all
