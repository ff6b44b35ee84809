-- One exact name under which a provider's log may call a priced model.
-- materialised: view
-- grain: provider, name

select
    provider::varchar as provider,
    name::varchar as name,
    price_model::varchar as price_model
from raw_price_names
