-- One name that the user gives a model, at one provider or ('') at any, over the days on which it
-- means that model.
-- materialised: view
-- grain: logged_name, provider, valid_from

select
    lower(raw_model_names.name)::varchar as logged_name,
    coalesce(
        stg_provider_aliases.provider, lower(raw_model_names.provider), ''
    )::varchar as provider,
    coalesce(
        raw_model_names.valid_from::date::timestamp, '1900-01-01'::timestamp
    )::timestamp as valid_from,
    coalesce(
        raw_model_names.valid_to::date::timestamp, '9999-01-01'::timestamp
    )::timestamp as valid_to,
    raw_model_names.model_id::varchar as model_id
from raw_model_names
left join stg_provider_aliases
    on lower(raw_model_names.provider) = stg_provider_aliases.alias
