-- What a replay costs at list price, and at what the company pays by its contracts: the same where it
-- has none. The candidate's own requests keep the price of their day;
-- those of others take its price at the end of the month, of their own service tier where it has
-- one, and of the tier of length that the mean prompt of the class falls in.
-- Twice: cached as now only where the provider stays the same (a prefix cache does not move to
-- another one, so its reads and writes are plain input there), and cached as now everywhere.
-- grain: month, query_class, scope, provider, model_id

with

-- Tokens of requests with a known length, by how they were bought.
bought as (
    select
        usage.month,
        usage.query_class,
        usage.provider,
        usage.model_id,
        coalesce(bands.service_tier, 'standard') as service_tier,
        usage.price_band_id is not null and usage.uncached_input_tokens is not null as is_listed,
        sum(coalesce(usage.uncached_input_tokens, 0)) as uncached_input_tokens,
        sum(coalesce(usage.cache_read_tokens, 0)) as cache_read_tokens,
        sum(coalesce(usage.cache_write_5m_tokens, 0)) as cache_write_5m_tokens,
        sum(coalesce(usage.cache_write_1h_tokens, 0)) as cache_write_1h_tokens,
        sum(coalesce(usage.output_tokens, 0)) as output_tokens
    from int_usage_groups as usage
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    group by all
),

own as (
    select
        costs.month,
        costs.query_class,
        costs.provider,
        costs.model_id,
        sum(costs.list_cost_usd) as list_cost_usd,
        sum(costs.contracted_cost_usd) as contracted_cost_usd,
        count(*) filter (
            where costs.contracted_cost_usd is not null and costs.list_cost_usd is null
        ) as unlisted_rows
    from int_group_costs as costs
    group by all
),

-- What others served, or the candidate itself without a list price of its day. A service tier that
-- the candidate does not sell is bought as standard.
moved as (
    select
        replays.month,
        replays.query_class,
        replays.scope,
        replays.provider,
        replays.model_id,
        bought.provider = replays.provider as stays_at_provider,
        case
            when bought.provider = replays.provider and bought.model_id = replays.model_id
                then bought.uncached_input_tokens
            else round(bought.uncached_input_tokens::double * replays.input_tokenizer_ratio)
        end::decimal(19, 0) as uncached_input_tokens,
        case
            when bought.provider = replays.provider and bought.model_id = replays.model_id
                then bought.cache_read_tokens
            else round(bought.cache_read_tokens::double * replays.input_tokenizer_ratio)
        end::decimal(19, 0) as cache_read_tokens,
        case
            when bought.provider = replays.provider and bought.model_id = replays.model_id
                then bought.cache_write_5m_tokens
            else round(bought.cache_write_5m_tokens::double * replays.input_tokenizer_ratio)
        end::decimal(19, 0) as cache_write_5m_tokens,
        case
            when bought.provider = replays.provider and bought.model_id = replays.model_id
                then bought.cache_write_1h_tokens
            else round(bought.cache_write_1h_tokens::double * replays.input_tokenizer_ratio)
        end::decimal(19, 0) as cache_write_1h_tokens,
        case
            when bought.provider = replays.provider and bought.model_id = replays.model_id
                then bought.output_tokens
            else round(bought.output_tokens::double * replays.stretch_ratio)
        end::decimal(19, 0) as output_tokens,
        case when tier.month is not null then bought.service_tier else 'standard' end
            as service_tier
    from int_replays as replays
    inner join bought
        on replays.month = bought.month and replays.query_class = bought.query_class
    left join int_replay_prices as tier
        on
            replays.month = tier.month
            and replays.query_class = tier.query_class
            and replays.scope = tier.scope
            and replays.provider = tier.provider
            and replays.model_id = tier.model_id
            and bought.service_tier = tier.service_tier
    left join stg_equal_quality as equal
        on bought.query_class = equal.query_class and bought.model_id = equal.model_id
    where
        (replays.scope = 'all' or equal.model_id is not null)
        and (
            not bought.is_listed
            or bought.provider <> replays.provider
            or bought.model_id <> replays.model_id
        )
),

priced as (
    select
        moved.month,
        moved.query_class,
        moved.scope,
        moved.provider,
        moved.model_id,
        moved.stays_at_provider,
        coalesce(prices.has_contract, false) as has_contract,
        (
            moved.uncached_input_tokens * prices.uncached_input_usd_per_mtok
            + moved.output_tokens * prices.output_usd_per_mtok
        )::decimal(31, 9) as uncached_usd_tokens,
        (
            moved.cache_read_tokens * prices.cache_read_usd_per_mtok
            + moved.cache_write_5m_tokens * prices.cache_write_5m_usd_per_mtok
            + moved.cache_write_1h_tokens * prices.cache_write_1h_usd_per_mtok
        )::decimal(31, 9) as cached_usd_tokens,
        (
            (
                moved.cache_read_tokens + moved.cache_write_5m_tokens
                + moved.cache_write_1h_tokens
            )::decimal(19, 0) * prices.uncached_input_usd_per_mtok
        )::decimal(31, 9) as plain_usd_tokens,
        (
            moved.uncached_input_tokens * prices.contracted_uncached_input_usd_per_mtok
            + moved.output_tokens * prices.contracted_output_usd_per_mtok
        )::decimal(31, 9) as contracted_uncached_usd_tokens,
        (
            moved.cache_read_tokens * prices.contracted_cache_read_usd_per_mtok
            + moved.cache_write_5m_tokens * prices.contracted_cache_write_5m_usd_per_mtok
            + moved.cache_write_1h_tokens * prices.contracted_cache_write_1h_usd_per_mtok
        )::decimal(31, 9) as contracted_cached_usd_tokens,
        (
            (
                moved.cache_read_tokens + moved.cache_write_5m_tokens
                + moved.cache_write_1h_tokens
            )::decimal(19, 0) * prices.contracted_uncached_input_usd_per_mtok
        )::decimal(31, 9) as contracted_plain_usd_tokens
    from moved
    left join int_replay_prices as prices
        on
            moved.month = prices.month
            and moved.query_class = prices.query_class
            and moved.scope = prices.scope
            and moved.provider = prices.provider
            and moved.model_id = prices.model_id
            and moved.service_tier = prices.service_tier
),

summed as (
    select
        priced.month,
        priced.query_class,
        priced.scope,
        priced.provider,
        priced.model_id,
        count(*) filter (where priced.uncached_usd_tokens is null) as unpriced_rows,
        sum(
            priced.uncached_usd_tokens
            + case
                when priced.stays_at_provider then priced.cached_usd_tokens
                else priced.plain_usd_tokens
            end
        )::decimal(31, 9) * 0.000001::decimal(7, 6) as list_cost_usd,
        sum(priced.uncached_usd_tokens + priced.cached_usd_tokens)::decimal(31, 9)
        * 0.000001::decimal(7, 6) as cached_list_cost_usd,
        bool_or(priced.has_contract) as has_contract,
        count(*) filter (where priced.contracted_uncached_usd_tokens is null) as unknown_rows,
        sum(
            priced.contracted_uncached_usd_tokens
            + case
                when priced.stays_at_provider then priced.contracted_cached_usd_tokens
                else priced.contracted_plain_usd_tokens
            end
        )::decimal(31, 9) * 0.000001::decimal(7, 6) as contracted_cost_usd
    from priced
    group by all
)

select
    replays.month::varchar as month,
    replays.query_class::varchar as query_class,
    replays.scope::varchar as scope,
    replays.provider::varchar as provider,
    replays.model_id::varchar as model_id,
    case
        when coalesce(summed.unpriced_rows, 0) + coalesce(own.unlisted_rows, 0) = 0
            then coalesce(own.list_cost_usd, 0) + coalesce(summed.list_cost_usd, 0)
    end::decimal(38, 15) as list_cost_usd,
    case
        when coalesce(summed.unpriced_rows, 0) + coalesce(own.unlisted_rows, 0) = 0
            then coalesce(own.list_cost_usd, 0) + coalesce(summed.cached_list_cost_usd, 0)
    end::decimal(38, 15) as cached_list_cost_usd,
    case
        when coalesce(summed.unknown_rows, 0) = 0
            then coalesce(own.contracted_cost_usd, 0) + coalesce(summed.contracted_cost_usd, 0)
    end::decimal(38, 15) as contracted_cost_usd,
    (
        coalesce(summed.has_contract, false)
        or own.contracted_cost_usd is distinct from own.list_cost_usd
    )::boolean as is_contracted
from int_replays as replays
left join own
    on
        replays.month = own.month
        and replays.query_class = own.query_class
        and replays.provider = own.provider
        and replays.model_id = own.model_id
left join summed
    on
        replays.month = summed.month
        and replays.query_class = summed.query_class
        and replays.scope = summed.scope
        and replays.provider = summed.provider
        and replays.model_id = summed.model_id
