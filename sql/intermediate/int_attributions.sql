-- One set of names that rows of usage and of bills carry, over a period in which one row of the
-- company's attribution holds for it. Names that no row matches are not here, and nothing is read
-- where there is no attribution. A name that is not logged, or not asked for by any row, is ''.
-- grain: provider, model_name, logged_team, logged_project, user_id, api_key_id, route, valid_from

with

named as (
    select
        asked_name(asked.by_provider, stg_usage.logged_provider) as provider,
        asked_name(asked.by_model_name, stg_usage.logged_model_name) as model_name,
        asked_name(asked.by_team, stg_usage.team) as logged_team,
        asked_name(asked.by_project, stg_usage.project) as logged_project,
        asked_name(asked.by_user, stg_usage.user_id) as user_id,
        asked_name(asked.by_api_key, stg_usage.api_key_id) as api_key_id,
        asked_name(asked.by_route, stg_usage.route) as route
    from stg_usage
    cross join int_attribution_columns as asked
    where (select count(*) from stg_attribution) > 0
    union all
    select
        asked_name(asked.by_provider, stg_charges.logged_provider) as provider,
        asked_name(asked.by_model_name, stg_charges.logged_model_name) as model_name,
        asked_name(asked.by_team, stg_charges.team) as logged_team,
        asked_name(asked.by_project, stg_charges.project) as logged_project,
        asked_name(asked.by_user, stg_charges.user_id) as user_id,
        asked_name(asked.by_api_key, stg_charges.api_key_id) as api_key_id,
        asked_name(asked.by_route, stg_charges.route) as route
    from stg_charges
    cross join int_attribution_columns as asked
    where (select count(*) from stg_attribution) > 0
),

logged as (
    select distinct
        named.provider,
        named.model_name,
        named.logged_team,
        named.logged_project,
        named.user_id,
        named.api_key_id,
        named.route
    from named
),

numbered as (
    select
        row_number() over (
            order by
                logged.provider, logged.model_name, logged.logged_team,
                logged.logged_project, logged.user_id, logged.api_key_id, logged.route
        ) as names_id,
        logged.provider,
        logged.model_name,
        logged.logged_team,
        logged.logged_project,
        logged.user_id,
        logged.api_key_id,
        logged.route
    from logged
),

matches as (
    select
        numbered.names_id,
        stg_attribution.rule_rank,
        stg_attribution.rule_line,
        stg_attribution.team,
        stg_attribution.project,
        stg_attribution.query_class,
        stg_attribution.task_rule,
        stg_attribution.window_s,
        stg_attribution.valid_from,
        stg_attribution.valid_to
    from numbered
    inner join stg_attribution
        on
            fits_pattern(numbered.api_key_id, stg_attribution.api_key_id)
            and fits_pattern(numbered.user_id, stg_attribution.user_id)
            and fits_pattern(numbered.route, stg_attribution.route)
            and fits_pattern(numbered.logged_project, stg_attribution.logged_project)
            and fits_pattern(numbered.logged_team, stg_attribution.logged_team)
            and fits_pattern(numbered.model_name, stg_attribution.model_name)
            and fits_pattern(numbered.provider, stg_attribution.provider)
),

moments as (
    select
        matches.names_id,
        matches.valid_from as moment
    from matches
    union
    select
        matches.names_id,
        matches.valid_to as moment
    from matches
),

spans as (
    select
        moments.names_id,
        moments.moment as valid_from,
        lead(moments.moment) over (
            partition by moments.names_id
            order by moments.moment
        ) as valid_to
    from moments
),

ranked as (
    select
        spans.names_id,
        spans.valid_from,
        spans.valid_to,
        matches.rule_line,
        matches.team,
        matches.project,
        matches.query_class,
        matches.task_rule,
        matches.window_s,
        row_number() over (
            partition by spans.names_id, spans.valid_from
            order by matches.rule_rank
        ) as choice
    from spans
    inner join matches
        on
            spans.names_id = matches.names_id
            and spans.valid_from >= matches.valid_from
            and spans.valid_from < matches.valid_to
)

select
    numbered.provider::varchar as provider,
    numbered.model_name::varchar as model_name,
    numbered.logged_team::varchar as logged_team,
    numbered.logged_project::varchar as logged_project,
    numbered.user_id::varchar as user_id,
    numbered.api_key_id::varchar as api_key_id,
    numbered.route::varchar as route,
    ranked.valid_from::timestamp as valid_from,
    ranked.valid_to::timestamp as valid_to,
    ranked.rule_line::integer as rule_line,
    ranked.team::varchar as team,
    ranked.project::varchar as project,
    ranked.query_class::varchar as query_class,
    ranked.task_rule::varchar as task_rule,
    ranked.window_s::bigint as window_s
from ranked
inner join numbered on ranked.names_id = numbered.names_id
where ranked.choice = 1
