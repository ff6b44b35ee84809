-- One row of the company's attribution: what usage it matches, and what it gives it.
-- Its rank says which of several matching rows holds: the one with more filled cells; of those,
-- cell by cell in the order below, a whole name before a beginning, the longer beginning before
-- the shorter, a filled cell before an empty one. Rows alike in all that match the same and may
-- not share a day, so the order of the file decides nothing.
-- materialised: view
-- grain: rule_line

with

weighed as (
    select
        raw_attribution.rule_line,
        raw_attribution.api_key_id,
        raw_attribution.user_id,
        raw_attribution.route,
        raw_attribution.logged_project,
        raw_attribution.logged_team,
        raw_attribution.model_name,
        raw_attribution.provider,
        raw_attribution.team,
        raw_attribution.project,
        raw_attribution.query_class,
        raw_attribution.task_rule,
        raw_attribution.window_s,
        coalesce(
            raw_attribution.valid_from::date::timestamp, '1900-01-01'::timestamp
        ) as valid_from,
        coalesce(raw_attribution.valid_to::date::timestamp, '9999-01-01'::timestamp) as valid_to,
        pattern_weight(raw_attribution.api_key_id) as api_key_id_weight,
        pattern_weight(raw_attribution.user_id) as user_id_weight,
        pattern_weight(raw_attribution.route) as route_weight,
        pattern_weight(raw_attribution.logged_project) as project_weight,
        pattern_weight(raw_attribution.logged_team) as team_weight,
        pattern_weight(raw_attribution.model_name) as model_name_weight,
        pattern_weight(raw_attribution.provider) as provider_weight
    from raw_attribution
)

select
    weighed.rule_line::integer as rule_line,
    row_number() over (
        order by
            least(weighed.api_key_id_weight, 1) + least(weighed.user_id_weight, 1)
            + least(weighed.route_weight, 1) + least(weighed.project_weight, 1)
            + least(weighed.team_weight, 1) + least(weighed.model_name_weight, 1)
            + least(weighed.provider_weight, 1) desc,
            weighed.api_key_id_weight desc,
            weighed.user_id_weight desc,
            weighed.route_weight desc,
            weighed.project_weight desc,
            weighed.team_weight desc,
            weighed.model_name_weight desc,
            weighed.provider_weight desc,
            weighed.rule_line asc
    )::integer as rule_rank,
    weighed.api_key_id::varchar as api_key_id,
    weighed.user_id::varchar as user_id,
    weighed.route::varchar as route,
    weighed.logged_project::varchar as logged_project,
    weighed.logged_team::varchar as logged_team,
    weighed.model_name::varchar as model_name,
    weighed.provider::varchar as provider,
    weighed.team::varchar as team,
    weighed.project::varchar as project,
    weighed.query_class::varchar as query_class,
    weighed.task_rule::varchar as task_rule,
    weighed.window_s::bigint as window_s,
    weighed.valid_from::timestamp as valid_from,
    weighed.valid_to::timestamp as valid_to
from weighed
