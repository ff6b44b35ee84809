-- One exact other name of a model, over the days on which it meant that model.
-- Half-open: a request of the day valid_to is no longer meant. Days are those of UTC.
-- materialised: view
-- grain: alias, valid_from

select
    lower(raw_model_aliases.alias)::varchar as alias,
    coalesce(
        raw_model_aliases.valid_from::date::timestamp, '1900-01-01'::timestamp
    )::timestamp as valid_from,
    coalesce(
        raw_model_aliases.valid_to::date::timestamp, '9999-01-01'::timestamp
    )::timestamp as valid_to,
    min(raw_model_aliases.model_id)::varchar as model_id
from raw_model_aliases
group by all
