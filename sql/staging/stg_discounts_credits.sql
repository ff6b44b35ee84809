-- One discount or credit of a month that no single request carries; a credit is below zero.
-- materialised: view
-- grain: month, provider, model, team, description

select
    raw_discounts_credits.month::varchar as month,
    coalesce(aliases.provider, lower(raw_discounts_credits.provider))::varchar as provider,
    raw_discounts_credits.model::varchar as model,
    raw_discounts_credits.team::varchar as team,
    raw_discounts_credits.description::varchar as description,
    raw_discounts_credits.usd::decimal(24, 9) as usd
from raw_discounts_credits
left join raw_provider_aliases as aliases on lower(raw_discounts_credits.provider) = aliases.alias
