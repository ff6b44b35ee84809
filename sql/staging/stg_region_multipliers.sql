-- By how much a region's prices differ from the list, from valid_from until before valid_to.
-- materialised: view
-- grain: provider, model, region, valid_from

select
    lower(provider)::varchar as provider,
    lower(model)::varchar as model,
    lower(region)::varchar as region,
    coalesce(valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    multiplier_ratio::decimal(9, 6) as multiplier_ratio
from raw_region_multipliers
