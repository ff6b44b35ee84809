-- One open architecture that stands in for the closed models of a tier.
-- materialised: view
-- grain: stand_in_tier, architecture_id

select
    stand_in_tier::varchar as stand_in_tier,
    architecture_id::varchar as architecture_id,
    bytes_per_weight::double as bytes_per_weight
from raw_stand_ins
