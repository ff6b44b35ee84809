-- What each group of usage cost, the four ways FOCUS tells apart, and which of them is the cost.
-- list: tokens at the public price. contracted: at the company's contract. effective: the share
-- of a commitment that covers the group, else contracted. billed: as the log says. hosting: the
-- share of the GPU bill, and the electricity that a bill for owned machines leaves out.
-- cost_usd = billed, else effective, else hosting; effective without contract or commitment is
-- the list cost, and called so.
-- Own servers without a GPU bill are not unpriced: they lack that bill, and are counted apart.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id, is_billed

with

costs as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        usage.is_billed,
        usage.request_count,
        hosts.hosting_kind,
        prices.has_contract,
        prices.unpriced_reason,
        prices.list_cost_usd,
        prices.contracted_cost_usd,
        committed.committed_cost_usd,
        coalesce(committed.committed_cost_usd, prices.contracted_cost_usd)::decimal(38, 15)
            as effective_cost_usd,
        usage.billed_cost_usd,
        hosted.hosting_cost_usd,
        hosted.hosting_energy_cost_usd,
        (hosted.hosting_cost_usd + coalesce(hosted.hosting_energy_cost_usd, 0))
        ::decimal(38, 15) as whole_hosting_usd
    from int_usage_groups as usage
    inner join int_group_prices as prices
        on
            usage.month = prices.month
            and usage.provider = prices.provider
            and usage.model_id = prices.model_id
            and usage.query_class = prices.query_class
            and usage.team is not distinct from prices.team
            and usage.project is not distinct from prices.project
            and usage.service_tier = prices.service_tier
            and usage.price_band_id is not distinct from prices.price_band_id
            and usage.is_billed = prices.is_billed
    left join int_hosts as hosts
        on usage.provider = hosts.provider and usage.model_id = hosts.model_id
    left join int_commitment_shares as committed
        on
            not usage.is_billed
            and usage.month = committed.month
            and usage.provider = committed.provider
            and usage.model_id = committed.model_id
            and usage.query_class = committed.query_class
            and usage.team is not distinct from committed.team
            and usage.project is not distinct from committed.project
            and usage.service_tier = committed.service_tier
            and usage.price_band_id is not distinct from committed.price_band_id
    left join int_hosting_shares as hosted
        on
            usage.month = hosted.month
            and usage.provider = hosted.provider
            and usage.model_id = hosted.model_id
            and usage.query_class = hosted.query_class
            and usage.team is not distinct from hosted.team
            and usage.project is not distinct from hosted.project
            and usage.service_tier = hosted.service_tier
            and usage.price_band_id is not distinct from hosted.price_band_id
            and usage.is_billed = hosted.is_billed
),

decided as (
    select
        costs.month,
        costs.provider,
        costs.model_id,
        costs.query_class,
        costs.team,
        costs.project,
        costs.service_tier,
        costs.price_band_id,
        costs.is_billed,
        costs.request_count,
        costs.hosting_kind,
        costs.unpriced_reason,
        costs.list_cost_usd,
        costs.contracted_cost_usd,
        costs.committed_cost_usd,
        costs.effective_cost_usd,
        costs.billed_cost_usd,
        costs.hosting_cost_usd,
        costs.hosting_energy_cost_usd,
        coalesce(costs.billed_cost_usd, costs.effective_cost_usd, costs.whole_hosting_usd)
            as cost_usd,
        case
            when costs.billed_cost_usd is not null then 'billed'
            when
                costs.effective_cost_usd is not null
                and (costs.has_contract or costs.committed_cost_usd is not null)
                then 'effective'
            when costs.effective_cost_usd is not null then 'list'
            when costs.whole_hosting_usd is not null then 'hosting'
        end as cost_source
    from costs
)

select
    decided.month::varchar as month,
    decided.provider::varchar as provider,
    decided.model_id::varchar as model_id,
    decided.query_class::varchar as query_class,
    decided.team::varchar as team,
    decided.project::varchar as project,
    decided.service_tier::varchar as service_tier,
    decided.price_band_id::integer as price_band_id,
    decided.is_billed::boolean as is_billed,
    decided.list_cost_usd::decimal(38, 15) as list_cost_usd,
    decided.contracted_cost_usd::decimal(38, 15) as contracted_cost_usd,
    decided.committed_cost_usd::decimal(38, 15) as committed_cost_usd,
    decided.effective_cost_usd::decimal(38, 15) as effective_cost_usd,
    decided.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    decided.hosting_cost_usd::decimal(38, 15) as hosting_cost_usd,
    decided.hosting_energy_cost_usd::decimal(38, 15) as hosting_energy_cost_usd,
    decided.cost_usd::decimal(38, 15) as cost_usd,
    decided.cost_source::varchar as cost_source,
    case
        when decided.cost_source is not null then null
        when decided.hosting_kind <> 'api' then 'no GPU bill'
        else decided.unpriced_reason
    end::varchar as unpriced_reason,
    case
        when decided.cost_source is null and decided.hosting_kind = 'api'
            then decided.request_count
        else 0
    end::decimal(38, 0) as unpriced_request_count,
    case
        when decided.cost_source is null and decided.hosting_kind <> 'api'
            then decided.request_count
        else 0
    end::decimal(38, 0) as no_gpu_bill_request_count
from decided
