-- Mooncake's traces: milliseconds since a start that the user must tell, lengths, and block hashes
-- that are not read here, so the cached share is unknown.

select
    source_rows.source_line,
    case
        when source_rows.timestamp is null then null
        else
            coalesce(
                time_of(getvariable('assumed_start'))
                + to_milliseconds(try_cast(source_rows.timestamp as bigint)),
                'infinity'::timestamp
            )
    end as occurred_at,
    count_of(source_rows.input_length) as uncached_input_tokens,
    count_of(source_rows.output_length) as output_tokens,
    false as is_cache_known
from source_rows
