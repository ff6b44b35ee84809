-- Our law and its rivals in words, as the texts of the law functions have them.
-- materialised: view
-- grain: law

select
    law::varchar as law,
    title::varchar as title,
    source::varchar as source,
    domain::varchar as domain,
    ignores::varchar as ignores
from raw_laws
