-- The bias factors for the workbook, those of one set before those of any, with their source.
-- grain: architecture_class, coefficient_set_id

select
    bias.architecture_class,
    bias.coefficient_set_id,
    bias.bias_factor,
    bias.bias_low,
    bias.bias_high,
    raw_bias_factors.source,
    raw_bias_factors.source_date
from stg_bias_factors as bias
inner join raw_bias_factors
    on
        bias.architecture_class = raw_bias_factors.architecture_class
        and bias.coefficient_set_id = raw_bias_factors.coefficient_set_id
order by bias.architecture_class, bias.coefficient_set_id
