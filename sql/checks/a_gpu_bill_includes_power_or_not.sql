-- severity: error
-- meaning: the rows of one deployment's GPU bill must agree on whether it includes electricity

select
    stg_hosting_costs.month,
    lower(stg_hosting_costs.deployment) as deployment,
    count(distinct stg_hosting_costs.bill_includes_power) as answer_count
from stg_hosting_costs
group by stg_hosting_costs.month, lower(stg_hosting_costs.deployment)
having count(distinct stg_hosting_costs.bill_includes_power) > 1
