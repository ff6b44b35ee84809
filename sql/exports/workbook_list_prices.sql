-- Today's list prices of the catalog's models for the calculator: standard tier, by prompt length,
-- at the provider that the logs name, else at the maker; those of Monday's first hour where they
-- go by the hour.
-- grain: model_id, input_tokens_from

with

named as (
    select
        int_models.model_id,
        int_models.provider,
        int_models.price_model,
        1 as preference
    from int_models
    where int_models.is_known_model and int_models.price_model is not null
    union
    select
        stg_models.model_id,
        stg_price_names.provider,
        stg_price_names.price_model,
        2 as preference
    from stg_models
    inner join stg_price_names
        on
            stg_models.developer = stg_price_names.provider
            and lower(stg_models.model_id) = stg_price_names.name
),

ranked as (
    select
        named.model_id,
        named.provider,
        named.price_model,
        row_number() over (
            partition by named.model_id
            order by named.preference, named.provider, named.price_model
        ) as place
    from named
),

holding as (
    select
        ranked.model_id,
        ranked.provider,
        stg_prices.token_kind,
        stg_prices.input_tokens_from,
        stg_prices.usd_per_mtok
    from ranked
    inner join stg_prices
        on
            ranked.provider = stg_prices.provider
            and ranked.price_model = stg_prices.price_model
            and stg_prices.service_tier = 'standard'
            and stg_prices.utc_weekday_from = 1
            and stg_prices.utc_minute_from = 0
            and stg_prices.valid_from
            < (getvariable('report_month') || '-01')::date + interval 1 month
            and stg_prices.valid_to
            >= (getvariable('report_month') || '-01')::date + interval 1 month
    where ranked.place = 1
),

tiers as (
    select distinct
        holding.model_id,
        holding.provider,
        holding.input_tokens_from
    from holding
),

priced as (
    select
        tiers.model_id,
        tiers.provider,
        tiers.input_tokens_from,
        holding.token_kind,
        max_by(holding.usd_per_mtok, holding.input_tokens_from) as usd_per_mtok
    from tiers
    inner join holding
        on
            tiers.model_id = holding.model_id
            and tiers.input_tokens_from >= holding.input_tokens_from
    group by all
),

pivoted as (
    select
        priced.model_id,
        priced.provider,
        priced.input_tokens_from,
        max(case when priced.token_kind = 'uncached_input' then priced.usd_per_mtok end)
            as uncached_input_usd_per_mtok,
        max(case when priced.token_kind = 'cache_read' then priced.usd_per_mtok end)
            as cache_read_usd_per_mtok,
        max(case when priced.token_kind = 'output' then priced.usd_per_mtok end)
            as output_usd_per_mtok
    from priced
    group by all
)

select
    pivoted.model_id,
    pivoted.provider,
    pivoted.input_tokens_from,
    pivoted.uncached_input_usd_per_mtok,
    coalesce(pivoted.cache_read_usd_per_mtok, pivoted.uncached_input_usd_per_mtok)
        as cache_read_usd_per_mtok,
    pivoted.output_usd_per_mtok
from pivoted
where pivoted.uncached_input_usd_per_mtok is not null and pivoted.output_usd_per_mtok is not null
order by lower(pivoted.model_id), pivoted.input_tokens_from
