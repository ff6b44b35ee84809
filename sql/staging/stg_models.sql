-- One model of the catalog: open ones name their architecture, closed ones a stand-in tier.
-- materialised: view
-- grain: model_id

select
    model_id::varchar as model_id,
    lower(model_id)::varchar as model_key,
    developer::varchar as developer,
    is_open::boolean as is_open,
    architecture_id::varchar as architecture_id,
    stand_in_tier::varchar as stand_in_tier,
    context_tokens::integer as context_tokens
from raw_models
