-- One constant of a rival law: of all models and GPUs, of one version, model or coefficient set.
-- materialised: view
-- grain: law, scope, coefficient

select
    law::varchar as law,
    scope::varchar as scope,
    coefficient::varchar as coefficient,
    value::double as value,
    unit::varchar as unit
from raw_rival_coefficients
