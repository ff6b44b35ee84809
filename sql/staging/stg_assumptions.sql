-- One assumption with its value, low and high; settings have already replaced what they name.
-- materialised: view
-- grain: assumption

select
    assumption::varchar as assumption,
    value::double as value,
    low::double as low,
    high::double as high
from raw_assumptions
