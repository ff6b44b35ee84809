-- What a task of one model and class took at list price, in the parts that two models may differ
-- in: requests a task (failed ones apart), tokens a request by kind, and the price of each kind, as
-- paid (with service tiers and long prompts) and as listed: the standard price of short prompts on
-- the days of its requests, averaged over them. A kind that was not used has its listed price.
-- Reasoning is what the log tells of it; the rest of the output counts as the answer.
-- Only models of which every request of the class has a list price.
-- grain: month, query_class, provider, model_id

with

paid as (
    select
        usage.month,
        usage.query_class,
        usage.provider,
        usage.model_id,
        sum(usage.request_count) as request_count,
        sum(usage.failed_request_count) as failed_request_count,
        sum(coalesce(usage.uncached_input_tokens, 0)) as uncached_input_tokens,
        sum(coalesce(usage.cache_read_tokens, 0)) as cache_read_tokens,
        sum(coalesce(usage.cache_write_5m_tokens, 0)) as cache_write_5m_tokens,
        sum(coalesce(usage.cache_write_1h_tokens, 0)) as cache_write_1h_tokens,
        sum(coalesce(usage.output_tokens, 0)) as output_tokens,
        sum(coalesce(usage.reasoning_tokens, 0)) as reasoning_tokens,
        sum(
            coalesce(usage.uncached_input_tokens, 0)::decimal(19, 0)
            * bands.uncached_input_usd_per_mtok
        ) as uncached_input_usd_mtokens,
        sum(
            coalesce(usage.cache_read_tokens, 0)::decimal(19, 0) * bands.cache_read_usd_per_mtok
        ) as cache_read_usd_mtokens,
        sum(
            coalesce(usage.cache_write_5m_tokens, 0)::decimal(19, 0)
            * bands.cache_write_5m_usd_per_mtok
        ) as cache_write_5m_usd_mtokens,
        sum(
            coalesce(usage.cache_write_1h_tokens, 0)::decimal(19, 0)
            * bands.cache_write_1h_usd_per_mtok
        ) as cache_write_1h_usd_mtokens,
        sum(coalesce(usage.output_tokens, 0)::decimal(19, 0) * bands.output_usd_per_mtok)
            as output_usd_mtokens,
        sum(usage.request_count::decimal(19, 0) * base.uncached_input_usd_per_mtok)
            as listed_uncached_input_usd_mrequests,
        sum(usage.request_count::decimal(19, 0) * base.cache_read_usd_per_mtok)
            as listed_cache_read_usd_mrequests,
        sum(usage.request_count::decimal(19, 0) * base.cache_write_5m_usd_per_mtok)
            as listed_cache_write_5m_usd_mrequests,
        sum(usage.request_count::decimal(19, 0) * base.cache_write_1h_usd_per_mtok)
            as listed_cache_write_1h_usd_mrequests,
        sum(usage.request_count::decimal(19, 0) * base.output_usd_per_mtok)
            as listed_output_usd_mrequests
    from int_usage_groups as usage
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    left join int_price_bands as base
        on
            bands.provider = base.provider
            and bands.model_id = base.model_id
            and bands.price_model is not distinct from base.price_model
            and bands.region = base.region
            and base.service_tier = 'standard'
            and base.input_tokens_from = 0
            and bands.valid_from >= base.valid_from
            and bands.valid_from < base.valid_to
            and bands.utc_weekday_from >= base.utc_weekday_from
            and bands.utc_weekday_from < base.utc_weekday_to
            and bands.utc_minute_from >= base.utc_minute_from
            and bands.utc_minute_from < base.utc_minute_to
    group by all
    having
        bool_and(base.price_band_id is not null and usage.uncached_input_tokens is not null)
        and sum(usage.prompts) > 0
),

prompt as (
    select
        paid.month,
        paid.query_class,
        paid.provider,
        paid.model_id,
        paid.uncached_input_tokens + paid.cache_read_tokens + paid.cache_write_5m_tokens
        + paid.cache_write_1h_tokens as input_tokens
    from paid
),

listed as (
    select
        paid.month,
        paid.query_class,
        paid.provider,
        paid.model_id,
        (paid.listed_uncached_input_usd_mrequests::double / paid.request_count::double)::decimal(
            18, 9
        )
            as uncached_input_usd_per_mtok,
        (paid.listed_cache_read_usd_mrequests::double / paid.request_count::double)::decimal(18, 9)
            as cache_read_usd_per_mtok,
        (paid.listed_cache_write_5m_usd_mrequests::double / paid.request_count::double)::decimal(
            18, 9
        )
            as cache_write_5m_usd_per_mtok,
        (paid.listed_cache_write_1h_usd_mrequests::double / paid.request_count::double)::decimal(
            18, 9
        )
            as cache_write_1h_usd_per_mtok,
        (paid.listed_output_usd_mrequests::double / paid.request_count::double)::decimal(18, 9)
            as output_usd_per_mtok
    from paid
)

select
    paid.month::varchar as month,
    paid.query_class::varchar as query_class,
    paid.provider::varchar as provider,
    paid.model_id::varchar as model_id,
    paid.request_count::bigint as request_count,
    tasks.task_count::bigint as task_count,
    (paid.failed_request_count::double / tasks.task_count)::double as failed_requests_per_task,
    ((paid.request_count - paid.failed_request_count)::double / tasks.task_count)::double
        as other_requests_per_task,
    (prompt.input_tokens::double / paid.request_count::double)::double as input_tokens_per_request,
    coalesce(
        paid.uncached_input_tokens::double / nullif(prompt.input_tokens, 0)::double, 1
    )::double as uncached_input_frac,
    coalesce(
        paid.cache_read_tokens::double / nullif(prompt.input_tokens, 0)::double, 0
    )::double as cache_read_frac,
    coalesce(
        paid.cache_write_5m_tokens::double / nullif(prompt.input_tokens, 0)::double, 0
    )::double as cache_write_5m_frac,
    coalesce(
        paid.cache_write_1h_tokens::double / nullif(prompt.input_tokens, 0)::double, 0
    )::double as cache_write_1h_frac,
    ((paid.output_tokens - paid.reasoning_tokens)::double / paid.request_count::double)::double
        as answer_tokens_per_request,
    (paid.reasoning_tokens::double / paid.request_count::double)::double
        as reasoning_tokens_per_request,
    coalesce(
        paid.uncached_input_usd_mtokens::double / nullif(paid.uncached_input_tokens, 0)::double,
        listed.uncached_input_usd_per_mtok::double
    )::double as uncached_input_usd_per_mtok,
    coalesce(
        paid.cache_read_usd_mtokens::double / nullif(paid.cache_read_tokens, 0)::double,
        listed.cache_read_usd_per_mtok::double
    )::double as cache_read_usd_per_mtok,
    coalesce(
        paid.cache_write_5m_usd_mtokens::double / nullif(paid.cache_write_5m_tokens, 0)::double,
        listed.cache_write_5m_usd_per_mtok::double
    )::double as cache_write_5m_usd_per_mtok,
    coalesce(
        paid.cache_write_1h_usd_mtokens::double / nullif(paid.cache_write_1h_tokens, 0)::double,
        listed.cache_write_1h_usd_per_mtok::double
    )::double as cache_write_1h_usd_per_mtok,
    coalesce(
        paid.output_usd_mtokens::double / nullif(paid.output_tokens, 0)::double,
        listed.output_usd_per_mtok::double
    )::double as output_usd_per_mtok,
    listed.uncached_input_usd_per_mtok::decimal(18, 9) as listed_input_usd_per_mtok,
    listed.cache_read_usd_per_mtok::decimal(18, 9) as listed_cache_read_usd_per_mtok,
    listed.cache_write_5m_usd_per_mtok::decimal(18, 9) as listed_cache_write_5m_usd_per_mtok,
    listed.cache_write_1h_usd_per_mtok::decimal(18, 9) as listed_cache_write_1h_usd_per_mtok,
    listed.output_usd_per_mtok::decimal(18, 9) as listed_output_usd_per_mtok,
    (
        (
            paid.uncached_input_usd_mtokens + paid.cache_read_usd_mtokens
            + paid.cache_write_5m_usd_mtokens + paid.cache_write_1h_usd_mtokens
            + paid.output_usd_mtokens
        )::decimal(31, 9) * 0.000001::decimal(7, 6)
    )::decimal(38, 15) as list_cost_usd
from paid
inner join prompt
    on
        paid.month = prompt.month
        and paid.query_class = prompt.query_class
        and paid.provider = prompt.provider
        and paid.model_id = prompt.model_id
inner join int_class_tasks as tasks
    on
        paid.month = tasks.month
        and paid.query_class = tasks.query_class
        and paid.provider = tasks.provider
        and paid.model_id = tasks.model_id
        and tasks.task_count > 0
inner join listed
    on
        paid.month = listed.month
        and paid.query_class = listed.query_class
        and paid.provider = listed.provider
        and paid.model_id = listed.model_id
