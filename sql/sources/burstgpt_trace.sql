-- BurstGPT's traces: seconds since a start that the user must tell; all input, the cached share
-- unknown. A response of no tokens is a request that failed.

select
    source_rows.source_line,
    time_after_start(source_rows.timestamp, 1) as occurred_at,
    source_rows.model as model_name,
    source_rows.session_id,
    case when source_rows.log_type like 'Conversation%' then 'chat' end as query_class,
    count_of(source_rows.request_tokens) as uncached_input_tokens,
    count_of(source_rows.response_tokens) as output_tokens,
    count_of(source_rows.total_tokens) as total_tokens,
    false as is_cache_known,
    if(try_cast(source_rows.response_tokens as double) = 0, 'failure', 'success') as status,
    try_cast(source_rows.elapsed_time as double) as latency_s
from source_rows
