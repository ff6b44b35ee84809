-- One model at one provider: who runs its GPUs, and whether the catalog knows it.
-- grain: provider, model_id

select
    int_models.provider::varchar as provider,
    int_models.model_id::varchar as model_id,
    min(int_models.hosting_kind)::varchar as hosting_kind,
    bool_and(int_models.is_known_model)::boolean as is_known_model
from int_models
group by all
