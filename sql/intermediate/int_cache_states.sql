-- What agents' prefix cache may hold, from nothing to all, and what each state assumes.
-- grain: cache_state

select
    kind.cache_state::varchar as cache_state,
    kind.assumption::varchar as assumption
from (
    values
    ('uncached', 'no step reads a cache; list prices of plain input'),
    ('as_cached', 'cached tokens as logged; steps of which the log tells none read none'),
    (
        'fully_cached',
        'a step finds the input of the step before it in the cache and writes the rest for 5 '
        || 'minutes; cache_life_s'
    )
) as kind (cache_state, assumption)
