-- One exact name under which a provider's log may call a priced model. A model that only the
-- company prices is called as its own price calls it.
-- materialised: view
-- grain: provider, name

with

own as (
    select distinct
        lower(raw_own_prices.provider) as provider,
        lower(raw_own_prices.price_model) as name,
        raw_own_prices.price_model
    from raw_own_prices
)

select
    raw_price_names.provider::varchar as provider,
    raw_price_names.name::varchar as name,
    raw_price_names.price_model::varchar as price_model
from raw_price_names
union all
select
    own.provider::varchar as provider,
    own.name::varchar as name,
    min(own.price_model)::varchar as price_model
from own
left join raw_price_names
    on own.provider = raw_price_names.provider and own.name = raw_price_names.name
where raw_price_names.name is null
group by own.provider, own.name
