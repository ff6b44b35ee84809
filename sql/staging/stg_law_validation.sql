-- How wrong one law is on one public data set, or on a part of it: stored errors, no measurements.
-- materialised: view
-- grain: dataset, gpu, stack, law, form, subset_kind, subset_value

select
    dataset::varchar as dataset,
    gpu::varchar as gpu,
    stack::varchar as stack,
    law::varchar as law,
    form::varchar as form,
    subset_kind::varchar as subset_kind,
    subset_value::varchar as subset_value,
    row_count::bigint as row_count,
    mape_frac::double as mape_frac,
    bias_ratio::double as bias_ratio,
    p90_frac::double as p90_frac,
    leave_one_out_mape_frac::double as leave_one_out_mape_frac,
    source::varchar as source,
    source_date::varchar as source_date
from raw_law_validation
