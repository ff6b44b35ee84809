-- The batches at which the energy of a model and class is asked for: 1, 2, 4 and so on up to what
-- the cache holds, 256 at most, and the one under which it is priced.
-- grain: month, provider, model_id, query_class, batch

with

rungs as (
    select
        int_batches.month,
        int_batches.provider,
        int_batches.model_id,
        int_batches.query_class,
        int_batches.batch as effective_batch,
        int_batches.batch_max,
        unnest([1, 2, 4, 8, 16, 32, 64, 128, 256]) as batch
    from int_batches
    where int_batches.batch is not null
),

asked as (
    select
        rungs.month,
        rungs.provider,
        rungs.model_id,
        rungs.query_class,
        rungs.effective_batch,
        rungs.batch::double as batch
    from rungs
    where rungs.batch <= rungs.batch_max
    union
    select
        rungs.month,
        rungs.provider,
        rungs.model_id,
        rungs.query_class,
        rungs.effective_batch,
        rungs.effective_batch as batch
    from rungs
)

select
    asked.month::varchar as month,
    asked.provider::varchar as provider,
    asked.model_id::varchar as model_id,
    asked.query_class::varchar as query_class,
    asked.batch::double as batch,
    (asked.batch = asked.effective_batch)::boolean as is_effective
from asked
