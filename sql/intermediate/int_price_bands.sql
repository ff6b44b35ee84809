-- What a model's tokens cost, on the list and by contract, over one span of days, weekdays,
-- hours of the day, prompt lengths and places, for one service tier.
-- The order in which a price is composed:
--   1. service tier (standard, batch, flex, priority): each has its own rows, none is borrowed;
--   2. length of the whole prompt, cache included: a long prompt re-prices the whole request;
--   3. day, then weekday and hour of the day (UTC), from one instant until before the next;
--   4. an own price of the company in place of the list's, for the time that it covers;
--   5. times the region's multiplier: this is the list price;
--   6. the contract: a rate stands as it is written, a discount is taken off the list price.
-- Which of several contract rows holds stands in int_contract_kinds.
-- A provider that lists no price for cache reads or writes bills them as input.
-- is_dearest_of_day marks the hours that price a billing bucket, which does not tell its hours;
-- is_dearest_of_week those that price one of more than a day.
-- The empty region is every region that no rule names.
-- grain: price_band_id

with

wanted as (
    select
        named.provider,
        named.model_id,
        named.price_model,
        row_number() over (order by named.provider, named.model_id, named.price_model) as wanted_id
    from (
        select distinct
            int_models.provider,
            int_models.model_id,
            int_models.price_model
        from int_models
    ) as named
),

prices as (
    select
        wanted.wanted_id,
        stg_prices.service_tier,
        stg_prices.token_kind,
        stg_prices.input_tokens_from,
        stg_prices.valid_from,
        stg_prices.valid_to,
        stg_prices.utc_weekday_from,
        stg_prices.utc_weekday_to,
        stg_prices.utc_minute_from,
        stg_prices.utc_minute_to,
        stg_prices.usd_per_mtok,
        stg_prices.is_own
    from stg_prices
    inner join wanted
        on
            stg_prices.provider = wanted.provider
            and stg_prices.price_model = wanted.price_model
),

contracts as (
    select
        wanted.wanted_id,
        rates.token_kind,
        rates.service_tier,
        rates.region,
        rates.valid_from,
        rates.valid_to,
        rates.usd_per_mtok,
        rates.discount_frac,
        rates.model,
        rates.precedence
    from int_contract_kinds as rates
    inner join wanted on rates.provider = wanted.provider
    left join int_model_spellings as spellings
        on
            wanted.provider = spellings.provider
            and wanted.model_id = spellings.model_id
            and rates.model = spellings.spelling
    where rates.model = '*' or spellings.spelling is not null
),

multipliers as (
    select
        wanted.wanted_id,
        stg_region_multipliers.region,
        stg_region_multipliers.valid_from,
        stg_region_multipliers.valid_to,
        stg_region_multipliers.multiplier_ratio,
        case when stg_region_multipliers.model = '*' then '0' else '1' end
        || stg_region_multipliers.model as precedence
    from stg_region_multipliers
    inner join wanted on stg_region_multipliers.provider = wanted.provider
    left join int_model_spellings as spellings
        on
            wanted.provider = spellings.provider
            and wanted.model_id = spellings.model_id
            and stg_region_multipliers.model = spellings.spelling
    where stg_region_multipliers.model = '*' or spellings.spelling is not null
),

tiers as (
    select
        prices.wanted_id,
        prices.service_tier
    from prices
    union
    select
        contracts.wanted_id,
        case when contracts.service_tier = '*' then 'standard' else contracts.service_tier end
            as service_tier
    from contracts
),

regions as (
    select
        wanted.wanted_id,
        '' as region
    from wanted
    union
    select
        multipliers.wanted_id,
        multipliers.region
    from multipliers
    union
    select
        contracts.wanted_id,
        contracts.region
    from contracts
    where contracts.region <> '*'
),

rules as (
    select
        prices.wanted_id,
        prices.service_tier,
        prices.valid_from,
        prices.valid_to
    from prices
    union
    select
        tiers.wanted_id,
        tiers.service_tier,
        contracts.valid_from,
        contracts.valid_to
    from tiers
    inner join contracts on tiers.wanted_id = contracts.wanted_id
    union
    select
        tiers.wanted_id,
        tiers.service_tier,
        multipliers.valid_from,
        multipliers.valid_to
    from tiers
    inner join multipliers on tiers.wanted_id = multipliers.wanted_id
),

moments as (
    select
        rules.wanted_id,
        rules.service_tier,
        rules.valid_from as band_from
    from rules
    union
    select
        rules.wanted_id,
        rules.service_tier,
        rules.valid_to as band_from
    from rules
),

spans as (
    select
        moments.wanted_id,
        moments.service_tier,
        moments.band_from,
        lead(moments.band_from) over (
            partition by moments.wanted_id, moments.service_tier order by moments.band_from
        ) as band_to
    from moments
),

minutes as (
    select
        tiers.wanted_id,
        tiers.service_tier,
        0 as utc_minute_from
    from tiers
    union
    select
        prices.wanted_id,
        prices.service_tier,
        prices.utc_minute_from
    from prices
    union
    select
        prices.wanted_id,
        prices.service_tier,
        prices.utc_minute_to as utc_minute_from
    from prices
    where prices.utc_minute_to < 1440
),

hours as (
    select
        minutes.wanted_id,
        minutes.service_tier,
        minutes.utc_minute_from,
        lead(minutes.utc_minute_from, 1, 1440) over (
            partition by minutes.wanted_id, minutes.service_tier order by minutes.utc_minute_from
        ) as utc_minute_to
    from minutes
),

day_edges as (
    select
        tiers.wanted_id,
        tiers.service_tier,
        1 as utc_weekday_from
    from tiers
    union
    select
        prices.wanted_id,
        prices.service_tier,
        prices.utc_weekday_from
    from prices
    union
    select
        prices.wanted_id,
        prices.service_tier,
        prices.utc_weekday_to as utc_weekday_from
    from prices
    where prices.utc_weekday_to < 8
),

weekdays as (
    select
        day_edges.wanted_id,
        day_edges.service_tier,
        day_edges.utc_weekday_from,
        lead(day_edges.utc_weekday_from, 1, 8) over (
            partition by day_edges.wanted_id, day_edges.service_tier
            order by day_edges.utc_weekday_from
        ) as utc_weekday_to
    from day_edges
),

starts as (
    select
        tiers.wanted_id,
        tiers.service_tier,
        0 as input_tokens_from
    from tiers
    union
    select
        prices.wanted_id,
        prices.service_tier,
        prices.input_tokens_from
    from prices
),

lengths as (
    select
        starts.wanted_id,
        starts.service_tier,
        starts.input_tokens_from,
        lead(starts.input_tokens_from, 1, 1000000000000) over (
            partition by starts.wanted_id, starts.service_tier order by starts.input_tokens_from
        ) as input_tokens_to
    from starts
),

cells as (
    select
        spans.wanted_id,
        spans.service_tier,
        regions.region,
        spans.band_from,
        spans.band_to,
        weekdays.utc_weekday_from,
        weekdays.utc_weekday_to,
        hours.utc_minute_from,
        hours.utc_minute_to,
        lengths.input_tokens_from,
        lengths.input_tokens_to,
        row_number() over (
            order by
                spans.wanted_id, spans.service_tier, regions.region, spans.band_from,
                weekdays.utc_weekday_from, hours.utc_minute_from, lengths.input_tokens_from
        ) as cell_id
    from spans
    inner join hours
        on spans.wanted_id = hours.wanted_id and spans.service_tier = hours.service_tier
    inner join weekdays
        on spans.wanted_id = weekdays.wanted_id and spans.service_tier = weekdays.service_tier
    inner join lengths
        on spans.wanted_id = lengths.wanted_id and spans.service_tier = lengths.service_tier
    inner join regions on spans.wanted_id = regions.wanted_id
    where spans.band_to is not null
),

listed_kinds as (
    select
        cells.cell_id,
        prices.token_kind,
        max_by(
            prices.usd_per_mtok,
            prices.input_tokens_from + case when prices.is_own then 1000000000000 else 0 end
        ) as usd_per_mtok
    from cells
    inner join prices
        on
            cells.wanted_id = prices.wanted_id
            and cells.service_tier = prices.service_tier
            and cells.band_from >= prices.valid_from
            and cells.band_from < prices.valid_to
            and cells.utc_weekday_from >= prices.utc_weekday_from
            and cells.utc_weekday_from < prices.utc_weekday_to
            and cells.utc_minute_from >= prices.utc_minute_from
            and cells.utc_minute_from < prices.utc_minute_to
            and cells.input_tokens_from >= prices.input_tokens_from
    group by cells.cell_id, prices.token_kind
),

placed as (
    select
        cells.cell_id,
        max_by(multipliers.multiplier_ratio, multipliers.precedence) as multiplier_ratio
    from cells
    inner join multipliers
        on
            cells.wanted_id = multipliers.wanted_id
            and cells.region = multipliers.region
            and cells.band_from >= multipliers.valid_from
            and cells.band_from < multipliers.valid_to
    group by cells.cell_id
),

ranked as (
    select
        cells.cell_id,
        contracts.token_kind,
        contracts.usd_per_mtok,
        contracts.discount_frac,
        row_number() over (
            partition by cells.cell_id, contracts.token_kind
            order by
                contracts.precedence desc, contracts.model asc, contracts.usd_per_mtok asc,
                contracts.discount_frac asc
        ) as place
    from cells
    inner join contracts
        on
            cells.wanted_id = contracts.wanted_id
            and contracts.service_tier in ('*', cells.service_tier)
            and contracts.region in ('*', cells.region)
            and cells.band_from >= contracts.valid_from
            and cells.band_from < contracts.valid_to
),

-- One row a cell and kind of token: its list price there, and what the contract makes of it.
kinds as (
    select
        coalesce(listed_kinds.cell_id, ranked.cell_id) as cell_id,
        coalesce(listed_kinds.token_kind, ranked.token_kind) as token_kind,
        ranked.token_kind is not null as has_contract,
        (listed_kinds.usd_per_mtok * coalesce(placed.multiplier_ratio, 1)::decimal(9, 6))
        ::decimal(18, 9) as list_usd,
        coalesce(
            ranked.usd_per_mtok,
            (
                (listed_kinds.usd_per_mtok * coalesce(placed.multiplier_ratio, 1)::decimal(9, 6))
                ::decimal(18, 9)
                * (1 - coalesce(ranked.discount_frac, 0))::decimal(9, 6)
            )::decimal(18, 9)
        ) as contracted_usd
    from listed_kinds
    full join (
        select
            ranked.cell_id,
            ranked.token_kind,
            ranked.usd_per_mtok,
            ranked.discount_frac
        from ranked
        where ranked.place = 1
    ) as ranked
        on
            listed_kinds.cell_id = ranked.cell_id
            and listed_kinds.token_kind = ranked.token_kind
    left join placed on coalesce(listed_kinds.cell_id, ranked.cell_id) = placed.cell_id
),

rates as (
    select
        kinds.cell_id,
        bool_or(kinds.has_contract) as has_contract,
        max(case when kinds.token_kind = 'uncached_input' then kinds.list_usd end)
            as list_uncached_input,
        max(case when kinds.token_kind = 'cache_read' then kinds.list_usd end) as list_cache_read,
        max(case when kinds.token_kind = 'cache_write_5m' then kinds.list_usd end)
            as list_cache_write_5m,
        max(case when kinds.token_kind = 'cache_write_1h' then kinds.list_usd end)
            as list_cache_write_1h,
        max(case when kinds.token_kind = 'output' then kinds.list_usd end) as list_output,
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
    group by kinds.cell_id
),

priced as (
    select
        cells.cell_id,
        cells.wanted_id,
        cells.service_tier,
        cells.region,
        cells.band_from,
        cells.band_to,
        cells.utc_weekday_from,
        cells.utc_weekday_to,
        cells.utc_minute_from,
        cells.utc_minute_to,
        cells.input_tokens_from,
        cells.input_tokens_to,
        rates.has_contract,
        rates.list_uncached_input is not null and rates.list_output is not null as is_listed,
        rates.list_uncached_input,
        rates.list_cache_read,
        rates.list_cache_write_5m,
        rates.list_cache_write_1h,
        rates.list_output,
        rates.contracted_uncached_input,
        rates.contracted_cache_read,
        rates.contracted_cache_write_5m,
        rates.contracted_cache_write_1h,
        rates.contracted_output,
        row_number() over (
            partition by
                cells.wanted_id, cells.service_tier, cells.region, cells.band_from,
                cells.input_tokens_from, cells.utc_weekday_from
            order by rates.contracted_output desc, cells.utc_minute_from asc
        ) as day_place,
        row_number() over (
            partition by
                cells.wanted_id, cells.service_tier, cells.region, cells.band_from,
                cells.input_tokens_from
            order by
                rates.contracted_output desc, cells.utc_weekday_from asc, cells.utc_minute_from asc
        ) as week_place
    from cells
    inner join rates on cells.cell_id = rates.cell_id
    where rates.contracted_uncached_input is not null and rates.contracted_output is not null
)

select
    row_number() over (order by priced.cell_id)::integer as price_band_id,
    wanted.provider::varchar as provider,
    wanted.model_id::varchar as model_id,
    wanted.price_model::varchar as price_model,
    priced.service_tier::varchar as service_tier,
    priced.region::varchar as region,
    priced.band_from::timestamp as valid_from,
    priced.band_to::timestamp as valid_to,
    priced.utc_weekday_from::integer as utc_weekday_from,
    priced.utc_weekday_to::integer as utc_weekday_to,
    priced.utc_minute_from::integer as utc_minute_from,
    priced.utc_minute_to::integer as utc_minute_to,
    (priced.day_place = 1)::boolean as is_dearest_of_day,
    (priced.week_place = 1)::boolean as is_dearest_of_week,
    priced.input_tokens_from::bigint as input_tokens_from,
    priced.input_tokens_to::bigint as input_tokens_to,
    priced.has_contract::boolean as has_contract,
    case when priced.is_listed then priced.list_uncached_input end::decimal(18, 9)
        as uncached_input_usd_per_mtok,
    case
        when priced.is_listed then coalesce(priced.list_cache_read, priced.list_uncached_input)
    end::decimal(18, 9) as cache_read_usd_per_mtok,
    case
        when priced.is_listed
            then coalesce(priced.list_cache_write_5m, priced.list_uncached_input)
    end::decimal(18, 9) as cache_write_5m_usd_per_mtok,
    case
        when priced.is_listed
            then
                coalesce(
                    priced.list_cache_write_1h,
                    priced.list_cache_write_5m,
                    priced.list_uncached_input
                )
    end::decimal(18, 9) as cache_write_1h_usd_per_mtok,
    case when priced.is_listed then priced.list_output end::decimal(18, 9)
        as output_usd_per_mtok,
    priced.contracted_uncached_input::decimal(18, 9) as contracted_uncached_input_usd_per_mtok,
    coalesce(priced.contracted_cache_read, priced.contracted_uncached_input)::decimal(18, 9)
        as contracted_cache_read_usd_per_mtok,
    coalesce(priced.contracted_cache_write_5m, priced.contracted_uncached_input)::decimal(18, 9)
        as contracted_cache_write_5m_usd_per_mtok,
    coalesce(
        priced.contracted_cache_write_1h,
        priced.contracted_cache_write_5m,
        priced.contracted_uncached_input
    )::decimal(18, 9) as contracted_cache_write_1h_usd_per_mtok,
    priced.contracted_output::decimal(18, 9) as contracted_output_usd_per_mtok
from priced
inner join wanted on priced.wanted_id = wanted.wanted_id
