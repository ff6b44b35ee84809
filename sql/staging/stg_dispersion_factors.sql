-- One query class and how its lengths scatter: products of means corrected to means of products.
-- materialised: view
-- grain: query_class

select
    query_class::varchar as query_class,
    input_squared_ratio::double as input_squared_ratio,
    input_output_ratio::double as input_output_ratio,
    output_squared_ratio::double as output_squared_ratio,
    mean_output_tokens::double as mean_output_tokens
from raw_dispersion_factors
