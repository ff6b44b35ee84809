-- How wrong every law is against public measurements: errors by data set and by parts of it.
-- Lost cases stand beside won ones. A set of coefficients is no test on rows that it was fitted to,
-- nor is a law on rows that it was refitted to: there the left-out error is the one to read.
-- grain: dataset, gpu, stack, law, form, subset_kind, subset_value

select
    errors.dataset::varchar as dataset,
    errors.gpu::varchar as gpu,
    errors.stack::varchar as stack,
    errors.law::varchar as law,
    errors.form::varchar as form,
    errors.subset_kind::varchar as subset_kind,
    errors.subset_value::varchar as subset_value,
    errors.row_count::bigint as row_count,
    errors.mape_frac::double as mape_frac,
    errors.bias_ratio::double as bias_ratio,
    errors.p90_frac::double as p90_frac,
    errors.leave_one_out_mape_frac::double as leave_one_out_mape_frac,
    (errors.form = 'refit' or errors.source like '%fitted to rows of this group%')::boolean
        as is_fitted_here,
    errors.source::varchar as source,
    errors.source_date::varchar as source_date
from stg_law_validation as errors
