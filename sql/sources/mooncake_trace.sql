-- Mooncake's traces: milliseconds since a start that the user must tell, lengths, and block hashes
-- that are not read here, so the cached share is unknown.

select
    source_rows.source_line,
    time_after_start(source_rows.timestamp, 0.001) as occurred_at,
    count_of(source_rows.input_length) as uncached_input_tokens,
    count_of(source_rows.output_length) as output_tokens,
    false as is_cache_known
from source_rows
