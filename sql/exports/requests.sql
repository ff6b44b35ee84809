-- The requests of a month, as far as figures need them: no user, no key, no text.
-- grain: source_file, source_line

select
    raw_inputs.source_file,
    requests.source_line,
    requests.occurred_at,
    requests.provider,
    requests.model_id,
    requests.query_class,
    requests.team,
    requests.service_tier,
    requests.request_count,
    requests.is_bucket,
    requests.is_failed,
    requests.is_solved,
    requests.is_cache_known,
    requests.input_tokens,
    requests.uncached_input_tokens,
    requests.cache_read_tokens,
    requests.cache_write_5m_tokens,
    requests.cache_write_1h_tokens,
    requests.output_tokens,
    requests.reasoning_tokens,
    requests.billed_cost_usd,
    requests.prefilled_tokens,
    requests.prefill_pairs,
    requests.cache_positions,
    requests.decode_pairs,
    requests.decode_steps
from int_requests as requests
inner join raw_inputs on requests.input_id = raw_inputs.input_id
where requests.month = getvariable('report_month')
order by raw_inputs.source_file, requests.source_line, requests.input_id
