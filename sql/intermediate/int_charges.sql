-- Money that is no request, summed by model, team and kind of charge.
-- A bill for tokens stands beside the usage that it bills: it is held against it, and counts as
-- cost only where the month has no usage of that provider at all. Every other charge counts.
-- grain: month, provider, model_id, team, charge_kind

with

used as (
    select distinct
        int_usage_groups.month,
        int_usage_groups.provider
    from int_usage_groups
),

charges as (
    select
        stg_charges.month,
        coalesce(
            int_models.provider, nullif(lower(stg_charges.logged_provider), ''), 'unknown'
        ) as provider,
        coalesce(int_models.model_id, nullif(stg_charges.logged_model_name, '')) as model_id,
        coalesce(told.team, stg_charges.team) as team,
        stg_charges.charge_kind,
        stg_charges.billed_cost_usd
    from stg_charges
    left join int_models
        on
            stg_charges.logged_provider = int_models.logged_provider
            and stg_charges.logged_model_name = int_models.logged_model_name
            and stg_charges.occurred_at >= int_models.valid_from
            and stg_charges.occurred_at < int_models.valid_to
    cross join int_attribution_columns as asked
    left join int_attributions as told
        on
            asked_name(asked.by_provider, stg_charges.logged_provider) = told.provider
            and asked_name(asked.by_model_name, stg_charges.logged_model_name) = told.model_name
            and asked_name(asked.by_team, stg_charges.team) = told.logged_team
            and asked_name(asked.by_project, stg_charges.project) = told.logged_project
            and asked_name(asked.by_user, stg_charges.user_id) = told.user_id
            and asked_name(asked.by_api_key, stg_charges.api_key_id) = told.api_key_id
            and asked_name(asked.by_route, stg_charges.route) = told.route
            and stg_charges.occurred_at >= told.valid_from
            and stg_charges.occurred_at < told.valid_to
)

select
    charges.month::varchar as month,
    charges.provider::varchar as provider,
    charges.model_id::varchar as model_id,
    charges.team::varchar as team,
    charges.charge_kind::varchar as charge_kind,
    (charges.charge_kind <> 'billed_tokens' or used.provider is null)::boolean as is_counted,
    count(*)::bigint as row_count,
    sum(charges.billed_cost_usd)::decimal(38, 12) as billed_cost_usd
from charges
left join used on charges.month = used.month and charges.provider = used.provider
group by all
