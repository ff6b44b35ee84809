-- severity: error
-- meaning: projects and classes show the same requests, energy, and money to the last digit

with

projects as (
    select
        mart_project_chargeback.month,
        sum(mart_project_chargeback.request_count) as request_count,
        coalesce(sum(mart_project_chargeback.cost_usd), 0) as cost_usd,
        coalesce(sum(mart_project_chargeback.gpu_energy_j::decimal(38, 15)), 0)::double as energy_j
    from mart_project_chargeback
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
    projects.request_count as project_request_count,
    classes.cost_usd,
    projects.cost_usd as project_cost_usd,
    classes.energy_j,
    projects.energy_j as project_energy_j
from classes
full join projects on classes.month = projects.month
where
    classes.month is null
    or projects.month is null
    or classes.request_count <> projects.request_count
    or classes.cost_usd <> projects.cost_usd
    or abs(classes.energy_j - projects.energy_j) > 0.000000001 * classes.energy_j
