-- severity: error
-- meaning: the used and the unused part of commitments add up to their bill, month by month

with

shared as (
    select
        int_commitment_shares.month,
        int_commitment_shares.provider,
        sum(int_commitment_shares.committed_cost_usd) as shared_usd
    from int_commitment_shares
    group by all
),

bills as (
    select
        int_commitments.month,
        int_commitments.provider,
        sum(int_commitments.committed_usd) as committed_usd,
        sum(int_commitments.unused_usd) as unused_usd
    from int_commitments
    group by all
)

select
    bills.month,
    bills.provider,
    bills.committed_usd,
    shared.shared_usd,
    bills.unused_usd
from bills
left join shared on bills.month = shared.month and bills.provider = shared.provider
where
    bills.committed_usd <> coalesce(shared.shared_usd, 0) + bills.unused_usd
    or bills.unused_usd < 0
