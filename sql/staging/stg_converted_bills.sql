-- One accepted row whose bill was written in another currency and turned into dollars.
-- materialised: view
-- grain: input_id, source_line

select
    raw_usage.input_id::integer as input_id,
    raw_usage.source_line::bigint as source_line,
    raw_usage.month::varchar as month,
    upper(trim(raw_usage.billed_currency))::varchar as currency,
    raw_usage.billed_cost_usd::decimal(24, 12) as billed_cost_usd
from raw_usage
where
    raw_usage.reject_reasons is null
    and not raw_usage.is_duplicate
    and raw_usage.billed_cost_usd is not null
    and upper(trim(raw_usage.billed_currency)) <> 'USD'
