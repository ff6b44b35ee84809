-- severity: error
-- meaning: where inputs differ on a model's GPU, stack or batch, a [[deployments]] must decide

select
    int_models.provider,
    int_models.model_id,
    count(distinct raw_inputs.assumed_gpu) as gpu_count,
    count(distinct raw_inputs.assumed_stack) as stack_count,
    count(distinct raw_inputs.assumed_batch) as batch_count
from int_logged_names
inner join int_models
    on
        int_logged_names.logged_provider = int_models.logged_provider
        and int_logged_names.logged_model_name = int_models.logged_model_name
        and int_logged_names.used_on >= int_models.valid_from
        and int_logged_names.used_on < int_models.valid_to
inner join raw_inputs on int_logged_names.input_id = raw_inputs.input_id
left join raw_deployments on int_models.model_id = raw_deployments.model_id
where raw_deployments.model_id is null
group by int_models.provider, int_models.model_id
having
    count(distinct raw_inputs.assumed_gpu) > 1
    or count(distinct raw_inputs.assumed_stack) > 1
    or count(distinct raw_inputs.assumed_batch) > 1
