-- Models of the catalog beside which the month's own are held: of each maker, for each size of its
-- closed models and for its open ones, those that most providers sell. The seller is the maker
-- itself where it sells, else whoever is cheapest. Only list prices still in force count. Models
-- that the user holds to be of equal quality to others are here too.
-- grain: provider, model_id

with

names as (
    select
        stg_models.model_id,
        stg_models.model_key as name
    from stg_models
    union
    select
        stg_model_aliases.model_id,
        stg_model_aliases.alias as name
    from stg_model_aliases
    where stg_model_aliases.valid_to = '9999-01-01'::timestamp
),

offers as (
    select
        names.model_id,
        stg_price_names.provider,
        min(stg_price_names.price_model) as price_model
    from names
    inner join stg_price_names on names.name = stg_price_names.name
    group by all
),

priced as (
    select
        offers.model_id,
        offers.provider,
        offers.price_model,
        sum(stg_prices.usd_per_mtok) as usd_per_mtok
    from offers
    inner join stg_prices
        on
            offers.provider = stg_prices.provider
            and offers.price_model = stg_prices.price_model
            and stg_prices.service_tier = 'standard'
            and stg_prices.token_kind in ('uncached_input', 'output')
            and stg_prices.input_tokens_from = 0
            and stg_prices.utc_weekday_from = 1
            and stg_prices.utc_minute_from = 0
            and not stg_prices.is_own
            and stg_prices.valid_to = '9999-01-01'::timestamp
    group by all
    having count(distinct stg_prices.token_kind) = 2
),

sellers as (
    select
        priced.model_id,
        priced.provider,
        priced.price_model,
        stg_models.developer,
        coalesce(stg_models.stand_in_tier, 'own') as size,
        count(*) over (partition by priced.model_id) as seller_count,
        row_number() over (
            partition by priced.model_id
            order by
                priced.provider = stg_models.developer desc,
                priced.usd_per_mtok asc,
                priced.provider asc
        ) as seller_rank
    from priced
    inner join stg_models on priced.model_id = stg_models.model_id
),

ranked as (
    select
        sellers.model_id,
        sellers.provider,
        sellers.price_model,
        row_number() over (
            partition by sellers.developer, sellers.size
            order by sellers.seller_count desc, sellers.model_id desc
        ) as model_rank
    from sellers
    where sellers.seller_rank = 1
)

select
    ranked.provider::varchar as provider,
    ranked.model_id::varchar as model_id,
    ranked.price_model::varchar as price_model,
    coalesce(stg_providers.hosting_kind, 'api')::varchar as hosting_kind
from ranked
inner join stg_assumptions as most on most.assumption = 'comparison_models_per_size'
left join stg_providers on ranked.provider = stg_providers.provider
where
    ranked.model_rank <= most.value
    or ranked.model_id in (select stg_equal_quality.model_id from stg_equal_quality)
