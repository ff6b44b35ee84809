-- Helicone's export: one request a row. `prompt_tokens` leaves out cached tokens, as Helicone's own
-- prices need it; older rows of OpenAI's kind counted them in, which the total tells: there it is
-- prompt and completion alone. Anthropic never counts them in. Properties name session, team and
-- feature; the CSV export doubles the quotes within them once too often. An answer out of
-- Helicone's own cache repeats the tokens of the first one, though the model computed none.

with

cells as (
    select
        source_rows.*,
        coalesce(source_rows.request_properties, source_rows.properties) as property_text,
        lower(source_rows.provider) as provider_name,
        count_of(source_rows.prompt_tokens) as input_tokens,
        count_of(source_rows.completion_tokens) as output_tokens,
        count_of(source_rows.prompt_cache_read_tokens) as cache_read_tokens,
        count_of(source_rows.prompt_cache_write_tokens) as cache_write_tokens
    from source_rows
),

judged as (
    select
        cells.*,
        try(
            from_json(
                if(
                    json_valid(cells.property_text),
                    cells.property_text,
                    replace(cells.property_text, '""', '"')
                ),
                '"MAP(VARCHAR, VARCHAR)"'
            )
        ) as property,
        coalesce(cells.cache_read_tokens, 0) + coalesce(cells.cache_write_tokens, 0)
            as cache_tokens,
        -- 0 where the model computed nothing, 1 where it computed what is told.
        if(
            coalesce(cells.cache_reference_id, '') in ('', '00000000-0000-0000-0000-000000000000'),
            1,
            0
        ) as computed,
        coalesce(
            count_of(cells.total_tokens) = cells.input_tokens + cells.output_tokens
            and cells.provider_name not like '%anthropic%'
            and cells.provider_name not like '%bedrock%'
            and coalesce(cells.cache_read_tokens, 0) + coalesce(cells.cache_write_tokens, 0)
            between 1 and cells.input_tokens,
            false
        ) as is_cache_inside
    from cells
)

select
    judged.source_line,
    coalesce(judged.request_id, judged.response_id) as request_id,
    time_of(judged.request_created_at) as occurred_at,
    judged.provider_name as provider,
    coalesce(judged.model, judged.response_model, judged.request_model) as model_name,
    coalesce(judged.property['Team'], judged.property['team']) as team,
    coalesce(judged.request_user_id, judged.user_id) as user_id,
    coalesce(judged.property['Feature'], judged.property['feature']) as route,
    coalesce(judged.property['Helicone-Session-Id'], judged.property['Session-Id']) as session_id,
    coalesce(judged.property['Helicone-Session-Id'], judged.property['Session-Id']) as task_id,
    judged.computed
    * (judged.input_tokens - if(judged.is_cache_inside, judged.cache_tokens, 0))
        as uncached_input_tokens,
    judged.computed * judged.cache_read_tokens as cache_read_tokens,
    judged.computed * judged.cache_write_tokens as cache_write_5m_tokens,
    judged.computed * judged.output_tokens as output_tokens,
    judged.computed * count_of(judged.reasoning_tokens) as reasoning_tokens,
    judged.cache_read_tokens is not null as is_cache_known,
    if(
        coalesce(try_cast(coalesce(judged.response_status, judged.status) as integer), 200)
        between 200 and 299,
        'success',
        'error'
    ) as status,
    try_cast(coalesce(judged.delay_ms, judged.latency) as double) / 1000 as latency_s,
    try_cast(judged.time_to_first_token as double) / 1000 as ttft_s,
    nullif(money_of(coalesce(judged.cost, judged.costusd, judged.cost_usd)), 0) as billed_cost_usd,
    judged.is_cache_inside as is_input_total
from judged
