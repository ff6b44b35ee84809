-- GPU energy of a whole class replayed on one model: over its stand-ins the geometric mean.
-- grain: month, query_class, provider, model_id

select
    work.month::varchar as month,
    work.query_class::varchar as query_class,
    work.provider::varchar as provider,
    work.model_id::varchar as model_id,
    min(work.coefficient_set_id)::varchar as coefficient_set_id,
    max(work.evidence_grade)::varchar as evidence_grade,
    geometric_mean(work.gpu_energy_j)::double as gpu_energy_j
from int_replay_work as work
where work.scope = 'all'
group by work.month, work.query_class, work.provider, work.model_id
