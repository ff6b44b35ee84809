-- One row of usage with its model, class and token moments.
-- A bucket of r requests counts as r requests of mean lengths whose products are corrected for
-- how lengths of its class scatter. Moments are null for rows with unknown lengths (not
-- measurable) and for rows without input: without output too they had no work to do, with
-- output their input is not known.
-- materialised: view
-- grain: input_id, source_line

with

sized as (
    select
        usage.input_id,
        usage.source_line,
        usage.month,
        usage.team,
        usage.task_id,
        usage.query_class,
        usage.class_source,
        usage.project,
        usage.names_project,
        usage.names_user,
        usage.names_api_key,
        usage.names_route,
        usage.occurred_at,
        usage.logged_provider,
        usage.logged_model_name,
        usage.service_tier,
        usage.region,
        usage.latency_s,
        usage.input_tokens,
        usage.uncached_input_tokens,
        usage.cache_read_tokens,
        usage.cache_write_5m_tokens,
        usage.cache_write_1h_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.is_cache_known,
        usage.is_bucket,
        coalesce(usage.bucket_end_at > usage.occurred_at + 86400 * interval '1' second, false)
            as is_long_bucket,
        usage.is_failed,
        usage.is_cut_off,
        usage.is_solved,
        usage.billed_cost_usd,
        usage.request_count is null and usage.is_bucket as is_request_count_guessed,
        case
            when usage.request_count is not null then usage.request_count
            when usage.is_bucket
                then
                    greatest(
                        round(usage.output_tokens / scatter.mean_output_tokens)::bigint, 1
                    )
            else 1
        end as request_count,
        case when usage.is_bucket then scatter.input_squared_ratio else 1 end
            as input_squared_ratio,
        case when usage.is_bucket then scatter.input_output_ratio else 1 end
            as input_output_ratio,
        case when usage.is_bucket then scatter.output_squared_ratio else 1 end
            as output_squared_ratio
    from int_classified_usage as usage
    left join stg_dispersion_factors as scatter on usage.query_class = scatter.query_class
),

means as (
    select
        sized.input_id,
        sized.source_line,
        sized.request_count,
        sized.month,
        sized.team,
        sized.task_id,
        sized.query_class,
        sized.class_source,
        sized.project,
        sized.names_project,
        sized.names_user,
        sized.names_api_key,
        sized.names_route,
        sized.occurred_at,
        sized.logged_provider,
        sized.logged_model_name,
        sized.service_tier,
        sized.region,
        sized.latency_s,
        sized.input_tokens,
        sized.uncached_input_tokens,
        sized.cache_read_tokens,
        sized.cache_write_5m_tokens,
        sized.cache_write_1h_tokens,
        sized.output_tokens,
        sized.reasoning_tokens,
        sized.is_cache_known,
        sized.is_bucket,
        sized.is_long_bucket,
        sized.is_failed,
        sized.is_cut_off,
        sized.is_solved,
        sized.billed_cost_usd,
        sized.is_request_count_guessed,
        sized.input_squared_ratio,
        sized.input_output_ratio,
        sized.output_squared_ratio,
        coalesce(sized.input_tokens > 0 and sized.output_tokens is not null, false)
            as has_work,
        coalesce(sized.input_tokens > 0 or sized.output_tokens = 0, false)
        and sized.output_tokens is not null as is_measurable,
        sized.input_tokens::double / sized.request_count as mean_input_tokens,
        case
            when sized.request_count = 1
                then
                    least(
                        coalesce(sized.cache_read_tokens, 0), sized.input_tokens - 1
                    )::double
            else
                least(
                    coalesce(sized.cache_read_tokens, 0)::double / sized.request_count,
                    greatest(sized.input_tokens::double / sized.request_count - 1, 0)
                )
        end as mean_cached_tokens,
        sized.output_tokens::double / sized.request_count as mean_output_tokens
    from sized
)

select
    means.input_id::integer as input_id,
    means.source_line::bigint as source_line,
    means.month::varchar as month,
    int_models.provider::varchar as provider,
    int_models.model_id::varchar as model_id,
    means.query_class::varchar as query_class,
    means.class_source::varchar as class_source,
    means.team::varchar as team,
    means.project::varchar as project,
    means.names_project::boolean as names_project,
    means.names_user::boolean as names_user,
    means.names_api_key::boolean as names_api_key,
    means.names_route::boolean as names_route,
    means.task_id::varchar as task_id,
    means.is_solved::boolean as is_solved,
    means.is_failed::boolean as is_failed,
    means.is_cut_off::boolean as is_cut_off,
    means.is_bucket::boolean as is_bucket,
    means.is_long_bucket::boolean as is_long_bucket,
    means.is_request_count_guessed::boolean as is_request_count_guessed,
    means.is_cache_known::boolean as is_cache_known,
    means.request_count::bigint as request_count,
    means.input_tokens::bigint as input_tokens,
    means.uncached_input_tokens::bigint as uncached_input_tokens,
    means.cache_read_tokens::bigint as cache_read_tokens,
    means.cache_write_5m_tokens::bigint as cache_write_5m_tokens,
    means.cache_write_1h_tokens::bigint as cache_write_1h_tokens,
    means.output_tokens::bigint as output_tokens,
    means.reasoning_tokens::bigint as reasoning_tokens,
    int_models.price_model::varchar as price_model,
    means.service_tier::varchar as service_tier,
    means.region::varchar as region,
    means.latency_s::double as latency_s,
    means.occurred_at::timestamp as occurred_at,
    means.mean_input_tokens::double as mean_input_tokens,
    means.billed_cost_usd::decimal(24, 12) as billed_cost_usd,
    means.is_measurable::boolean as is_measurable,
    means.has_work::boolean as has_work,
    case
        when means.has_work
            then
                round(
                    prefilled_tokens(
                        means.mean_input_tokens, means.mean_cached_tokens, means.request_count
                    )
                )
    end::bigint as prefilled_tokens,
    case
        when means.has_work
            then
                round(
                    prefill_pairs(
                        means.mean_input_tokens,
                        means.mean_cached_tokens,
                        means.request_count,
                        means.input_squared_ratio
                    )
                )
    end::bigint as prefill_pairs,
    case
        when means.has_work
            then
                round(
                    decode_pairs(
                        means.mean_input_tokens,
                        means.mean_output_tokens,
                        means.request_count,
                        means.input_output_ratio,
                        means.output_squared_ratio
                    )
                )
    end::bigint as decode_pairs,
    case
        when means.has_work
            then
                round(
                    cache_positions(
                        means.mean_input_tokens,
                        means.mean_output_tokens,
                        means.request_count,
                        means.input_output_ratio,
                        means.output_squared_ratio
                    )
                )
    end::bigint as cache_positions,
    case
        when means.has_work
            then
                round(
                    cache_positions(
                        0,
                        means.mean_output_tokens,
                        means.request_count,
                        means.input_output_ratio,
                        means.output_squared_ratio
                    )
                )
    end::bigint as output_positions,
    case
        when means.has_work
            then round(decode_steps(means.mean_output_tokens, means.request_count))
    end::bigint as decode_steps
from means
inner join int_models
    on
        means.logged_provider = int_models.logged_provider
        and means.logged_model_name = int_models.logged_model_name
        and means.occurred_at >= int_models.valid_from
        and means.occurred_at < int_models.valid_to
