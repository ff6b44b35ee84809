-- Azure's inference traces: times in UTC with seven decimals, lengths, nothing else. They have no
-- ids, so equal lines are separate requests, and say nothing of a prefix cache.

select
    source_rows.source_line,
    time_of(source_rows.timestamp) as occurred_at,
    count_of(source_rows.contexttokens) as uncached_input_tokens,
    count_of(source_rows.generatedtokens) as output_tokens,
    false as is_cache_known
from source_rows
