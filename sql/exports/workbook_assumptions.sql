-- Every assumption with its range, for the workbook's formulas.
-- grain: assumption

select
    stg_assumptions.assumption,
    stg_assumptions.value,
    stg_assumptions.low,
    stg_assumptions.high
from stg_assumptions
order by stg_assumptions.assumption
