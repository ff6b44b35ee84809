-- What tokens cost at list price beside what was billed, for every model, and why they differ.
-- Billed is the money of token bills where there are any, else the bills that stand on the
-- requests themselves, and then only those requests are held against it. A bill that does not tell
-- models apart stands on a line without model, beside the usage of all models. Other charges have
-- a column of their own and are no part of the gap. The parts add up to the gap; a part is null
-- where it cannot be known.
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
        sum(
            case
                when int_group_costs.list_cost_usd is null then int_group_costs.billed_cost_usd
                else 0
            end
        ) as unlisted_billed_cost_usd,
        sum(case when int_group_costs.is_billed then 0 else 1 end) as unbilled_group_count,
        sum(int_group_costs.unpriced_request_count) as unpriced_request_count,
        sum(
            case when int_group_costs.list_cost_usd is null then 1 else 0 end
        ) as unlisted_group_count
    from int_group_costs
    group by all
),

days as (
    select
        mart_reconciliation_days.month,
        mart_reconciliation_days.provider,
        mart_reconciliation_days.model_id,
        sum(mart_reconciliation_days.billed_cost_usd) as billed_cost_usd,
        coalesce(sum(mart_reconciliation_days.computed_cost_usd), 0) as day_computed_cost_usd,
        sum(mart_reconciliation_days.credit_usd) as credit_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'missing usage'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as missing_usage_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'usage without bill'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as unbilled_usage_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'late'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as late_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'open bucket'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as open_bucket_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'unpriced usage'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as unpriced_usd,
        sum(
            case
                when mart_reconciliation_days.gap_cause = 'rounding'
                    then mart_reconciliation_days.gap_usd - mart_reconciliation_days.credit_usd
                else 0
            end
        ) as rounding_usd
    from mart_reconciliation_days
    group by all
),

bills as (
    select
        days.month,
        days.provider,
        count(*) = count(days.model_id) as is_by_model
    from days
    group by all
),

charged as (
    select
        int_charges.month,
        int_charges.provider,
        int_charges.model_id,
        sum(int_charges.billed_cost_usd) as other_charge_usd
    from int_charges
    where int_charges.charge_kind <> 'billed_tokens'
    group by all
),

keys as (
    select
        computed.month,
        computed.provider,
        computed.model_id
    from computed
    union
    select
        days.month,
        days.provider,
        days.model_id
    from days
    union
    select
        charged.month,
        charged.provider,
        charged.model_id
    from charged
),

provider_sums as (
    select
        computed.month,
        computed.provider,
        sum(computed.computed_cost_usd) as computed_cost_usd,
        sum(computed.unlisted_group_count) as unlisted_group_count
    from computed
    group by all
),

paired as (
    select
        keys.month,
        keys.provider,
        keys.model_id,
        computed.model_id is not null as has_usage,
        days.month is not null as has_token_bill,
        days.month is null and computed.model_id is not null and bills.is_by_model
            as is_left_out_of_bill,
        days.month is null and computed.model_id is not null and not bills.is_by_model
            as is_in_provider_bill,
        computed.computed_cost_usd,
        computed.unpriced_request_count,
        coalesce(computed.unlisted_group_count, provider_sums.unlisted_group_count)
            as unlisted_group_count,
        computed.unlisted_billed_cost_usd,
        coalesce(computed.unbilled_group_count, 0) > 0 and bills.month is null as is_partly_billed,
        charged.other_charge_usd,
        int_bill_zones.shift_h,
        days.day_computed_cost_usd,
        days.credit_usd,
        days.missing_usage_usd,
        days.unbilled_usage_usd,
        days.late_usd,
        days.open_bucket_usd,
        days.unpriced_usd,
        days.rounding_usd,
        case
            when days.month is not null and keys.model_id is null
                then provider_sums.computed_cost_usd
            when bills.is_by_model then computed.computed_cost_usd
            when bills.month is null then computed.billed_list_cost_usd
        end as compared_cost_usd,
        case
            when days.month is not null then days.billed_cost_usd
            when computed.model_id is not null and bills.is_by_model then 0
            when bills.month is null then computed.request_billed_cost_usd
        end as billed_cost_usd
    from keys
    left join computed
        on
            keys.month = computed.month
            and keys.provider = computed.provider
            and keys.model_id = computed.model_id
    left join days
        on
            keys.month = days.month
            and keys.provider = days.provider
            and keys.model_id is not distinct from days.model_id
    left join charged
        on
            keys.month = charged.month
            and keys.provider = charged.provider
            and keys.model_id is not distinct from charged.model_id
    left join bills on keys.month = bills.month and keys.provider = bills.provider
    left join provider_sums
        on
            days.month = provider_sums.month
            and days.provider = provider_sums.provider
            and days.model_id is null
    left join int_bill_zones
        on
            days.month = int_bill_zones.month
            and days.provider = int_bill_zones.provider
            and days.model_id is not distinct from int_bill_zones.model_id
),

gaps as (
    select
        paired.month,
        paired.provider,
        paired.model_id,
        paired.has_usage,
        paired.has_token_bill,
        paired.is_in_provider_bill,
        paired.is_left_out_of_bill,
        paired.is_partly_billed,
        paired.computed_cost_usd,
        paired.compared_cost_usd,
        paired.billed_cost_usd,
        paired.other_charge_usd,
        paired.unpriced_request_count,
        paired.unlisted_group_count,
        paired.billed_cost_usd - coalesce(paired.compared_cost_usd, 0) as gap_usd,
        case
            when paired.has_token_bill then paired.unpriced_usd
            when paired.is_left_out_of_bill then 0
            else coalesce(paired.unlisted_billed_cost_usd, 0)
        end as unpriced_usd,
        case when paired.has_token_bill then paired.missing_usage_usd else 0 end
            as missing_usage_usd,
        case
            when paired.has_token_bill then paired.unbilled_usage_usd
            when paired.is_left_out_of_bill then -coalesce(paired.compared_cost_usd, 0)
            else 0
        end as unbilled_usage_usd,
        case when paired.has_token_bill then paired.late_usd end as late_usd,
        case when paired.has_token_bill then paired.open_bucket_usd end as open_bucket_usd,
        case when paired.has_token_bill then paired.credit_usd else 0 end as credit_usd,
        case
            when paired.has_token_bill then paired.rounding_usd
            when paired.is_left_out_of_bill then 0
            when
                abs(
                    paired.billed_cost_usd
                    - coalesce(paired.compared_cost_usd, 0)
                    - coalesce(paired.unlisted_billed_cost_usd, 0)
                ) < 0.01
                then
                    paired.billed_cost_usd
                    - coalesce(paired.compared_cost_usd, 0)
                    - coalesce(paired.unlisted_billed_cost_usd, 0)
            else 0
        end as rounding_usd,
        case
            when paired.shift_h = 0 then 0
            when paired.shift_h is not null
                then paired.day_computed_cost_usd - coalesce(paired.compared_cost_usd, 0)
        end as time_zone_usd
    from paired
),

parts as (
    select
        gaps.month,
        gaps.provider,
        gaps.model_id,
        gaps.has_usage,
        gaps.has_token_bill,
        gaps.is_in_provider_bill,
        gaps.is_left_out_of_bill,
        gaps.is_partly_billed,
        gaps.computed_cost_usd,
        gaps.compared_cost_usd,
        gaps.billed_cost_usd,
        gaps.other_charge_usd,
        gaps.unpriced_request_count,
        gaps.unlisted_group_count,
        gaps.gap_usd,
        gaps.unpriced_usd,
        gaps.missing_usage_usd,
        gaps.unbilled_usage_usd,
        gaps.late_usd,
        gaps.open_bucket_usd,
        gaps.credit_usd,
        gaps.rounding_usd,
        gaps.time_zone_usd,
        gaps.gap_usd
        - gaps.unpriced_usd
        - gaps.missing_usage_usd
        - gaps.unbilled_usage_usd
        - coalesce(gaps.late_usd, 0)
        - coalesce(gaps.open_bucket_usd, 0)
        - gaps.credit_usd
        - gaps.rounding_usd
        - coalesce(gaps.time_zone_usd, 0) as rest_usd
    from gaps
),

sized as (
    select
        parts.month,
        parts.provider,
        parts.model_id,
        parts.has_usage,
        parts.has_token_bill,
        parts.is_in_provider_bill,
        parts.is_left_out_of_bill,
        parts.is_partly_billed,
        parts.computed_cost_usd,
        parts.compared_cost_usd,
        parts.billed_cost_usd,
        parts.other_charge_usd,
        parts.unpriced_request_count,
        parts.unlisted_group_count,
        parts.gap_usd,
        parts.unpriced_usd,
        parts.missing_usage_usd,
        parts.unbilled_usage_usd,
        parts.late_usd,
        parts.open_bucket_usd,
        parts.credit_usd,
        parts.rounding_usd,
        parts.time_zone_usd,
        parts.rest_usd,
        greatest(
            abs(parts.unpriced_usd),
            abs(parts.missing_usage_usd),
            abs(parts.unbilled_usage_usd),
            abs(coalesce(parts.late_usd, 0)),
            abs(coalesce(parts.open_bucket_usd, 0)),
            abs(parts.credit_usd),
            abs(parts.rounding_usd),
            abs(coalesce(parts.time_zone_usd, 0)),
            abs(parts.rest_usd)
        ) as largest_usd
    from parts
)

select
    sized.month::varchar as month,
    sized.provider::varchar as provider,
    sized.model_id::varchar as model_id,
    sized.computed_cost_usd::decimal(38, 15) as computed_cost_usd,
    sized.billed_cost_usd::decimal(38, 15) as billed_cost_usd,
    sized.compared_cost_usd::decimal(38, 15) as compared_cost_usd,
    sized.gap_usd::decimal(38, 15) as gap_usd,
    case when sized.gap_usd is not null then sized.unpriced_usd end::decimal(38, 15)
        as unpriced_usd,
    case when sized.gap_usd is not null then sized.missing_usage_usd end::decimal(38, 15)
        as missing_usage_usd,
    case when sized.gap_usd is not null then sized.unbilled_usage_usd end::decimal(38, 15)
        as unbilled_usage_usd,
    case when sized.gap_usd is not null then sized.late_usd end::decimal(38, 15) as late_usd,
    case when sized.gap_usd is not null then sized.open_bucket_usd end::decimal(38, 15)
        as open_bucket_usd,
    case when sized.gap_usd is not null then sized.credit_usd end::decimal(38, 15) as credit_usd,
    case when sized.gap_usd is not null then sized.rounding_usd end::decimal(38, 15)
        as rounding_usd,
    case when sized.gap_usd is not null then sized.time_zone_usd end::decimal(38, 15)
        as time_zone_usd,
    case when sized.gap_usd is not null then sized.rest_usd end::decimal(38, 15) as rest_usd,
    sized.other_charge_usd::decimal(38, 15) as other_charge_usd,
    coalesce(sized.unpriced_request_count, 0)::bigint as unpriced_request_count,
    case
        when sized.is_in_provider_bill then 'in the bill of all models'
        when sized.billed_cost_usd is null and not sized.has_usage then 'other charges only'
        when sized.billed_cost_usd is null then 'no bill'
        when sized.is_left_out_of_bill then 'usage without bill'
        when
            sized.has_token_bill and sized.compared_cost_usd is null and not sized.has_usage
            and coalesce(sized.unlisted_group_count, 0) = 0
            then 'bill without usage'
        when sized.compared_cost_usd is null then 'usage without list price'
        when sized.largest_usd < 0.000001
            then
                case
                    when sized.is_partly_billed then 'equal where billed; the rest has no bill'
                    else 'equal'
                end
        when sized.largest_usd = abs(sized.missing_usage_usd) then 'missing usage'
        when sized.largest_usd = abs(sized.unpriced_usd)
            then 'part of the usage without list price'
        when sized.largest_usd = abs(sized.unbilled_usage_usd) then 'usage without bill'
        when sized.largest_usd = abs(sized.late_usd) then 'bill not yet there'
        when sized.largest_usd = abs(sized.open_bucket_usd) then 'last day of the bill still open'
        when sized.largest_usd = abs(sized.credit_usd) then 'credits'
        when sized.largest_usd = abs(sized.rounding_usd) then 'rounding'
        when sized.largest_usd = abs(sized.time_zone_usd) then 'time zone of the bill'
        when sized.rest_usd < 0 then 'billed less: discount, free tokens or late bill'
        else 'billed more: missing usage, other tier or price'
    end::varchar as gap_cause
from sized
