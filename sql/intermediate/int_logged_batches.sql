-- The batch that the log itself tells for a model and class: its hours joined as the harmonic mean
-- weighted by the output tokens written in them, since what a batch shares is paid once a pass and
-- divided by it. Low and high are the batches that 5 % and 95 % of the output tokens do not exceed.
-- Unknown where the hours that tell a batch hold too few of the output tokens.
-- grain: month, provider, model_id, query_class

with

shares as (
    select
        hours.month,
        hours.provider,
        hours.model_id,
        hours.query_class,
        hours.time_source,
        hours.batch,
        hours.output_tokens,
        case when hours.batch is not null then hours.output_tokens else 0 end as known_tokens,
        sum(case when hours.batch is not null then hours.output_tokens else 0 end) over (
            partition by hours.month, hours.provider, hours.model_id, hours.query_class
            order by hours.batch nulls last, hours.hour_start_at
            rows between unbounded preceding and current row
        ) as tokens_up_to_here,
        sum(case when hours.batch is not null then hours.output_tokens else 0 end) over (
            partition by hours.month, hours.provider, hours.model_id, hours.query_class
        ) as all_known_tokens
    from int_hourly_batches as hours
),

joined as (
    select
        shares.month,
        shares.provider,
        shares.model_id,
        shares.query_class,
        sum(shares.output_tokens) as output_tokens,
        sum(shares.known_tokens) as known_tokens,
        sum((shares.known_tokens::double / shares.batch)::decimal(38, 12)) as tokens_per_batch,
        min(
            case
                when shares.tokens_up_to_here::double >= 0.05 * shares.all_known_tokens::double
                    then shares.batch
            end
        ) as batch_low,
        min(
            case
                when shares.tokens_up_to_here::double >= 0.95 * shares.all_known_tokens::double
                    then shares.batch
            end
        ) as batch_high,
        min(case when shares.known_tokens > 0 then shares.time_source end) as first_source,
        max(case when shares.known_tokens > 0 then shares.time_source end) as last_source
    from shares
    group by all
)

select
    joined.month::varchar as month,
    joined.provider::varchar as provider,
    joined.model_id::varchar as model_id,
    joined.query_class::varchar as query_class,
    case
        when joined.first_source = joined.last_source then joined.first_source
        else joined.first_source || ', ' || joined.last_source
    end::varchar as batch_source,
    (joined.known_tokens::double / joined.tokens_per_batch::double)::double as batch,
    least(joined.batch_low, joined.known_tokens::double / joined.tokens_per_batch::double)::double
        as batch_low,
    greatest(
        joined.batch_high, joined.known_tokens::double / joined.tokens_per_batch::double
    )::double as batch_high
from joined
inner join stg_assumptions as enough on enough.assumption = 'latency_known_frac'
where
    joined.tokens_per_batch > 0
    and joined.known_tokens::double >= enough.value * joined.output_tokens::double
