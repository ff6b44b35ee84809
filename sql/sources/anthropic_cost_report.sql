-- Anthropic's cost report of the admin API: a row is the money of one day and description. The
-- amount is text in CENTS, after discounts. Models and kinds of cost are null unless asked for:
-- the day's whole bill then, which is that of its tokens as far as one can tell. Costs of the
-- priority tier are not in it. A page fetched again repeats its days; within a page, results that
-- agree in all but their money are told apart by size.

with

results as (
    select
        source_rows.source_line,
        unnest(results_of(source_rows.document), max_depth := 2)  -- noqa: AL03
    from source_rows
),

amounts as (
    select
        results.source_line,
        time_of(results.starts_at) as occurred_at,
        time_of(results.ends_at) as bucket_end_at,
        results.result ->> 'model' as model_name,
        results.result ->> 'workspace_id' as project,
        results.result ->> 'inference_geo' as region,
        results.result ->> 'service_tier' as service_tier,
        results.result ->> 'cost_type' as cost_type,
        results.result ->> 'currency' as currency,
        money_of_cents(results.result ->> 'amount') as billed_cost_usd,
        concat_ws(
            '|',
            coalesce(results.starts_at, ''),
            coalesce(results.ends_at, ''),
            coalesce(results.result ->> 'workspace_id', ''),
            coalesce(results.result ->> 'description', ''),
            coalesce(results.result ->> 'cost_type', ''),
            coalesce(results.result ->> 'token_type', ''),
            coalesce(results.result ->> 'model', ''),
            coalesce(results.result ->> 'service_tier', ''),
            coalesce(results.result ->> 'context_window', ''),
            coalesce(results.result ->> 'inference_geo', ''),
            coalesce(results.result ->> 'speed', ''),
            coalesce(results.result ->> 'product', '')
        ) as result_key
    from results
)

select
    amounts.source_line,
    amounts.occurred_at,
    amounts.bucket_end_at,
    'anthropic' as provider,
    amounts.model_name,
    amounts.project,
    amounts.service_tier,
    amounts.billed_cost_usd,
    amounts.currency as billed_currency,
    nullif(amounts.region, 'not_available') as region,
    md5(
        amounts.result_key || '|' || row_number() over (
            partition by amounts.source_line, amounts.result_key
            order by abs(known_money(amounts.billed_cost_usd)) desc
        )
    ) as request_id,
    coalesce(amounts.service_tier = 'batch', false) as is_batch,
    case
        when amounts.billed_cost_usd is null then null
        when coalesce(amounts.cost_type, 'tokens') = 'tokens' then 'billed_tokens'
        when amounts.cost_type in ('web_search', 'code_execution') then amounts.cost_type
        else 'other'
    end as charge_kind
from amounts
