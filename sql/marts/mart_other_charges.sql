-- Money that is no request, such as fees, credits and other services; their energy is unknown.
-- A bill for tokens is listed too, and counts only where the month has no usage of its provider.
-- grain: month, provider, model_id, team, charge_kind

select
    int_charges.month::varchar as month,
    int_charges.provider::varchar as provider,
    int_charges.model_id::varchar as model_id,
    int_charges.team::varchar as team,
    int_charges.charge_kind::varchar as charge_kind,
    int_charges.is_counted::boolean as is_counted,
    int_charges.row_count::bigint as row_count,
    int_charges.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    (case when int_charges.is_counted then int_charges.billed_cost_usd else 0 end)::decimal(38, 15)
        as counted_cost_usd
from int_charges
