-- What became of every row of every file: accepted, duplicate, or rejected and why.
-- A row that breaks several rules is counted once, under all their names.
-- grain: source_file, outcome, reason

select
    raw_inputs.source_file::varchar as source_file,
    max(raw_inputs.source_format)::varchar as source_format,
    case
        when raw_usage.reject_reasons is not null then 'rejected'
        when raw_usage.is_duplicate then 'duplicate'
        else 'accepted'
    end::varchar as outcome,
    coalesce(
        raw_usage.reject_reasons,
        case
            when raw_usage.is_duplicate
                then coalesce(raw_usage.duplicate_reason, 'same request again')
            else ''
        end
    )::varchar as reason,
    count(*)::bigint as row_count
from raw_usage
inner join raw_inputs on raw_usage.input_id = raw_inputs.input_id
group by
    raw_inputs.source_file,
    outcome,
    reason
