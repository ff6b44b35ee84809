-- What tokens cost at list price beside what was billed, for every model, and why they differ.
-- Billed is the money of token bills where there are any, else the bills that stand on the
-- requests themselves, and then only those requests are held against it; other charges have a
-- column of their own and are no part of the gap.
-- grain: month, provider, model_id

with

computed as (
    select
        int_group_costs.month,
        int_group_costs.provider,
        int_group_costs.model_id,
        sum(int_group_costs.list_cost_usd) as computed_cost_usd,
        sum(case when int_group_costs.is_billed then int_group_costs.list_cost_usd end)
            as billed_list_cost_usd,
        sum(int_group_costs.billed_cost_usd) as request_billed_cost_usd,
        sum(case when int_group_costs.is_billed then 0 else 1 end) as unbilled_group_count,
        sum(int_group_costs.unpriced_request_count) as unpriced_request_count,
        sum(
            case when int_group_costs.list_cost_usd is null then 1 else 0 end
        ) as unlisted_group_count
    from int_group_costs
    group by all
),

charged as (
    select
        int_charges.month,
        int_charges.provider,
        int_charges.model_id,
        sum(
            case when int_charges.charge_kind = 'billed_tokens' then int_charges.billed_cost_usd end
        ) as token_billed_cost_usd,
        sum(
            case
                when int_charges.charge_kind <> 'billed_tokens' then int_charges.billed_cost_usd
            end
        ) as other_charge_usd
    from int_charges
    group by all
),

paired as (
    select
        coalesce(computed.month, charged.month) as month,
        coalesce(computed.provider, charged.provider) as provider,
        coalesce(computed.model_id, charged.model_id) as model_id,
        computed.model_id is not null as has_usage,
        computed.computed_cost_usd,
        computed.unpriced_request_count,
        computed.unlisted_group_count,
        computed.unbilled_group_count > 0 and charged.token_billed_cost_usd is null
            as is_partly_billed,
        case
            when charged.token_billed_cost_usd is null then computed.billed_list_cost_usd
            else computed.computed_cost_usd
        end as compared_cost_usd,
        charged.other_charge_usd,
        coalesce(charged.token_billed_cost_usd, computed.request_billed_cost_usd)
            as billed_cost_usd
    from computed
    full join charged
        on
            computed.month = charged.month
            and computed.provider = charged.provider
            and computed.model_id = charged.model_id
)

select
    paired.month::varchar as month,
    paired.provider::varchar as provider,
    paired.model_id::varchar as model_id,
    paired.computed_cost_usd::decimal(38, 15) as computed_cost_usd,
    paired.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    paired.compared_cost_usd::decimal(38, 15) as compared_cost_usd,
    (paired.billed_cost_usd - paired.compared_cost_usd)::decimal(38, 15) as gap_usd,
    paired.other_charge_usd::decimal(38, 15) as other_charge_usd,
    coalesce(paired.unpriced_request_count, 0)::bigint as unpriced_request_count,
    case
        when paired.billed_cost_usd is null and not paired.has_usage then 'other charges only'
        when paired.billed_cost_usd is null then 'no bill'
        when not paired.has_usage then 'bill without usage'
        when paired.compared_cost_usd is null then 'usage without list price'
        when
            paired.unlisted_group_count > 0 and not paired.is_partly_billed
            then 'part of the usage without list price'
        when
            abs(paired.billed_cost_usd - paired.compared_cost_usd) < 0.000001
            then
                case
                    when paired.is_partly_billed then 'equal where billed; the rest has no bill'
                    else 'equal'
                end
        when abs(paired.billed_cost_usd - paired.compared_cost_usd) < 0.01 then 'rounding'
        when paired.billed_cost_usd < paired.compared_cost_usd
            then 'billed less: discount, free tokens or late bill'
        else 'billed more: missing usage, other tier or price'
    end::varchar as gap_cause
from paired
