-- One logged name resolved to a model of the catalog, its provider and its price list entry.
-- Names match exactly, after the user's own map: as logged, then without a date at the end,
-- first against model ids, then against the alias table. Never by likeness.
-- grain: logged_provider, logged_model_name

with

logged as (
    select distinct
        int_logged_names.logged_provider,
        int_logged_names.logged_model_name
    from int_logged_names
),

named as (
    select
        logged.logged_provider,
        logged.logged_model_name,
        coalesce(stg_provider_aliases.provider, lower(logged.logged_provider)) as named_provider,
        case
            when
                logged.logged_provider <> ''
                and starts_with(
                    lower(logged.logged_model_name), lower(logged.logged_provider) || '/'
                )
                then
                    lower(substr(logged.logged_model_name, length(logged.logged_provider) + 2))
            else lower(logged.logged_model_name)
        end as name_key
    from logged
    left join stg_provider_aliases
        on lower(logged.logged_provider) = stg_provider_aliases.alias
),

-- A closed model's name may begin with who serves it: azure/gpt-4o.
prefixes as (
    select
        stg_providers.provider as prefix,
        stg_providers.provider
    from stg_providers
    union
    select
        stg_provider_aliases.alias as prefix,
        stg_provider_aliases.provider
    from stg_provider_aliases
),

keyed as (
    select
        named.logged_provider,
        named.logged_model_name,
        named.named_provider,
        named.name_key,
        regexp_replace(
            named.name_key, '(-[0-9]{4}-[0-9]{2}-[0-9]{2}|[-@][0-9]{8})$', ''
        ) as undated_key
    from named
),

identified as (
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        keyed.named_provider,
        keyed.name_key,
        keyed.undated_key,
        mapped.model_id is not null as is_mapped,
        coalesce(
            mapped.model_id,
            exact.model_id,
            exact_alias.model_id,
            undated.model_id,
            undated_alias.model_id
        ) as model_id
    from keyed
    left join raw_model_map as mapped on lower(keyed.logged_model_name) = lower(mapped.name)
    left join stg_models as exact on keyed.name_key = exact.model_key
    left join stg_model_aliases as exact_alias on keyed.name_key = exact_alias.alias
    left join stg_models as undated on keyed.undated_key = undated.model_key
    left join stg_model_aliases as undated_alias on keyed.undated_key = undated_alias.alias
),

hosted as (
    select
        identified.logged_provider,
        identified.logged_model_name,
        identified.name_key,
        identified.undated_key,
        identified.is_mapped,
        identified.model_id,
        case
            when identified.named_provider <> '' then identified.named_provider
            when not stg_models.is_open and prefixed.provider is not null
                then prefixed.provider
            when stg_models.model_id is not null and not stg_models.is_open
                then stg_models.developer
            else 'self-hosted'
        end as provider
    from identified
    left join stg_models on identified.model_id = stg_models.model_id
    left join prefixes as prefixed
        on split_part(identified.name_key, '/', 1) = prefixed.prefix
)

select
    hosted.logged_provider::varchar as logged_provider,
    hosted.logged_model_name::varchar as logged_model_name,
    hosted.provider::varchar as provider,
    coalesce(hosted.model_id, hosted.logged_model_name)::varchar as model_id,
    (hosted.model_id is not null)::boolean as is_known_model,
    coalesce(stg_providers.hosting_kind, 'api')::varchar as hosting_kind,
    coalesce(
        case when hosted.is_mapped then price_of_model.price_model end,
        price_of_name.price_model,
        price_of_undated.price_model,
        price_of_model.price_model
    )::varchar as price_model
from hosted
left join stg_providers on hosted.provider = stg_providers.provider
left join stg_price_names as price_of_name
    on hosted.provider = price_of_name.provider and hosted.name_key = price_of_name.name
left join stg_price_names as price_of_undated
    on hosted.provider = price_of_undated.provider and hosted.undated_key = price_of_undated.name
left join stg_price_names as price_of_model
    on hosted.provider = price_of_model.provider and lower(hosted.model_id) = price_of_model.name
