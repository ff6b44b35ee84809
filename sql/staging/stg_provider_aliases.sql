-- One other name under which a log may call a provider.
-- materialised: view
-- grain: alias

select
    lower(alias)::varchar as alias,
    provider::varchar as provider
from raw_provider_aliases
