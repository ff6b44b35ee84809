-- One category of prompts of one model against the reference category of the same measured runs.
-- materialised: view
-- grain: run_set, model, category

select
    run_set::varchar as run_set,
    model::varchar as model,
    category::varchar as category,
    reference_category::varchar as reference_category,
    is_generated::boolean as is_generated,
    formula::varchar as formula,
    energy_basis::varchar as energy_basis,
    run_count::bigint as run_count,
    reference_run_count::bigint as reference_run_count,
    looped_run_count::bigint as looped_run_count,
    mean_output_tokens::double as mean_output_tokens,
    mean_energy_j::double as mean_energy_j,
    mean_power_w::double as mean_power_w,
    reference_power_w::double as reference_power_w,
    token_multiplier_ratio::double as token_multiplier_ratio,
    energy_multiplier_ratio::double as energy_multiplier_ratio,
    divergence_frac::double as divergence_frac,
    divergence_low_frac::double as divergence_low_frac,
    divergence_high_frac::double as divergence_high_frac,
    band_frac::double as band_frac,
    beyond_probability_frac::double as beyond_probability_frac,
    within_probability_frac::double as within_probability_frac,
    verdict::varchar as verdict,
    law_multiplier_ratio::double as law_multiplier_ratio,
    law_divergence_frac::double as law_divergence_frac,
    explained_frac::double as explained_frac,
    remaining_frac::double as remaining_frac,
    remaining_low_frac::double as remaining_low_frac,
    remaining_high_frac::double as remaining_high_frac,
    coefficient_set_id::varchar as coefficient_set_id,
    law_scale_ratio::double as law_scale_ratio
from raw_token_linearity
