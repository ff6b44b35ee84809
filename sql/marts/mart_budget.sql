-- What is used of each budget of budgets.csv in its month, and where the month ends at what a day
-- took so far. A budget without a team is that of the whole month, usage of no team included.
-- grain: month, team

with

used as (
    select
        costs.month,
        lower(costs.team) as team,
        sum(costs.cost_usd) as cost_usd
    from int_group_costs as costs
    where costs.team is not null
    group by all
    union all
    select
        costs.month,
        null as team,
        sum(costs.cost_usd) as cost_usd
    from int_group_costs as costs
    group by all
)

select
    budgets.month::varchar as month,
    budgets.team::varchar as team,
    budgets.budget_usd::decimal(38, 15) as budget_usd,
    used.cost_usd::decimal(38, 15) as used_usd,
    (used.cost_usd::double / budgets.budget_usd::double)::double as used_frac,
    (
        used.cost_usd::double * days_in_month(budgets.month)
        / (days_between(month_start(budgets.month), days.last_on) + 1)
    )::decimal(38, 9) as projected_usd,
    (
        used.cost_usd::double * days_in_month(budgets.month)
        / (days_between(month_start(budgets.month), days.last_on) + 1)
        / budgets.budget_usd::double
    )::double as projected_frac,
    days.last_on::date as last_on,
    case
        when days.month is null then 'no usage logged in this month'
        when used.cost_usd is null then 'no usage of known cost of this team in this month'
    end::varchar as reason
from raw_budgets as budgets
left join used
    on budgets.month = used.month and lower(budgets.team) is not distinct from used.team
left join int_month_days as days on budgets.month = days.month
