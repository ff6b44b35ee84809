-- The cost export of Anthropic's console: money of a day by key, model and kind of token, without
-- counts and rounded to cents. `cost_usd` is what is billed, `list_price_usd` what it would be
-- without a discount. Models have display names: "Claude Haiku 4.5" is claude-haiku-4-5. Columns
-- were added over time. Rows may agree in all but their money, so those are told apart by size.

with

cells as (
    select
        source_rows.source_line,
        source_rows.model::varchar as model,
        source_rows.workspace::varchar as workspace,
        source_rows.api_key::varchar as api_key,
        source_rows.api_key_id::varchar as api_key_id,
        source_rows.usage_type::varchar as usage_type,
        coalesce(
            source_rows.cost_type::varchar,
            case when source_rows.token_type is not null then 'token' end
        ) as cost_type,
        source_rows.inference_geo::varchar as inference_geo,
        source_rows.speed::varchar as speed,
        time_of(source_rows.usage_date_utc) as occurred_at,
        money_of(source_rows.cost_usd) as billed_cost_usd,
        concat_ws(
            '|',
            coalesce(time_of(source_rows.usage_date_utc)::varchar, ''),
            coalesce(source_rows.model::varchar, ''),
            coalesce(source_rows.workspace::varchar, ''),
            coalesce(source_rows.api_key::varchar, ''),
            coalesce(source_rows.usage_type::varchar, ''),
            coalesce(source_rows.context_window::varchar, ''),
            coalesce(source_rows.token_type::varchar, ''),
            coalesce(source_rows.cost_type::varchar, ''),
            coalesce(source_rows.inference_geo::varchar, ''),
            coalesce(source_rows.speed::varchar, '')
        ) as row_key
    from source_rows
)

select
    cells.source_line,
    cells.occurred_at,
    'anthropic' as provider,
    cells.workspace as project,
    cells.billed_cost_usd,
    case when isfinite(cells.occurred_at) then cells.occurred_at + interval 1 day end
        as bucket_end_at,
    nullif(regexp_replace(trim(lower(cells.model)), '[ .]+', '-', 'g'), '') as model_name,
    coalesce(cells.api_key_id, cells.api_key) as api_key_id,
    nullif(cells.inference_geo, 'not_available') as region,
    md5(
        cells.row_key || '|' || row_number() over (
            partition by cells.row_key
            order by abs(known_money(cells.billed_cost_usd)) desc, cells.source_line asc
        )
    ) as request_id,
    coalesce(cells.usage_type = 'batch', false) as is_batch,
    case
        when cells.speed = 'fast' then 'fast'
        when cells.usage_type in ('standard', 'batch', 'priority', 'flex') then cells.usage_type
    end as service_tier,
    case
        when cells.billed_cost_usd is null then null
        when cells.cost_type in ('token', 'tokens') then 'billed_tokens'
        when cells.cost_type in ('web_search', 'code_execution') then cells.cost_type
        when cells.usage_type in ('web_search', 'code_execution') then cells.usage_type
        else 'other'
    end as charge_kind
from cells
