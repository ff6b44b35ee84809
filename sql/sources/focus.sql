-- FOCUS cost rows, from 1.0 to the AI draft: one charge a row. Rows of tokens name a direction
-- (Input, Output) and a cache action (Uncached, Read, Write), in SkuPriceDetails or columns of
-- their own with the prefix x_; those of one period, account and model make one record together,
-- with their money, at the first of them. All others are charges. Money is what was billed, else
-- what is effective: a purchase of credits is billed and effective at different times, so the two
-- are never mixed. Empty cells may read NULL, times may lack a zone or be American.

with

cells as (
    select
        source_rows.source_line,
        text_of(source_rows.chargeperiodstart) as start_text,
        text_of(source_rows.chargeperiodend) as end_text,
        text_of(source_rows.billedcost) as billed_text,
        text_of(source_rows.effectivecost) as effective_text,
        text_of(source_rows.billingcurrency) as billed_currency,
        text_of(source_rows.chargecategory) as category,
        text_of(source_rows.chargedescription) as description,
        text_of(source_rows.consumedquantity) as quantity_text,
        text_of(source_rows.consumedunit) as unit,
        text_of(source_rows.pricingcategory) as pricing_category,
        text_of(source_rows.regionid) as region,
        text_of(source_rows.resourceid) as resource_id,
        text_of(source_rows.skuid) as sku_id,
        text_of(source_rows.skupriceid) as sku_price_id,
        text_of(source_rows.subaccountid) as sub_account_id,
        text_of(source_rows.billingaccountid) as account_id,
        text_of(source_rows.x_queryclass) as query_class,
        text_of(source_rows.x_tokendirection) as own_direction,
        text_of(source_rows.x_tokencacheaction) as own_action,
        text_of(source_rows.skumeter) as meter,
        coalesce(
            text_of(source_rows.serviceprovidername), text_of(source_rows.providername)
        ) as provider,
        try_cast(text_of(source_rows.skupricedetails) as json) as details,
        try_cast(text_of(source_rows.tags) as json) as tags
    from source_rows
),

charges as (
    select
        cells.source_line,
        cells.billed_currency,
        cells.category,
        cells.description,
        cells.unit,
        cells.pricing_category,
        cells.region,
        cells.resource_id,
        cells.sku_id,
        cells.sku_price_id,
        cells.sub_account_id,
        cells.account_id,
        cells.query_class,
        cells.meter,
        cells.provider,
        coalesce(
            try_strptime(cells.start_text, ['%m/%d/%y', '%m/%d/%Y', '%m/%d/%Y %H:%M']),
            time_of(cells.start_text)
        ) as occurred_at,
        coalesce(
            try_strptime(cells.end_text, ['%m/%d/%y', '%m/%d/%Y', '%m/%d/%Y %H:%M']),
            time_of(cells.end_text)
        ) as bucket_end_at,
        money_of(coalesce(cells.billed_text, cells.effective_text)) as billed_cost_usd,
        count_of(cells.quantity_text) as quantity,
        coalesce(cells.tags ->> 'team', cells.tags ->> 'Team') as team,
        coalesce(
            cells.details ->> 'ModelId', cells.details ->> 'x_ModelId', cells.sku_id
        ) as model_name,
        lower(
            coalesce(
                cells.details ->> 'TokenDirection',
                cells.details ->> 'x_TokenDirection',
                cells.own_direction
            )
        ) as direction,
        lower(
            coalesce(
                cells.details ->> 'TokenCacheAction',
                cells.details ->> 'x_TokenCacheAction',
                cells.own_action,
                'uncached'
            )
        ) as cache_action
    from cells
),

judged as (
    select
        charges.source_line,
        charges.billed_currency,
        charges.category,
        charges.description,
        charges.unit,
        charges.pricing_category,
        charges.region,
        charges.resource_id,
        charges.sku_id,
        charges.sku_price_id,
        charges.sub_account_id,
        charges.account_id,
        charges.query_class,
        charges.provider,
        charges.occurred_at,
        charges.bucket_end_at,
        charges.billed_cost_usd,
        charges.quantity,
        charges.team,
        charges.model_name,
        charges.direction,
        coalesce(
            charges.direction in ('input', 'output')
            and lower(charges.unit) = 'tokens'
            and coalesce(lower(charges.category), 'usage') = 'usage',
            false
        ) as is_tokens,
        case
            when charges.direction = 'output' then 'output'
            when charges.cache_action = 'read' then 'cache read'
            when charges.cache_action = 'write' and charges.meter like '%1h%' then 'long write'
            when charges.cache_action = 'write' then 'write'
            else 'uncached'
        end as bucket
    from charges
),

token_records as (
    select
        judged.occurred_at,
        judged.bucket_end_at,
        judged.provider,
        judged.model_name,
        judged.team,
        judged.account_id,
        judged.sub_account_id,
        judged.query_class,
        judged.region,
        judged.pricing_category,
        judged.billed_currency,
        min(judged.source_line) as source_line,
        sum(judged.billed_cost_usd) as billed_cost_usd,
        sum(judged.quantity) filter (where judged.bucket = 'uncached') as uncached_input_tokens,
        sum(judged.quantity) filter (where judged.bucket = 'cache read') as cache_read_tokens,
        sum(judged.quantity) filter (where judged.bucket = 'write') as cache_write_5m_tokens,
        sum(judged.quantity) filter (where judged.bucket = 'long write') as cache_write_1h_tokens,
        sum(judged.quantity) filter (where judged.bucket = 'output') as output_tokens
    from judged
    where judged.is_tokens
    group by all
)

select
    token_records.source_line,
    token_records.occurred_at,
    token_records.bucket_end_at,
    token_records.provider,
    token_records.model_name,
    token_records.team,
    token_records.sub_account_id as project,
    token_records.query_class,
    token_records.region,
    token_records.cache_read_tokens,
    token_records.cache_write_5m_tokens,
    token_records.cache_write_1h_tokens,
    true as is_cache_known,
    token_records.billed_cost_usd,
    token_records.billed_currency,
    null as charge_kind,
    null as charge_quantity,
    null as charge_unit,
    md5(
        concat_ws(
            '|',
            'tokens',
            coalesce(token_records.occurred_at::varchar, ''),
            coalesce(token_records.bucket_end_at::varchar, ''),
            coalesce(token_records.provider, ''),
            coalesce(token_records.model_name, ''),
            coalesce(token_records.account_id, ''),
            coalesce(token_records.sub_account_id, ''),
            coalesce(token_records.team, ''),
            coalesce(token_records.query_class, ''),
            coalesce(token_records.region, ''),
            coalesce(token_records.pricing_category, '')
        )
    ) as request_id,
    -- Where a month has rows of one direction only, the other is none, not unknown.
    coalesce(token_records.uncached_input_tokens, 0) as uncached_input_tokens,
    coalesce(token_records.output_tokens, 0) as output_tokens
from token_records
union all
select
    judged.source_line,
    judged.occurred_at,
    judged.bucket_end_at,
    judged.provider,
    null as model_name,
    judged.team,
    judged.sub_account_id as project,
    judged.query_class,
    judged.region,
    null as cache_read_tokens,
    null as cache_write_5m_tokens,
    null as cache_write_1h_tokens,
    null as is_cache_known,
    judged.billed_cost_usd,
    judged.billed_currency,
    case
        when judged.billed_cost_usd is null then null
        when lower(judged.category) in ('tax', 'credit') then lower(judged.category)
        when judged.direction in ('input', 'output') then 'billed_tokens'
        else 'other'
    end as charge_kind,
    try_cast(judged.quantity as double) as charge_quantity,
    judged.unit as charge_unit,
    md5(
        concat_ws(
            '|',
            'charge',
            coalesce(judged.occurred_at::varchar, ''),
            coalesce(judged.bucket_end_at::varchar, ''),
            coalesce(judged.provider, ''),
            coalesce(judged.account_id, ''),
            coalesce(judged.sub_account_id, ''),
            coalesce(judged.category, ''),
            coalesce(judged.description, ''),
            coalesce(judged.sku_id, ''),
            coalesce(judged.sku_price_id, ''),
            coalesce(judged.resource_id, ''),
            coalesce(judged.region, ''),
            coalesce(judged.team, ''),
            row_number() over (
                partition by
                    judged.occurred_at, judged.bucket_end_at, judged.provider, judged.account_id,
                    judged.sub_account_id, judged.category, judged.description, judged.sku_id,
                    judged.sku_price_id, judged.resource_id, judged.region, judged.team
                order by abs(known_money(judged.billed_cost_usd)) desc, judged.source_line asc
            )
        )
    ) as request_id,
    null as uncached_input_tokens,
    null as output_tokens
from judged
where not judged.is_tokens
