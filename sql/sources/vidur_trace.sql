-- Request lengths as the simulator Vidur reads them: tokens to prefill and to decode, and at times
-- the seconds since a start that the user must tell; without them every request is of the start.

select
    source_rows.source_line,
    time_after_start(coalesce(source_rows.arrived_at, '0'), 1) as occurred_at,
    count_of(source_rows.num_prefill_tokens) as uncached_input_tokens,
    count_of(source_rows.num_decode_tokens) as output_tokens,
    false as is_cache_known
from source_rows
