-- severity: warn
-- meaning: where a log tells more requests at once than fit, its unit or the replicas are others

select
    int_batches.month,
    int_batches.provider,
    int_batches.model_id,
    int_batches.query_class,
    int_batches.batch_source,
    int_logged_batches.batch,
    int_batches.batch_max
from int_batches
inner join int_logged_batches
    on
        int_batches.month = int_logged_batches.month
        and int_batches.provider = int_logged_batches.provider
        and int_batches.model_id = int_logged_batches.model_id
        and int_batches.query_class = int_logged_batches.query_class
where int_logged_batches.batch > int_batches.batch_max
