-- severity: error
-- meaning: teams and classes show the same requests, energy, and money to the last digit

with

teams as (
    select
        mart_team_chargeback.month,
        sum(mart_team_chargeback.request_count) as request_count,
        coalesce(sum(mart_team_chargeback.cost_usd), 0) as cost_usd,
        coalesce(sum(mart_team_chargeback.gpu_energy_j::decimal(38, 15)), 0)::double as energy_j
    from mart_team_chargeback
    group by all
),

classes as (
    select
        mart_cost_per_task.month,
        sum(mart_cost_per_task.request_count) as request_count,
        coalesce(sum(mart_cost_per_task.cost_usd), 0) as cost_usd,
        coalesce(sum(mart_cost_per_task.gpu_energy_j::decimal(38, 15)), 0)::double as energy_j
    from mart_cost_per_task
    group by all
)

select
    classes.month,
    classes.request_count,
    teams.request_count as team_request_count,
    classes.cost_usd,
    teams.cost_usd as team_cost_usd,
    classes.energy_j,
    teams.energy_j as team_energy_j
from classes
full join teams on classes.month = teams.month
where
    classes.month is null
    or teams.month is null
    or classes.request_count <> teams.request_count
    or classes.cost_usd <> teams.cost_usd
    or abs(classes.energy_j - teams.energy_j) > 0.000000001 * classes.energy_j
