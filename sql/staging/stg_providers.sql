-- One provider and who runs the GPUs behind it.
-- materialised: view
-- grain: provider

select
    provider::varchar as provider,
    hosting_kind::varchar as hosting_kind
from raw_providers
