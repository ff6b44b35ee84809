-- severity: warn
-- meaning: own servers without a row in hosting_costs have no cost; add their GPU bill

select
    mart_unpriced_usage.month,
    mart_unpriced_usage.provider,
    mart_unpriced_usage.model_id,
    mart_unpriced_usage.what_to_add,
    mart_unpriced_usage.request_count
from mart_unpriced_usage
where mart_unpriced_usage.unpriced_reason = 'no GPU bill'
order by
    mart_unpriced_usage.month asc,
    mart_unpriced_usage.request_count desc,
    mart_unpriced_usage.model_id asc
