-- Qwen-Bailian's traces: seconds since a start that the user must tell, lengths, which request
-- follows which (-1: none), and block hashes that are not read here, so the cached share is
-- unknown. Their ids are numbers of one file, so they name no request among several.

select
    source_rows.source_line,
    source_rows.chat_id as request_id,
    time_after_start(source_rows.timestamp, 1) as occurred_at,
    nullif(source_rows.parent_chat_id, '-1') as parent_id,
    count_of(source_rows.input_length) as uncached_input_tokens,
    count_of(source_rows.output_length) as output_tokens,
    false as is_cache_known
from source_rows
