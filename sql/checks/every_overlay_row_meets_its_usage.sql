-- severity: warn
-- meaning: a contract, commitment or GPU bill that no request of its months meets changes nothing

with

months as (
    select
        mart_coverage.month,
        (mart_coverage.month || '-01')::timestamp as begins_at
    from mart_coverage
)

select
    'contract_rates' as overlay_table,
    stg_contract_rates.provider,
    stg_contract_rates.model
from stg_contract_rates
left join int_price_bands as bands
    on stg_contract_rates.provider = bands.provider and bands.has_contract
left join int_model_spellings as spellings
    on
        stg_contract_rates.provider = spellings.provider
        and stg_contract_rates.model = spellings.spelling
where
    bands.price_band_id is null
    or (spellings.model_id is null and stg_contract_rates.model <> '*')
group by all
union all
select
    'commitments' as overlay_table,
    int_commitments.provider,
    int_commitments.model
from int_commitments
inner join months on int_commitments.month = months.month
where int_commitments.covered_tokens = 0
union all
select
    'hosting_costs' as overlay_table,
    'self-hosted' as provider,
    int_hosting.model_id as model
from int_hosting
inner join months on int_hosting.month = months.month
where int_hosting.request_count = 0
