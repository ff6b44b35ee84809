-- One bill for provisioned throughput, cut into what requests used and what stood unused.
-- Used is the share that the company's table gives, as providers report it. Without that share
-- all is used where any request was covered, and is_use_told is false. Without one all is unused.
-- It covers the model's requests of the month that have no bill of their own.
-- grain: month, provider, model

with

covered as (
    select
        stg_commitments.month,
        stg_commitments.provider,
        stg_commitments.model,
        sum(coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0)) as covered_tokens,
        sum(usage.request_count) as request_count
    from stg_commitments
    inner join int_model_spellings as spellings
        on
            stg_commitments.provider = spellings.provider
            and lower(stg_commitments.model) = spellings.spelling
    inner join int_usage_groups as usage
        on
            stg_commitments.month = usage.month
            and spellings.provider = usage.provider
            and spellings.model_id = usage.model_id
    where not usage.is_billed
    group by all
),

cut as (
    select
        stg_commitments.month,
        stg_commitments.provider,
        stg_commitments.model,
        stg_commitments.hours,
        stg_commitments.units,
        stg_commitments.usd,
        stg_commitments.used_frac is not null as is_use_told,
        coalesce(covered.covered_tokens, 0) as covered_tokens,
        coalesce(covered.request_count, 0) as request_count,
        case
            when coalesce(covered.covered_tokens, 0) = 0 then 0
            else
                (stg_commitments.usd * coalesce(stg_commitments.used_frac, 1))::decimal(24, 9)
        end as used_usd
    from stg_commitments
    left join covered
        on
            stg_commitments.month = covered.month
            and stg_commitments.provider = covered.provider
            and stg_commitments.model = covered.model
)

select
    cut.month::varchar as month,
    cut.provider::varchar as provider,
    cut.model::varchar as model,
    cut.hours::decimal(18, 6) as hours,
    cut.units::decimal(18, 6) as units,
    cut.is_use_told::boolean as is_use_told,
    cut.request_count::decimal(38, 0) as request_count,
    cut.covered_tokens::decimal(38, 0) as covered_tokens,
    cut.usd::decimal(24, 9) as committed_usd,
    cut.used_usd::decimal(24, 9) as used_usd,
    (cut.usd - cut.used_usd)::decimal(24, 9) as unused_usd
from cut
