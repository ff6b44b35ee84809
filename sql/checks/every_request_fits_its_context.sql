-- severity: warn
-- meaning: mean requests longer than the model's stated context are computed, but doubtful

select
    int_class_moments.month,
    int_class_moments.provider,
    int_class_moments.model_id,
    int_class_moments.query_class,
    int_class_moments.mean_input_tokens + int_class_moments.mean_output_tokens
        as mean_context_tokens,
    stg_models.context_tokens
from int_class_moments
inner join stg_models on int_class_moments.model_id = stg_models.model_id
where
    int_class_moments.mean_input_tokens + int_class_moments.mean_output_tokens
    > stg_models.context_tokens
