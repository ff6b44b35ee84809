-- Every two models that served a class in a month, in both orders: which one is cheaper per token,
-- by its list prices and at the token mix of the class, and which one per task. A reversal is a
-- model that is cheaper per token and dearer per task. Only list prices, as all were bought so.
-- What makes the difference per task is split exactly, each factor's change taken at the mean of
-- the other's two values: so the parts add up to it, and turning the pair round turns every sign.
-- The cause is the largest part that speaks against the cheaper price. The thresholds say at which
-- output length, or which share of input read from the cache, both would cost the same per task.
-- Too few requests of either: no verdict.
-- grain: month, query_class, provider, model_id, other_provider, other_model_id

with

mixes as (
    select
        usage.month,
        usage.query_class,
        sum(coalesce(usage.uncached_input_tokens, 0))::double as uncached_input_tokens,
        sum(coalesce(usage.cache_read_tokens, 0))::double as cache_read_tokens,
        sum(coalesce(usage.cache_write_5m_tokens, 0))::double as cache_write_5m_tokens,
        sum(coalesce(usage.cache_write_1h_tokens, 0))::double as cache_write_1h_tokens,
        sum(coalesce(usage.output_tokens, 0))::double as output_tokens
    from int_usage_groups as usage
    group by all
),

models as (
    select
        costs.month,
        costs.query_class,
        costs.provider,
        costs.model_id,
        costs.request_count,
        costs.task_count,
        costs.failed_requests_per_task,
        costs.other_requests_per_task,
        costs.failed_requests_per_task + costs.other_requests_per_task as requests_per_task,
        costs.input_tokens_per_request,
        costs.uncached_input_frac,
        costs.cache_read_frac,
        costs.cache_write_5m_frac,
        costs.cache_write_1h_frac,
        costs.answer_tokens_per_request,
        costs.reasoning_tokens_per_request,
        costs.answer_tokens_per_request + costs.reasoning_tokens_per_request
            as output_tokens_per_request,
        costs.uncached_input_usd_per_mtok,
        costs.cache_read_usd_per_mtok,
        costs.cache_write_5m_usd_per_mtok,
        costs.cache_write_1h_usd_per_mtok,
        costs.output_usd_per_mtok,
        costs.listed_input_usd_per_mtok,
        costs.listed_output_usd_per_mtok,
        costs.uncached_input_usd_per_mtok - costs.listed_input_usd_per_mtok::double
            as input_tier_usd_per_mtok,
        costs.output_usd_per_mtok - costs.listed_output_usd_per_mtok::double
            as output_tier_usd_per_mtok,
        costs.uncached_input_frac * costs.uncached_input_usd_per_mtok
        + costs.cache_read_frac * costs.cache_read_usd_per_mtok
        + costs.cache_write_5m_frac * costs.cache_write_5m_usd_per_mtok
        + costs.cache_write_1h_frac * costs.cache_write_1h_usd_per_mtok as input_usd_per_mtok,
        costs.input_tokens_per_request * (
            costs.uncached_input_frac * costs.uncached_input_usd_per_mtok
            + costs.cache_read_frac * costs.cache_read_usd_per_mtok
            + costs.cache_write_5m_frac * costs.cache_write_5m_usd_per_mtok
            + costs.cache_write_1h_frac * costs.cache_write_1h_usd_per_mtok
        )
        + (costs.answer_tokens_per_request + costs.reasoning_tokens_per_request)
        * costs.output_usd_per_mtok as usd_per_mrequest,
        costs.list_cost_usd::double / costs.task_count as list_cost_usd_per_task,
        (
            mixes.uncached_input_tokens * costs.listed_input_usd_per_mtok::double
            + mixes.cache_read_tokens * costs.listed_cache_read_usd_per_mtok::double
            + mixes.cache_write_5m_tokens * costs.listed_cache_write_5m_usd_per_mtok::double
            + mixes.cache_write_1h_tokens * costs.listed_cache_write_1h_usd_per_mtok::double
            + mixes.output_tokens * costs.listed_output_usd_per_mtok::double
        ) / nullif(
            mixes.uncached_input_tokens + mixes.cache_read_tokens
            + mixes.cache_write_5m_tokens + mixes.cache_write_1h_tokens + mixes.output_tokens,
            0
        ) as mix_usd_per_mtok
    from int_task_costs as costs
    inner join mixes
        on costs.month = mixes.month and costs.query_class = mixes.query_class
),

-- Parts of the difference per task, in dollars of a million requests.
split as (
    select
        one.month,
        one.query_class,
        one.provider,
        one.model_id,
        other.provider as other_provider,
        other.model_id as other_model_id,
        least(one.request_count, other.request_count) as fewest_requests,
        one.requests_per_task,
        one.input_tokens_per_request,
        one.output_tokens_per_request,
        one.uncached_input_frac,
        one.cache_read_frac,
        one.uncached_input_usd_per_mtok,
        one.cache_read_usd_per_mtok,
        one.output_usd_per_mtok,
        one.mix_usd_per_mtok,
        other.mix_usd_per_mtok as other_mix_usd_per_mtok,
        one.list_cost_usd_per_task,
        other.list_cost_usd_per_task as other_list_cost_usd_per_task,
        one.listed_input_usd_per_mtok <= other.listed_input_usd_per_mtok
        and one.listed_output_usd_per_mtok <= other.listed_output_usd_per_mtok
        and (
            one.listed_input_usd_per_mtok < other.listed_input_usd_per_mtok
            or one.listed_output_usd_per_mtok < other.listed_output_usd_per_mtok
        ) as is_cheaper_by_list,
        one.mix_usd_per_mtok < other.mix_usd_per_mtok as is_cheaper_at_mix,
        (one.failed_requests_per_task - other.failed_requests_per_task)
        * (one.usd_per_mrequest + other.usd_per_mrequest) / 2 as failures,
        (one.other_requests_per_task - other.other_requests_per_task)
        * (one.usd_per_mrequest + other.usd_per_mrequest) / 2 as requests,
        (one.requests_per_task + other.requests_per_task) / 2 as mean_requests,
        (one.input_tokens_per_request + other.input_tokens_per_request) / 2 as mean_input,
        (one.output_tokens_per_request + other.output_tokens_per_request) / 2 as mean_output,
        (one.uncached_input_frac + other.uncached_input_frac) / 2 as mean_uncached_frac,
        (one.input_tokens_per_request - other.input_tokens_per_request)
        * (one.input_usd_per_mtok + other.input_usd_per_mtok) / 2 as input_length,
        (one.uncached_input_frac - other.uncached_input_frac)
        * (one.uncached_input_usd_per_mtok + other.uncached_input_usd_per_mtok) / 2
        + (one.cache_read_frac - other.cache_read_frac)
        * (one.cache_read_usd_per_mtok + other.cache_read_usd_per_mtok) / 2
        + (one.cache_write_5m_frac - other.cache_write_5m_frac)
        * (one.cache_write_5m_usd_per_mtok + other.cache_write_5m_usd_per_mtok) / 2
        + (one.cache_write_1h_frac - other.cache_write_1h_frac)
        * (one.cache_write_1h_usd_per_mtok + other.cache_write_1h_usd_per_mtok) / 2 as cache_share,
        (one.cache_read_frac + other.cache_read_frac) / 2
        * (one.cache_read_usd_per_mtok - other.cache_read_usd_per_mtok)
        + (one.cache_write_5m_frac + other.cache_write_5m_frac) / 2
        * (one.cache_write_5m_usd_per_mtok - other.cache_write_5m_usd_per_mtok)
        + (one.cache_write_1h_frac + other.cache_write_1h_frac) / 2
        * (one.cache_write_1h_usd_per_mtok - other.cache_write_1h_usd_per_mtok) as cache_price,
        (one.answer_tokens_per_request - other.answer_tokens_per_request)
        * (one.output_usd_per_mtok + other.output_usd_per_mtok) / 2 as verbosity,
        (one.reasoning_tokens_per_request - other.reasoning_tokens_per_request)
        * (one.output_usd_per_mtok + other.output_usd_per_mtok) / 2 as reasoning,
        one.input_tier_usd_per_mtok - other.input_tier_usd_per_mtok as input_tier,
        one.output_tier_usd_per_mtok - other.output_tier_usd_per_mtok as output_tier,
        (one.listed_input_usd_per_mtok - other.listed_input_usd_per_mtok)::double as input_price,
        (one.listed_output_usd_per_mtok - other.listed_output_usd_per_mtok)::double
            as output_price
    from models as one
    inner join models as other
        on
            one.month = other.month
            and one.query_class = other.query_class
            and (one.provider <> other.provider or one.model_id <> other.model_id)
),

parts as (
    select
        split.month,
        split.query_class,
        split.provider,
        split.model_id,
        split.other_provider,
        split.other_model_id,
        split.mean_requests * split.mean_input * split.mean_uncached_frac * split.input_price
        / 1000000
        + split.mean_requests * split.mean_output * split.output_price / 1000000 as list_price,
        split.mean_requests * split.mean_input * split.mean_uncached_frac * split.input_tier
        / 1000000
        + split.mean_requests * split.mean_output * split.output_tier / 1000000 as tier,
        split.mean_requests * split.mean_input * split.cache_price / 1000000 as cache_price,
        split.mean_requests * split.mean_input * split.cache_share / 1000000 as cache_share,
        split.mean_requests * split.input_length / 1000000 as input_length,
        split.mean_requests * split.verbosity / 1000000 as verbosity,
        split.mean_requests * split.reasoning / 1000000 as reasoning,
        split.failures / 1000000 as failures,
        split.requests / 1000000 as requests
    from split
),

judged as (
    select
        split.month,
        split.query_class,
        split.provider,
        split.model_id,
        split.other_provider,
        split.other_model_id,
        case when split.fewest_requests < least_requests.value then 'too few requests' end
            as reason,
        (split.is_cheaper_by_list or split.is_cheaper_at_mix)
        and split.list_cost_usd_per_task > split.other_list_cost_usd_per_task as is_reversal,
        split.list_cost_usd_per_task - split.other_list_cost_usd_per_task as gap_usd_per_task
    from split
    inner join stg_assumptions as least_requests
        on least_requests.assumption = 'comparison_requests_least'
)

select
    split.month::varchar as month,
    split.query_class::varchar as query_class,
    split.provider::varchar as provider,
    split.model_id::varchar as model_id,
    split.other_provider::varchar as other_provider,
    split.other_model_id::varchar as other_model_id,
    split.fewest_requests::bigint as fewest_request_count,
    split.is_cheaper_by_list::boolean as is_cheaper_by_list,
    split.is_cheaper_at_mix::boolean as is_cheaper_at_mix,
    split.mix_usd_per_mtok::double as mix_usd_per_mtok,
    split.other_mix_usd_per_mtok::double as other_mix_usd_per_mtok,
    split.list_cost_usd_per_task::double as list_cost_usd_per_task,
    split.other_list_cost_usd_per_task::double as other_list_cost_usd_per_task,
    judged.gap_usd_per_task::double as gap_usd_per_task,
    parts.list_price::double as list_price_usd_per_task,
    parts.tier::double as tier_usd_per_task,
    parts.cache_price::double as cache_price_usd_per_task,
    parts.cache_share::double as cache_share_usd_per_task,
    parts.input_length::double as input_length_usd_per_task,
    parts.verbosity::double as verbosity_usd_per_task,
    parts.reasoning::double as reasoning_usd_per_task,
    parts.failures::double as failures_usd_per_task,
    parts.requests::double as requests_usd_per_task,
    case when judged.reason is null then judged.is_reversal end::boolean as is_reversal,
    case
        when judged.reason is not null or not judged.is_reversal then null
        else
            case
            greatest(
                parts.tier, parts.cache_price, parts.cache_share, parts.input_length,
                parts.verbosity, parts.reasoning, parts.failures, parts.requests
            )
                when parts.verbosity then 'longer answers'
                when parts.reasoning then 'more reasoning'
                when parts.failures then 'more failed requests'
                when parts.requests then 'more requests a task'
                when parts.cache_share then 'less from the cache'
                when parts.cache_price then 'dearer cache'
                when parts.tier then 'dearer tier'
                else 'longer input'
            end
    end::varchar as cause,
    split.output_tokens_per_request::double as output_tokens_per_request,
    case
        when
            judged.reason is null
            and judged.is_reversal
            and split.output_tokens_per_request
            >= judged.gap_usd_per_task * 1000000
            / nullif(split.requests_per_task * split.output_usd_per_mtok, 0)
            then
                split.output_tokens_per_request
                - judged.gap_usd_per_task * 1000000
                / (split.requests_per_task * split.output_usd_per_mtok)
    end::double as threshold_output_tokens_per_request,
    split.cache_read_frac::double as cache_read_frac,
    case
        when
            judged.reason is null
            and judged.is_reversal
            and split.uncached_input_usd_per_mtok > split.cache_read_usd_per_mtok
            and split.uncached_input_frac
            >= judged.gap_usd_per_task * 1000000
            / nullif(
                split.requests_per_task * split.input_tokens_per_request
                * (split.uncached_input_usd_per_mtok - split.cache_read_usd_per_mtok),
                0
            )
            then
                split.cache_read_frac
                + judged.gap_usd_per_task * 1000000
                / (
                    split.requests_per_task * split.input_tokens_per_request
                    * (split.uncached_input_usd_per_mtok - split.cache_read_usd_per_mtok)
                )
    end::double as threshold_cache_read_frac,
    judged.reason::varchar as reason
from split
inner join parts
    on
        split.month = parts.month
        and split.query_class = parts.query_class
        and split.provider = parts.provider
        and split.model_id = parts.model_id
        and split.other_provider = parts.other_provider
        and split.other_model_id = parts.other_model_id
inner join judged
    on
        split.month = judged.month
        and split.query_class = judged.query_class
        and split.provider = judged.provider
        and split.model_id = judged.model_id
        and split.other_provider = judged.other_provider
        and split.other_model_id = judged.other_model_id
