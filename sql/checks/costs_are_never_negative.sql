-- severity: error
-- meaning: list and billed cost of usage are not below zero (credits have rows of their own)

select
    int_group_costs.month,
    int_group_costs.provider,
    int_group_costs.model_id,
    int_group_costs.query_class,
    int_group_costs.list_cost_usd,
    int_group_costs.billed_cost_usd
from int_group_costs
where int_group_costs.list_cost_usd < 0 or int_group_costs.billed_cost_usd < 0
