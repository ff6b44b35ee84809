-- One logged name, over a period in which it means one model: that model of the catalog, its
-- provider and its price list entry. Only periods in which the name was used are here.
-- Names match exactly, never by likeness: first by the user's own map, then by model ids and by
-- the alias table, then by both without a date at the end of the name.
-- grain: logged_provider, logged_model_name, valid_from

with

logged as (
    select
        int_logged_names.logged_provider,
        int_logged_names.logged_model_name,
        min(int_logged_names.used_on) as first_on,
        max(int_logged_names.used_on) as last_on
    from int_logged_names
    group by all
),

named as (
    select
        logged.logged_provider,
        logged.logged_model_name,
        coalesce(stg_provider_aliases.provider, lower(logged.logged_provider)) as named_provider,
        lower(logged.logged_model_name) as full_key,
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

keyed as (
    select
        named.logged_provider,
        named.logged_model_name,
        named.named_provider,
        named.full_key,
        named.name_key,
        regexp_replace(
            named.name_key, '(-[0-9]{4}-[0-9]{2}-[0-9]{2}|[-@][0-9]{8})$', ''
        ) as undated_key
    from named
),

always as (
    select
        stg_models.model_key,
        stg_models.model_id,
        '1900-01-01'::timestamp as valid_from,
        '9999-01-01'::timestamp as valid_to
    from stg_models
),

-- What a name may mean, the most binding first: told by the user for this provider, for any (as
-- logged, without the provider before it); an id; an alias; an id, an alias without its date.
meanings as (
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        case when stg_model_names.provider = '' then 3 else 1 end
        + case when stg_model_names.logged_name = keyed.full_key then 0 else 1 end
            as meaning_rank,
        stg_model_names.model_id,
        stg_model_names.valid_from,
        stg_model_names.valid_to
    from keyed
    inner join stg_model_names
        on
            (
                keyed.full_key = stg_model_names.logged_name
                or keyed.name_key = stg_model_names.logged_name
            )
            and stg_model_names.provider in ('', keyed.named_provider)
    union all
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        5 as meaning_rank,
        always.model_id,
        always.valid_from,
        always.valid_to
    from keyed
    inner join always on keyed.name_key = always.model_key
    union all
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        6 as meaning_rank,
        stg_model_aliases.model_id,
        stg_model_aliases.valid_from,
        stg_model_aliases.valid_to
    from keyed
    inner join stg_model_aliases on keyed.name_key = stg_model_aliases.alias
    union all
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        7 as meaning_rank,
        always.model_id,
        always.valid_from,
        always.valid_to
    from keyed
    inner join always on keyed.undated_key = always.model_key
    union all
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        8 as meaning_rank,
        stg_model_aliases.model_id,
        stg_model_aliases.valid_from,
        stg_model_aliases.valid_to
    from keyed
    inner join stg_model_aliases on keyed.undated_key = stg_model_aliases.alias
),

moments as (
    select
        meanings.logged_provider,
        meanings.logged_model_name,
        meanings.valid_from as moment
    from meanings
    union
    select
        meanings.logged_provider,
        meanings.logged_model_name,
        meanings.valid_to as moment
    from meanings
    union
    select
        logged.logged_provider,
        logged.logged_model_name,
        '1900-01-01'::timestamp as moment
    from logged
),

spans as (
    select
        moments.logged_provider,
        moments.logged_model_name,
        moments.moment as valid_from,
        coalesce(
            lead(moments.moment) over (
                partition by moments.logged_provider, moments.logged_model_name
                order by moments.moment
            ),
            '9999-01-01'::timestamp
        ) as valid_to
    from moments
),

used_spans as (
    select
        spans.logged_provider,
        spans.logged_model_name,
        spans.valid_from,
        spans.valid_to
    from spans
    inner join logged
        on
            spans.logged_provider = logged.logged_provider
            and spans.logged_model_name = logged.logged_model_name
            and spans.valid_from <= logged.last_on
            and spans.valid_to > logged.first_on
),

-- Of meanings of one rank that hold on the same day, the one that began last.
ranked as (
    select
        used_spans.logged_provider,
        used_spans.logged_model_name,
        used_spans.valid_from,
        used_spans.valid_to,
        meanings.meaning_rank,
        meanings.model_id,
        row_number() over (
            partition by
                used_spans.logged_provider, used_spans.logged_model_name, used_spans.valid_from
            order by meanings.meaning_rank asc, meanings.valid_from desc, meanings.model_id asc
        ) as choice
    from used_spans
    left join meanings
        on
            used_spans.logged_provider = meanings.logged_provider
            and used_spans.logged_model_name = meanings.logged_model_name
            and used_spans.valid_from >= meanings.valid_from
            and used_spans.valid_from < meanings.valid_to
),

identified as (
    select
        keyed.logged_provider,
        keyed.logged_model_name,
        keyed.named_provider,
        keyed.name_key,
        keyed.undated_key,
        ranked.valid_from,
        ranked.valid_to,
        ranked.model_id,
        coalesce(ranked.meaning_rank <= 4, false) as is_mapped
    from keyed
    inner join ranked
        on
            keyed.logged_provider = ranked.logged_provider
            and keyed.logged_model_name = ranked.logged_model_name
            and ranked.choice = 1
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

hosted as (
    select
        identified.logged_provider,
        identified.logged_model_name,
        identified.valid_from,
        identified.valid_to,
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
    hosted.valid_from::timestamp as valid_from,
    hosted.valid_to::timestamp as valid_to,
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
