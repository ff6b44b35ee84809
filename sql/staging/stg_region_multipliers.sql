-- By how much a region's prices differ from the list, from valid_from until before valid_to.
-- materialised: view
-- grain: provider, model, region, valid_from

select
    coalesce(aliases.provider, lower(raw_region_multipliers.provider))::varchar as provider,
    lower(raw_region_multipliers.model)::varchar as model,
    lower(raw_region_multipliers.region)::varchar as region,
    coalesce(raw_region_multipliers.valid_from::timestamp, '1900-01-01'::timestamp) as valid_from,
    coalesce(raw_region_multipliers.valid_to::timestamp, '9999-01-01'::timestamp) as valid_to,
    raw_region_multipliers.multiplier_ratio::decimal(9, 6) as multiplier_ratio,
    raw_region_multipliers.source::varchar as source,
    raw_region_multipliers.source_date::date as source_date
from raw_region_multipliers
left join raw_provider_aliases as aliases on lower(raw_region_multipliers.provider) = aliases.alias
