-- List prices at which a replay buys tokens: those in force when the month ends, of each service
-- tier, and of the tier of length that the mean prompt of the class falls in. A provider that lists
-- no price for cache reads or writes bills them as input. A price of one's own wins over the list;
-- where prices differ by the hour the dearest counts, for a replay has no hours.
-- grain: month, query_class, scope, provider, model_id, service_tier

with

in_reach as (
    select
        replays.month,
        replays.query_class,
        replays.scope,
        replays.provider,
        replays.model_id,
        prices.service_tier,
        prices.token_kind,
        prices.usd_per_mtok,
        row_number() over (
            partition by
                replays.month, replays.query_class, replays.scope, replays.provider,
                replays.model_id, prices.service_tier, prices.token_kind
            order by
                prices.is_own desc, prices.input_tokens_from desc, prices.usd_per_mtok desc
        ) as price_rank
    from int_replays as replays
    inner join stg_prices as prices
        on
            replays.provider = prices.provider
            and replays.price_model = prices.price_model
            and (replays.month || '-01')::timestamp + interval 1 month > prices.valid_from
            and (replays.month || '-01')::timestamp + interval 1 month <= prices.valid_to
            and replays.mean_input_tokens >= prices.input_tokens_from
),

in_force as (
    select
        in_reach.month,
        in_reach.query_class,
        in_reach.scope,
        in_reach.provider,
        in_reach.model_id,
        in_reach.service_tier,
        in_reach.token_kind,
        in_reach.usd_per_mtok
    from in_reach
    where in_reach.price_rank = 1
),

rates as (
    select
        in_force.month,
        in_force.query_class,
        in_force.scope,
        in_force.provider,
        in_force.model_id,
        in_force.service_tier,
        max(case when in_force.token_kind = 'uncached_input' then in_force.usd_per_mtok end)
            as uncached_input_usd_per_mtok,
        max(case when in_force.token_kind = 'cache_read' then in_force.usd_per_mtok end)
            as cache_read_usd_per_mtok,
        max(case when in_force.token_kind = 'cache_write_5m' then in_force.usd_per_mtok end)
            as cache_write_5m_usd_per_mtok,
        max(case when in_force.token_kind = 'cache_write_1h' then in_force.usd_per_mtok end)
            as cache_write_1h_usd_per_mtok,
        max(case when in_force.token_kind = 'output' then in_force.usd_per_mtok end)
            as output_usd_per_mtok
    from in_force
    group by all
)

select
    rates.month::varchar as month,
    rates.query_class::varchar as query_class,
    rates.scope::varchar as scope,
    rates.provider::varchar as provider,
    rates.model_id::varchar as model_id,
    rates.service_tier::varchar as service_tier,
    rates.uncached_input_usd_per_mtok::decimal(18, 9) as uncached_input_usd_per_mtok,
    coalesce(rates.cache_read_usd_per_mtok, rates.uncached_input_usd_per_mtok)::decimal(18, 9)
        as cache_read_usd_per_mtok,
    coalesce(rates.cache_write_5m_usd_per_mtok, rates.uncached_input_usd_per_mtok)::decimal(18, 9)
        as cache_write_5m_usd_per_mtok,
    coalesce(
        rates.cache_write_1h_usd_per_mtok,
        rates.cache_write_5m_usd_per_mtok,
        rates.uncached_input_usd_per_mtok
    )::decimal(18, 9) as cache_write_1h_usd_per_mtok,
    rates.output_usd_per_mtok::decimal(18, 9) as output_usd_per_mtok
from rates
where rates.uncached_input_usd_per_mtok is not null and rates.output_usd_per_mtok is not null
