-- One accepted row of money that is no request: a line of a bill, a credit, a fee.
-- materialised: view
-- grain: input_id, source_line

select
    raw_usage.input_id::integer as input_id,
    raw_usage.source_line::bigint as source_line,
    raw_usage.occurred_at::timestamp as occurred_at,
    raw_usage.month::varchar as month,
    raw_usage.bucket_end_at::timestamp as bucket_end_at,
    coalesce(raw_usage.provider, '')::varchar as logged_provider,
    coalesce(raw_usage.model_name, '')::varchar as logged_model_name,
    raw_usage.team::varchar as team,
    raw_usage.project::varchar as project,
    raw_usage.user_id::varchar as user_id,
    raw_usage.api_key_id::varchar as api_key_id,
    raw_usage.route::varchar as route,
    lower(raw_usage.charge_kind)::varchar as charge_kind,
    raw_usage.charge_quantity::double as charge_quantity,
    raw_usage.charge_unit::varchar as charge_unit,
    raw_usage.billed_cost_usd::decimal(24, 12) as billed_cost_usd
from raw_usage
where
    raw_usage.reject_reasons is null
    and not raw_usage.is_duplicate
    and raw_usage.charge_kind is not null
