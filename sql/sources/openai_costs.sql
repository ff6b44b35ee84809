-- OpenAI's costs, as a page of the costs API or as the dashboard's cost export: a row is the money
-- of one day and line item, a day may have none. The line item is text, such as
-- "priority | gpt-5.6-sol, cached input, long context" or "web search tool calls", and empty unless
-- asked for: the day's whole bill then, which is that of its tokens as far as one can tell.
-- Amounts are dollars. Rows may agree in all but their money, so those are told apart by size.

with

results as (
    select
        source_rows.source_line,
        unnest(results_of(source_rows.document), max_depth := 2)  -- noqa: AL03
    from source_rows
    where source_rows.document is not null
),

lines as (
    select
        results.source_line,
        results.source_line as export_number,
        epoch_time_of(results.starts_at) as occurred_at,
        epoch_time_of(results.ends_at) as bucket_end_at,
        results.result ->> '$.amount.value' as amount,
        results.result ->> '$.amount.currency' as currency,
        results.result ->> 'line_item' as line_item,
        results.result ->> 'project_id' as project_id,
        results.result ->> 'user_id' as user_id,
        results.result ->> 'api_key_id' as api_key_id,
        results.result ->> 'quantity' as quantity,
        results.result ->> 'quantity_unit' as quantity_unit
    from results
    union all
    select
        source_rows.source_line,
        0 as export_number,
        coalesce(
            epoch_time_of(source_rows.start_time), time_of(source_rows.start_time_iso)
        ) as occurred_at,
        coalesce(
            epoch_time_of(source_rows.end_time), time_of(source_rows.end_time_iso)
        ) as bucket_end_at,
        source_rows.amount_value::varchar as amount,
        source_rows.amount_currency::varchar as currency,
        source_rows.line_item::varchar as line_item,
        source_rows.project_id::varchar as project_id,
        source_rows.user_id::varchar as user_id,
        source_rows.api_key_id::varchar as api_key_id,
        source_rows.quantity::varchar as quantity,
        source_rows.quantity_unit::varchar as quantity_unit
    from source_rows
    where source_rows.document is null
),

read_lines as (
    select
        lines.source_line,
        lines.export_number,
        lines.occurred_at,
        lines.bucket_end_at,
        lines.currency,
        lines.project_id,
        lines.user_id,
        lines.api_key_id,
        lines.quantity,
        lines.quantity_unit,
        money_of(lines.amount) as billed_cost_usd,
        lower(trim(lines.line_item)) as item,
        nullif(regexp_extract(lower(lines.line_item), '^(priority|flex|batch) \|', 1), '')
            as service_tier,
        -- The first part, without a tier before it and a modality after it.
        regexp_replace(
            regexp_replace(split_part(trim(lines.line_item), ', ', 1), '^[A-Za-z ]+ \| ', ''),
            ' (text|audio|image|video)$',
            ''
        ) as item_model,
        concat_ws(
            '|',
            coalesce(lines.occurred_at::varchar, ''),
            coalesce(lines.line_item, ''),
            coalesce(lines.project_id, ''),
            coalesce(lines.user_id, ''),
            coalesce(lines.api_key_id, '')
        ) as row_key
    from lines
)

select
    read_lines.source_line,
    read_lines.occurred_at,
    read_lines.bucket_end_at,
    'openai' as provider,
    read_lines.project_id as project,
    read_lines.user_id,
    read_lines.api_key_id,
    read_lines.service_tier,
    read_lines.billed_cost_usd,
    read_lines.currency as billed_currency,
    read_lines.quantity_unit as charge_unit,
    md5(
        read_lines.row_key || '|' || row_number() over (
            partition by read_lines.export_number, read_lines.row_key
            order by abs(known_money(read_lines.billed_cost_usd)) desc, read_lines.source_line asc
        )
    ) as request_id,
    case
        when regexp_full_match(read_lines.item_model, '[A-Za-z0-9.:_/-]*[0-9-][A-Za-z0-9.:_/-]*')
            then read_lines.item_model
    end as model_name,
    case
        when read_lines.billed_cost_usd is null then null
        when coalesce(read_lines.item, '') = '' then 'billed_tokens'
        when read_lines.item like '%credit%' or read_lines.item like '%grant%' then 'credit'
        when read_lines.item = 'tax' then 'tax'
        when read_lines.item like '%web search%' then 'web_search'
        when
            read_lines.item like '%code interpreter%' or read_lines.item like '%container%'
            then 'code_execution'
        when read_lines.item like '%storage%' then 'storage'
        when read_lines.item like '%training%' or read_lines.item like 'fine-tun%'
            then 'fine_tuning'
        when read_lines.item like '%scale tier%' or read_lines.item like '%provisioned%'
            then 'provisioned_throughput'
        when read_lines.item like '%embedding%' then 'embeddings'
        when
            read_lines.item like '%image%' or read_lines.item like '%dall-e%'
            then 'images'
        when
            regexp_matches(read_lines.item, '(^|[^a-z])(audio|whisper|tts|transcribe|speech)')
            then 'audio'
        when
            regexp_matches(read_lines.item, ', .*(input|output|cache)|^text (tokens|models)')
            then 'billed_tokens'
        else 'other'
    end as charge_kind,
    try_cast(read_lines.quantity as double) as charge_quantity
from read_lines
