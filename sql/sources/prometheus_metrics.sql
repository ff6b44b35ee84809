-- Counters of serving engines (vLLM, SGLang, TGI) as Prometheus text: what an engine's tokens grew
-- by between two scrapes is a bucket of usage. The first scrape tells all since the server's start;
-- where that is unknown and others follow, it is only where they begin. Prompt tokens include
-- cached ones. vLLM counts hits of its prefix cache a little earlier than the prompts they belong
-- to, and again when a request is taken up anew, so they may run ahead. TGI names no model and
-- knows nothing of a cache. The gauge of running requests is one engine's: its mean over the bucket
-- is the batch of that engine.

with

counters as (
    select
        source_rows.line,
        source_rows.name,
        source_rows.engine,
        source_rows.model_name,
        source_rows.ended_at,
        source_rows.is_first = 'true' as is_first,
        coalesce(time_of(source_rows.started_at), time_of(getvariable('assumed_start')))
            as occurred_at,
        case
            when source_rows.vllm_generation_tokens_total is not null then 'vllm'
            when source_rows.sglang_generation_tokens_total is not null then 'sglang'
            else 'tgi'
        end as provider,
        count_of(
            coalesce(
                source_rows.vllm_prompt_tokens_total,
                source_rows.sglang_prompt_tokens_total,
                source_rows.tgi_request_input_length_sum
            )
        ) as input_tokens,
        count_of(
            coalesce(
                source_rows.vllm_prompt_tokens_cached_total,
                source_rows.vllm_prefix_cache_hits_total,
                source_rows.sglang_cached_tokens_total
            )
        ) as hit_tokens,
        count_of(
            coalesce(
                source_rows.vllm_generation_tokens_total,
                source_rows.sglang_generation_tokens_total,
                source_rows.tgi_request_generated_tokens_sum
            )
        ) as output_tokens,
        count_of(
            coalesce(
                source_rows.vllm_request_success_total,
                source_rows.sglang_num_requests_total,
                source_rows.tgi_request_generated_tokens_count
            )
        ) as request_count,
        try_cast(
            coalesce(
                source_rows.vllm_num_requests_running,
                source_rows.sglang_num_running_reqs,
                source_rows.tgi_batch_current_size
            ) as double
        ) as running_requests
    from source_rows
),

scrapes as (
    select
        counters.*,
        count(*) over (partition by counters.engine, counters.model_name) as scrape_count
    from counters
    where coalesce(counters.input_tokens, counters.output_tokens) is not null
)

select
    scrapes.line::bigint as source_line,
    scrapes.name as request_id,
    scrapes.occurred_at,
    time_of(scrapes.ended_at) as bucket_end_at,
    scrapes.provider,
    scrapes.model_name,
    greatest(scrapes.input_tokens - coalesce(scrapes.hit_tokens, 0), 0) as uncached_input_tokens,
    case
        when scrapes.hit_tokens is not null then least(scrapes.hit_tokens, scrapes.input_tokens)
    end as cache_read_tokens,
    scrapes.output_tokens,
    scrapes.hit_tokens is not null as is_cache_known,
    nullif(scrapes.request_count, 0) as request_count,
    scrapes.running_requests
from scrapes
where
    scrapes.occurred_at is not null
    or not scrapes.is_first
    or scrapes.scrape_count = 1
    or scrapes.ended_at is null
