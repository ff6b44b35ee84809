-- severity: warn
-- meaning: usage without price or bill counts as unpriced and is left out of every cost

select
    mart_unpriced_usage.month,
    mart_unpriced_usage.provider,
    mart_unpriced_usage.model_id,
    mart_unpriced_usage.service_tier,
    mart_unpriced_usage.unpriced_reason,
    mart_unpriced_usage.what_to_add,
    mart_unpriced_usage.request_count
from mart_unpriced_usage
where mart_unpriced_usage.unpriced_reason <> 'no GPU bill'
order by
    mart_unpriced_usage.month asc,
    mart_unpriced_usage.request_count desc,
    mart_unpriced_usage.model_id asc
