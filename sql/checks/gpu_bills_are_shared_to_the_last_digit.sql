-- severity: error
-- meaning: what requests used and what stood idle add up to the GPU bill, for every deployment

with

shared as (
    select
        int_hosting_shares.month,
        int_hosting_shares.model_id,
        sum(int_hosting_shares.hosting_cost_usd) as shared_usd
    from int_hosting_shares
    group by all
)

select
    int_hosting.month,
    int_hosting.model_id,
    int_hosting.billed_usd,
    shared.shared_usd,
    int_hosting.idle_usd
from int_hosting
left join shared on int_hosting.month = shared.month and int_hosting.model_id = shared.model_id
where
    int_hosting.billed_usd <> coalesce(shared.shared_usd, 0) + int_hosting.idle_usd
    or int_hosting.idle_usd < 0
