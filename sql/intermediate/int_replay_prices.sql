-- List prices at which a replay buys tokens: those in force when the month ends, of each service
-- tier, and of the tier of length that the mean prompt of the class falls in. A provider that lists
-- no price for cache reads or writes bills them as input. A price of one's own wins over the list;
-- where prices differ by the hour the dearest counts, for a replay has no hours. Beside them what the
-- company pays by its contracts, as int_price_bands composes them: a rate stands as it is written, a
-- discount is taken off the list; rows for one region are left out, for a replay has no place. Without
-- a contract both are the same.
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

-- Contract rates hold in every service tier that the list has, and in the standard one.
tiers as (
    select
        in_force.month,
        in_force.query_class,
        in_force.scope,
        in_force.provider,
        in_force.model_id,
        in_force.service_tier
    from in_force
    union
    select
        int_replays.month,
        int_replays.query_class,
        int_replays.scope,
        int_replays.provider,
        int_replays.model_id,
        'standard' as service_tier
    from int_replays
),

contracts as (
    select
        tiers.month,
        tiers.query_class,
        tiers.scope,
        tiers.provider,
        tiers.model_id,
        tiers.service_tier,
        rates.token_kind,
        rates.usd_per_mtok,
        rates.discount_frac,
        row_number() over (
            partition by
                tiers.month, tiers.query_class, tiers.scope, tiers.provider, tiers.model_id,
                tiers.service_tier, rates.token_kind
            order by
                rates.precedence desc, rates.model asc, rates.usd_per_mtok asc,
                rates.discount_frac asc
        ) as place
    from tiers
    inner join int_replays as replays
        on
            tiers.month = replays.month
            and tiers.query_class = replays.query_class
            and tiers.scope = replays.scope
            and tiers.provider = replays.provider
            and tiers.model_id = replays.model_id
    inner join int_contract_kinds as rates
        on
            tiers.provider = rates.provider
            and rates.service_tier in ('*', tiers.service_tier)
            and (tiers.month || '-01')::timestamp + interval 1 month > rates.valid_from
            and (tiers.month || '-01')::timestamp + interval 1 month <= rates.valid_to
    left join int_model_spellings as spellings
        on
            tiers.provider = spellings.provider
            and tiers.model_id = spellings.model_id
            and rates.model = spellings.spelling
    where
        rates.region = '*'
        and (
            rates.model in ('*', lower(replays.model_id), lower(replays.price_model))
            or spellings.spelling is not null
        )
),

agreed as (
    select
        contracts.month,
        contracts.query_class,
        contracts.scope,
        contracts.provider,
        contracts.model_id,
        contracts.service_tier,
        contracts.token_kind,
        contracts.usd_per_mtok,
        contracts.discount_frac
    from contracts
    where contracts.place = 1
),

-- One row a kind of token: its list price, and what the contract makes of it.
kinds as (
    select
        coalesce(in_force.month, agreed.month) as month,
        coalesce(in_force.query_class, agreed.query_class) as query_class,
        coalesce(in_force.scope, agreed.scope) as scope,
        coalesce(in_force.provider, agreed.provider) as provider,
        coalesce(in_force.model_id, agreed.model_id) as model_id,
        coalesce(in_force.service_tier, agreed.service_tier) as service_tier,
        coalesce(in_force.token_kind, agreed.token_kind) as token_kind,
        agreed.token_kind is not null as has_contract,
        in_force.usd_per_mtok as list_usd,
        coalesce(
            agreed.usd_per_mtok,
            (in_force.usd_per_mtok * (1 - coalesce(agreed.discount_frac, 0))::decimal(9, 6))
            ::decimal(18, 9)
        ) as contracted_usd
    from in_force
    full join agreed
        on
            in_force.month = agreed.month
            and in_force.query_class = agreed.query_class
            and in_force.scope = agreed.scope
            and in_force.provider = agreed.provider
            and in_force.model_id = agreed.model_id
            and in_force.service_tier = agreed.service_tier
            and in_force.token_kind = agreed.token_kind
),

rates as (
    select
        kinds.month,
        kinds.query_class,
        kinds.scope,
        kinds.provider,
        kinds.model_id,
        kinds.service_tier,
        bool_or(kinds.has_contract) as has_contract,
        max(case when kinds.token_kind = 'uncached_input' then kinds.list_usd end)
            as list_uncached_input,
        max(case when kinds.token_kind = 'cache_read' then kinds.list_usd end)
            as list_cache_read,
        max(case when kinds.token_kind = 'cache_write_5m' then kinds.list_usd end)
            as list_cache_write_5m,
        max(case when kinds.token_kind = 'cache_write_1h' then kinds.list_usd end)
            as list_cache_write_1h,
        max(case when kinds.token_kind = 'output' then kinds.list_usd end)
            as list_output,
        max(case when kinds.token_kind = 'uncached_input' then kinds.contracted_usd end)
            as contracted_uncached_input,
        max(case when kinds.token_kind = 'cache_read' then kinds.contracted_usd end)
            as contracted_cache_read,
        max(case when kinds.token_kind = 'cache_write_5m' then kinds.contracted_usd end)
            as contracted_cache_write_5m,
        max(case when kinds.token_kind = 'cache_write_1h' then kinds.contracted_usd end)
            as contracted_cache_write_1h,
        max(case when kinds.token_kind = 'output' then kinds.contracted_usd end)
            as contracted_output
    from kinds
    group by all
)

select
    rates.month::varchar as month,
    rates.query_class::varchar as query_class,
    rates.scope::varchar as scope,
    rates.provider::varchar as provider,
    rates.model_id::varchar as model_id,
    rates.service_tier::varchar as service_tier,
    rates.has_contract::boolean as has_contract,
    rates.list_uncached_input::decimal(18, 9) as uncached_input_usd_per_mtok,
    coalesce(rates.list_cache_read, rates.list_uncached_input)::decimal(18, 9)
        as cache_read_usd_per_mtok,
    coalesce(rates.list_cache_write_5m, rates.list_uncached_input)::decimal(18, 9)
        as cache_write_5m_usd_per_mtok,
    coalesce(rates.list_cache_write_1h, rates.list_cache_write_5m, rates.list_uncached_input)
    ::decimal(18, 9) as cache_write_1h_usd_per_mtok,
    rates.list_output::decimal(18, 9) as output_usd_per_mtok,
    rates.contracted_uncached_input::decimal(18, 9) as contracted_uncached_input_usd_per_mtok,
    coalesce(rates.contracted_cache_read, rates.contracted_uncached_input)::decimal(18, 9)
        as contracted_cache_read_usd_per_mtok,
    coalesce(rates.contracted_cache_write_5m, rates.contracted_uncached_input)::decimal(18, 9)
        as contracted_cache_write_5m_usd_per_mtok,
    coalesce(
        rates.contracted_cache_write_1h,
        rates.contracted_cache_write_5m,
        rates.contracted_uncached_input
    )::decimal(18, 9) as contracted_cache_write_1h_usd_per_mtok,
    rates.contracted_output::decimal(18, 9) as contracted_output_usd_per_mtok
from rates
where rates.contracted_uncached_input is not null and rates.contracted_output is not null
