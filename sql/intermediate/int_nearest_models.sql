-- The catalog's name nearest to one that it does not know: a suggestion to a reader, and nothing
-- that any figure rests on. First the longest name that the unknown one begins with, else the one
-- fewest letters away, if those are at most two fifths of it. Of the hundred largest names.
-- grain: model_name

with

unknown as (
    select
        int_model_coverage.model_id as model_name,
        sum(int_model_coverage.input_tokens + int_model_coverage.output_tokens) as tokens
    from int_model_coverage
    where not int_model_coverage.is_known_model and length(int_model_coverage.model_id) <= 100
    group by all
),

largest as (
    select
        unknown.model_name,
        lower(regexp_replace(unknown.model_name, '^.*/', '')) as name_key
    from unknown
    order by unknown.tokens desc, unknown.model_name asc
    limit 100
),

catalog as (
    select
        stg_models.model_id,
        regexp_replace(stg_models.model_key, '^.*/', '') as name_key
    from stg_models
    union
    select
        stg_model_aliases.model_id,
        regexp_replace(stg_model_aliases.alias, '^.*/', '') as name_key
    from stg_model_aliases
),

compared as (
    select
        largest.model_name,
        catalog.model_id,
        catalog.name_key,
        length(largest.name_key) as name_length,
        length(catalog.name_key) as catalog_length,
        length(catalog.name_key) >= 4 and starts_with(largest.name_key, catalog.name_key)
            as is_beginning,
        levenshtein(largest.name_key, catalog.name_key) as distance
    from largest
    cross join catalog
),

ranked as (
    select
        compared.model_name,
        compared.model_id,
        row_number() over (
            partition by compared.model_name
            order by
                compared.is_beginning desc,
                case when compared.is_beginning then compared.catalog_length else 0 end desc,
                compared.distance asc,
                compared.model_id asc
        ) as choice
    from compared
    where compared.is_beginning or compared.distance * 5 <= compared.name_length * 2
)

select
    ranked.model_name::varchar as model_name,
    ranked.model_id::varchar as nearest_model_id
from ranked
where ranked.choice = 1
