-- Does energy grow with tokens? Each category of prompts of a model against the reference category
-- of the same measured runs: multipliers of tokens and of energy, their divergence by the formula
-- that stands in the row, its interval over repeats, a verdict, and what the law makes of it.
-- grain: run_set, model, category

select
    cells.run_set::varchar as run_set,
    cells.model::varchar as model,
    cells.category::varchar as category,
    cells.reference_category::varchar as reference_category,
    cells.is_generated::boolean as is_generated,
    cells.formula::varchar as formula,
    cells.energy_basis::varchar as energy_basis,
    cells.run_count::bigint as run_count,
    cells.reference_run_count::bigint as reference_run_count,
    cells.looped_run_count::bigint as looped_run_count,
    cells.mean_output_tokens::double as mean_output_tokens,
    cells.mean_energy_j::double as mean_energy_j,
    cells.mean_power_w::double as mean_power_w,
    cells.reference_power_w::double as reference_power_w,
    cells.token_multiplier_ratio::double as token_multiplier_ratio,
    cells.energy_multiplier_ratio::double as energy_multiplier_ratio,
    cells.divergence_frac::double as divergence_frac,
    cells.divergence_low_frac::double as divergence_low_frac,
    cells.divergence_high_frac::double as divergence_high_frac,
    cells.band_frac::double as band_frac,
    cells.beyond_probability_frac::double as beyond_probability_frac,
    cells.within_probability_frac::double as within_probability_frac,
    cells.verdict::varchar as verdict,
    cells.law_multiplier_ratio::double as law_multiplier_ratio,
    cells.law_divergence_frac::double as law_divergence_frac,
    cells.explained_frac::double as explained_frac,
    cells.remaining_frac::double as remaining_frac,
    cells.remaining_low_frac::double as remaining_low_frac,
    cells.remaining_high_frac::double as remaining_high_frac,
    cells.coefficient_set_id::varchar as coefficient_set_id,
    cells.law_scale_ratio::double as law_scale_ratio
from stg_token_linearity as cells
