-- Azure OpenAI's diagnostic log, category RequestResponse: one call a row, its properties a JSON
-- text. It holds no token counts, so every row is set aside as one without usage: lengths in bytes
-- are no tokens, and are not taken for them.

select
    source_rows.source_line,
    source_rows.correlationid as request_id,
    time_of(source_rows.time) as occurred_at,
    'azure' as provider,
    source_rows.location as region,
    case
        when json_valid(source_rows.properties)
            then json_extract_string(source_rows.properties, '$.modelName')
    end as model_name,
    try_cast(source_rows.durationms as double) / 1000 as latency_s
from source_rows
