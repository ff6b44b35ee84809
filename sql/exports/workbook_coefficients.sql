-- The coefficient sets of the catalog for the workbook, with the memory of their GPU and source.
-- grain: coefficient_set_id

select
    sets.coefficient_set_id,
    sets.gpu,
    sets.stack,
    gpus.memory_gb,
    sets.a_j_per_flop,
    sets.b_j_per_kv_byte,
    sets.c_j_per_weight_byte,
    sets.s_j_per_layer_step,
    sets.s_j_per_step,
    sets.architecture_count,
    sets.input_tokens_low,
    sets.input_tokens_high,
    sets.output_tokens_low,
    sets.output_tokens_high,
    sets.batch_low,
    sets.batch_high,
    sets.is_default and sets.gpu = 'H100-SXM' as is_default,
    raw_law_coefficients.source,
    raw_law_coefficients.source_date
from stg_coefficients as sets
inner join raw_law_coefficients
    on sets.coefficient_set_id = raw_law_coefficients.coefficient_set_id
left join stg_gpus as gpus on sets.gpu = gpus.gpu
order by is_default desc, sets.coefficient_set_id asc
