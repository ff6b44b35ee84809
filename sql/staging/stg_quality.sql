-- Accuracy that a company, or a source it names, has measured for a model at one budget of
-- reasoning, with the mean lengths of the answers and, where
-- told, what a right one is worth. Order of budgets: by the tokens they write.
-- materialised: view
-- grain: model_id, query_class, budget

select
    raw_quality.model_id::varchar as model_id,
    raw_quality.query_class::varchar as query_class,
    raw_quality.budget::varchar as budget,
    raw_quality.accuracy_frac::double as accuracy_frac,
    raw_quality.chance_frac::double as chance_frac,
    raw_quality.input_tokens::double as input_tokens,
    raw_quality.output_tokens::double as output_tokens,
    raw_quality.value_usd::double as value_usd,
    raw_quality.source::varchar as source,
    raw_quality.source_date::date as source_date
from raw_quality
