-- The least range of each grade, for the calculator.
-- grain: evidence_grade

select
    stg_grade_ranges.evidence_grade,
    stg_grade_ranges.low_ratio,
    stg_grade_ranges.high_ratio
from stg_grade_ranges
order by stg_grade_ranges.evidence_grade
