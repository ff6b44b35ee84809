-- severity: warn
-- meaning: where not one mean request fits beside the weights, there is no energy

select
    int_batches.month,
    int_batches.provider,
    int_batches.model_id,
    int_batches.query_class,
    int_batches.batch_max
from int_batches
where int_batches.batch_max < 1
