-- What each day took, by team, model and class: requests, tokens, cost and electricity.
-- Buckets longer than a day belong to no day: is_day is false, and their first day stands there.
-- grain: month, day_on, is_day, team, provider, model_id, query_class

select
    usage.month::varchar as month,
    usage.day_on::date as day_on,
    usage.is_day::boolean as is_day,
    usage.team::varchar as team,
    usage.provider::varchar as provider,
    usage.model_id::varchar as model_id,
    usage.query_class::varchar as query_class,
    sum(usage.request_count)::decimal(38, 0) as request_count,
    sum(usage.tokens)::decimal(38, 0) as tokens,
    sum(usage.passes)::decimal(38, 0) as passes,
    sum(usage.cost_usd)::decimal(38, 15) as cost_usd,
    sum(usage.facility_energy_kwh::decimal(38, 22))::decimal(38, 22) as facility_energy_kwh
from int_day_usage as usage
group by all
