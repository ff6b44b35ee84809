-- One discount or credit of a month that no single request carries; a credit is below zero.
-- materialised: view
-- grain: month, provider, model, team, description

select
    month::varchar as month,
    lower(provider)::varchar as provider,
    model::varchar as model,
    team::varchar as team,
    description::varchar as description,
    usd::decimal(24, 9) as usd
from raw_discounts_credits
