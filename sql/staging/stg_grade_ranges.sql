-- One evidence grade and how far below and above the value the truth may lie.
-- materialised: view
-- grain: evidence_grade

select
    evidence_grade::varchar as evidence_grade,
    low_ratio::double as low_ratio,
    high_ratio::double as high_ratio
from raw_grade_ranges
