-- One coefficient set: the four prices of work on a GPU under a serving stack, and its domain.
-- materialised: view
-- grain: coefficient_set_id

select
    coefficient_set_id::varchar as coefficient_set_id,
    gpu::varchar as gpu,
    stack::varchar as stack,
    a_j_per_flop::double as a_j_per_flop,
    b_j_per_kv_byte::double as b_j_per_kv_byte,
    c_j_per_weight_byte::double as c_j_per_weight_byte,
    coalesce(s_j_per_layer_step::double, 0) as s_j_per_layer_step,
    coalesce(s_j_per_step::double, 0) as s_j_per_step,
    architecture_count::integer as architecture_count,
    input_tokens_low::double as input_tokens_low,
    input_tokens_high::double as input_tokens_high,
    output_tokens_low::double as output_tokens_low,
    output_tokens_high::double as output_tokens_high,
    batch_low::double as batch_low,
    batch_high::double as batch_high,
    is_default::boolean as is_default
from raw_law_coefficients
