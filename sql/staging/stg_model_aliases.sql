-- One exact other name of a model; never matched by likeness.
-- materialised: view
-- grain: alias

select
    lower(alias)::varchar as alias,
    min(model_id)::varchar as model_id
from raw_model_aliases
group by all
