-- One correction of the law for a class of architectures, measured over a coefficient set.
-- materialised: view
-- grain: architecture_class, coefficient_set_id

select
    architecture_class::varchar as architecture_class,
    coefficient_set_id::varchar as coefficient_set_id,
    bias_factor::double as bias_factor,
    bias_low::double as bias_low,
    bias_high::double as bias_high
from raw_bias_factors
