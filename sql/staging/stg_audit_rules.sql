-- One number by which measured power is judged.
-- materialised: view
-- grain: rule

select
    rule::varchar as rule,
    value::double as value
from raw_audit_rules
