-- severity: warn
-- meaning: own servers' requests with a bill of their own cost that bill, not their GPU share

select
    int_group_costs.month,
    int_group_costs.provider,
    int_group_costs.model_id,
    sum(int_group_costs.billed_cost_usd) as billed_cost_usd,
    sum(int_group_costs.hosting_cost_usd) as hosting_cost_usd
from int_group_costs
where
    int_group_costs.billed_cost_usd is not null
    and int_group_costs.hosting_cost_usd > 0
group by all
order by int_group_costs.month asc, int_group_costs.model_id asc
