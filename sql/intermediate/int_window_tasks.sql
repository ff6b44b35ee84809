-- One request whose task the company's attribution tells by time: requests of one session, else of
-- one user, are one task as long as each begins less than the window after the one before.
-- A request of no session and no user is a task by itself, and buckets are no requests.
-- grain: input_id, source_line

with

ruled as (
    select
        usage.input_id,
        usage.source_line,
        usage.occurred_at,
        told.rule_line,
        told.window_s,
        case
            when usage.session_id is not null then 'session ' || usage.session_id
            else 'user ' || usage.user_id
        end as doer
    from stg_usage as usage
    cross join int_attribution_columns as asked
    inner join int_attributions as told
        on
            asked_name(asked.by_provider, usage.logged_provider) = told.provider
            and asked_name(asked.by_model_name, usage.logged_model_name) = told.model_name
            and asked_name(asked.by_team, usage.team) = told.logged_team
            and asked_name(asked.by_project, usage.project) = told.logged_project
            and asked_name(asked.by_user, usage.user_id) = told.user_id
            and asked_name(asked.by_api_key, usage.api_key_id) = told.api_key_id
            and asked_name(asked.by_route, usage.route) = told.route
            and usage.occurred_at >= told.valid_from
            and usage.occurred_at < told.valid_to
            and told.task_rule = 'window'
    where
        not usage.is_bucket
        and (usage.session_id is not null or usage.user_id is not null)
),

followed as (
    select
        ruled.input_id,
        ruled.source_line,
        ruled.occurred_at,
        ruled.rule_line,
        ruled.window_s,
        ruled.doer,
        lag(ruled.occurred_at) over (
            partition by ruled.rule_line, ruled.doer
            order by ruled.occurred_at
        ) as before_at
    from ruled
),

begun as (
    select
        followed.input_id,
        followed.source_line,
        followed.rule_line,
        followed.doer,
        max(
            case
                when
                    followed.before_at is null
                    or followed.occurred_at
                    >= followed.before_at + followed.window_s * interval '1' second
                    then followed.occurred_at
            end
        ) over (
            partition by followed.rule_line, followed.doer
            order by followed.occurred_at
        ) as begun_at
    from followed
)

select
    begun.input_id::integer as input_id,
    begun.source_line::bigint as source_line,
    ('window ' || begun.rule_line || ' ' || begun.begun_at || ' ' || begun.doer)::varchar as task_id
from begun
