-- Workloads of sessions: each round reads its prefix from the cache and appends new input. A time
-- is that of the session's arrival, in milliseconds since a start that the user must tell; without
-- one the round is of the start. Session numbers are of one file, so they name no request.

select
    source_rows.source_line,
    time_after_start(coalesce(source_rows.arrival_time, '0'), 0.001) as occurred_at,
    source_rows.session_id,
    source_rows.session_id as task_id,
    count_of(source_rows.input_len) as uncached_input_tokens,
    count_of(source_rows.prefix_len) as cache_read_tokens,
    count_of(source_rows.output_len) as output_tokens,
    true as is_cache_known
from source_rows
