-- What late usage of a closed month costs, in the month that carries it.
-- materialised: view
-- grain: month, corrected_month, provider, model_id, team

select
    raw_corrections.month::varchar as month,
    raw_corrections.corrected_month::varchar as corrected_month,
    raw_corrections.provider::varchar as provider,
    raw_corrections.model_id::varchar as model_id,
    raw_corrections.team::varchar as team,
    (
        'late usage of ' || raw_corrections.corrected_month || ', requests: '
        || coalesce(raw_corrections.request_count, 0)
    )::varchar as description,
    raw_corrections.request_count::bigint as request_count,
    raw_corrections.cost_usd::decimal(38, 15) as cost_usd,
    raw_corrections.facility_energy_kwh::double as facility_energy_kwh
from raw_corrections
