-- The used part of a commitment, shared by tokens over the usage that it covers.
-- Running totals are rounded, and a share is the step between two: so shares add up to the bill
-- to the last digit, and none is off by more than that digit.
-- grain: month, provider, model_id, query_class, team, project, service_tier, price_band_id

with

covered as (
    select distinct
        int_commitments.month,
        int_commitments.provider,
        spellings.model_id,
        int_commitments.model,
        int_commitments.used_usd,
        int_commitments.covered_tokens
    from int_commitments
    inner join int_model_spellings as spellings
        on
            int_commitments.provider = spellings.provider
            and lower(int_commitments.model) = spellings.spelling
    where int_commitments.covered_tokens > 0
),

running as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        usage.project,
        usage.service_tier,
        usage.price_band_id,
        covered.model,
        covered.used_usd,
        covered.covered_tokens,
        sum(coalesce(usage.input_tokens, 0) + coalesce(usage.output_tokens, 0)) over (
            partition by covered.month, covered.provider, covered.model
            order by
                usage.model_id, usage.query_class, usage.team, usage.project, usage.service_tier,
                usage.price_band_id
            rows between unbounded preceding and current row
        ) as running_tokens
    from int_usage_groups as usage
    inner join covered
        on
            usage.month = covered.month
            and usage.provider = covered.provider
            and usage.model_id = covered.model_id
    where not usage.is_billed
),

rounded as (
    select
        running.month,
        running.provider,
        running.model_id,
        running.query_class,
        running.team,
        running.project,
        running.service_tier,
        running.price_band_id,
        running.model,
        running.running_tokens,
        case
            when running.running_tokens = running.covered_tokens then running.used_usd
            else
                (
                    running.used_usd::double * running.running_tokens::double
                    / running.covered_tokens::double
                )::decimal(24, 9)
        end as running_usd
    from running
),

steps as (
    select
        rounded.month,
        rounded.provider,
        rounded.model_id,
        rounded.query_class,
        rounded.team,
        rounded.project,
        rounded.service_tier,
        rounded.price_band_id,
        rounded.running_usd - lag(rounded.running_usd, 1, 0) over (
            partition by rounded.month, rounded.provider, rounded.model
            order by
                rounded.model_id, rounded.query_class, rounded.team, rounded.project,
                rounded.service_tier,
                rounded.price_band_id
        ) as committed_cost_usd
    from rounded
)

select
    steps.month::varchar as month,
    steps.provider::varchar as provider,
    steps.model_id::varchar as model_id,
    steps.query_class::varchar as query_class,
    steps.team::varchar as team,
    steps.project::varchar as project,
    steps.service_tier::varchar as service_tier,
    steps.price_band_id::integer as price_band_id,
    sum(steps.committed_cost_usd)::decimal(24, 9) as committed_cost_usd
from steps
group by all
