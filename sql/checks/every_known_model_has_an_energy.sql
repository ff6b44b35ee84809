-- severity: error
-- meaning: a model of the catalog whose requests can be measured and fit its GPUs has an energy

select
    int_batches.month,
    int_batches.provider,
    int_batches.model_id,
    int_batches.query_class
from int_batches
left join int_class_energy
    on
        int_batches.month = int_class_energy.month
        and int_batches.provider = int_class_energy.provider
        and int_batches.model_id = int_class_energy.model_id
        and int_batches.query_class = int_class_energy.query_class
where int_batches.batch is not null and int_class_energy.model_id is null
