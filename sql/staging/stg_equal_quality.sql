-- One model whose answers the user holds to be as good as those of the others of the class, and who
-- says so where the file tells it.
-- materialised: view
-- grain: query_class, model_id

select
    raw_equal_quality.query_class::varchar as query_class,
    raw_equal_quality.model_id::varchar as model_id,
    raw_equal_quality.source::varchar as source
from raw_equal_quality
