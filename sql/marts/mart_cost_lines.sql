-- Money of a month that no single request carries: discounts and credits, the unused part of
-- commitments, GPUs that stood idle, late usage of closed months, and taxes, which stand apart and
-- are in no cost.
-- A tax given as a share is a share of its provider's cost: its requests, its other charges, and
-- its lines here.
-- grain: month, line_kind, provider, model_id, team, description

with

untaxed as (
    select
        stg_discounts_credits.month,
        'discount or credit' as line_kind,
        stg_discounts_credits.provider,
        stg_discounts_credits.model as model_id,
        stg_discounts_credits.team,
        stg_discounts_credits.description,
        stg_discounts_credits.usd as cost_usd
    from stg_discounts_credits
    union all
    select
        int_commitments.month,
        'committed, unused' as line_kind,
        int_commitments.provider,
        int_commitments.model as model_id,
        null as team,
        case
            when int_commitments.covered_tokens = 0 then 'no request without a bill to cover'
            when int_commitments.is_use_told then 'share of use as told'
            else 'share of use not told: all counts as used'
        end as description,
        int_commitments.unused_usd as cost_usd
    from int_commitments
    union all
    select
        int_hosting.month,
        'idle GPUs' as line_kind,
        'self-hosted' as provider,
        int_hosting.model_id,
        null as team,
        case
            when int_hosting.share_basis = 'no request' then 'no request in the month'
            when int_hosting.busy_hours is null then 'busy time not known: all is shared out'
            else 'hours without any request'
        end as description,
        int_hosting.idle_usd as cost_usd
    from int_hosting
    union all
    select
        stg_corrections.month,
        'correction' as line_kind,
        stg_corrections.provider,
        stg_corrections.model_id,
        stg_corrections.team,
        stg_corrections.description,
        stg_corrections.cost_usd
    from stg_corrections
    where stg_corrections.cost_usd is not null
),

provider_costs as (
    select
        parts.month,
        parts.provider,
        sum(parts.cost_usd) as cost_usd
    from (
        select
            int_group_costs.month,
            int_group_costs.provider,
            int_group_costs.cost_usd
        from int_group_costs
        union all
        select
            int_charges.month,
            int_charges.provider,
            int_charges.billed_cost_usd as cost_usd
        from int_charges
        where int_charges.is_counted
        union all
        select
            untaxed.month,
            untaxed.provider,
            untaxed.cost_usd
        from untaxed
    ) as parts
    group by parts.month, parts.provider
)

select
    untaxed.month::varchar as month,
    untaxed.line_kind::varchar as line_kind,
    untaxed.provider::varchar as provider,
    untaxed.model_id::varchar as model_id,
    untaxed.team::varchar as team,
    untaxed.description::varchar as description,
    true::boolean as is_in_cost,
    untaxed.cost_usd::decimal(38, 15) as cost_usd
from untaxed
union all
select
    stg_taxes.month::varchar as month,
    'tax'::varchar as line_kind,
    stg_taxes.provider::varchar as provider,
    null::varchar as model_id,
    null::varchar as team,
    stg_taxes.description::varchar as description,
    false::boolean as is_in_cost,
    coalesce(
        stg_taxes.usd, (provider_costs.cost_usd::decimal(27, 12) * stg_taxes.tax_frac)
    )::decimal(38, 15) as cost_usd
from stg_taxes
left join provider_costs
    on stg_taxes.month = provider_costs.month and stg_taxes.provider = provider_costs.provider
