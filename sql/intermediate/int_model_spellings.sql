-- The ways in which a company's own tables may name a model that its logs use: by its id in the
-- catalog, by its name on the price list, or as logged. Lower case.
-- grain: provider, spelling, model_id

with

spelt as (
    select
        int_models.provider,
        int_models.model_id,
        lower(int_models.model_id) as spelling
    from int_models
    union
    select
        int_models.provider,
        int_models.model_id,
        lower(int_models.price_model) as spelling
    from int_models
    where int_models.price_model is not null
    union
    select
        int_models.provider,
        int_models.model_id,
        lower(int_models.logged_model_name) as spelling
    from int_models
    union
    select
        int_models.provider,
        int_models.model_id,
        stg_model_aliases.alias as spelling
    from int_models
    inner join stg_model_aliases on int_models.model_id = stg_model_aliases.model_id
)

select
    spelt.provider::varchar as provider,
    spelt.spelling::varchar as spelling,
    spelt.model_id::varchar as model_id
from spelt
