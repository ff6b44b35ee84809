-- Where the energy of every model and query class goes: prefill, KV cache, next token.
-- Work is summed exactly; of closed models there is no one architecture, so theirs is null.
-- energy_j is the law at the effective batch; gpu_energy_j, corrected by the measured bias, is the
-- value that the range belongs to.
-- grain: month, provider, model_id, query_class

select
    moments.month::varchar as month,
    moments.provider::varchar as provider,
    moments.model_id::varchar as model_id,
    moments.query_class::varchar as query_class,
    hosts.hosting_kind::varchar as hosting_kind,
    energy.architecture_class::varchar as architecture_class,
    energy.stand_in_tier::varchar as stand_in_tier,
    energy.gpu::varchar as gpu,
    energy.stack::varchar as stack,
    energy.gpu_count::integer as gpu_count,
    energy.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    energy.batch::double as batch,
    batches.batch_source::varchar as batch_source,
    batches.batch_max::double as batch_max,
    coalesce(energy.evidence_grade, 'U')::varchar as evidence_grade,
    energy.bias_factor::double as bias_factor,
    moments.request_count::bigint as request_count,
    (
        moments.request_count
        - case when energy.model_id is null then 0 else moments.measurable_request_count end
    )::bigint as unmeasured_request_count,
    moments.input_tokens::bigint as input_tokens,
    (moments.input_tokens - moments.prefilled_tokens)::bigint as cache_read_tokens,
    moments.passes::bigint as output_tokens,
    energy.prefill_flop::decimal(38, 0) as prefill_flop,
    energy.decode_flop::decimal(38, 0) as decode_flop,
    energy.decode_attention_flop::decimal(38, 0) as decode_attention_flop,
    energy.kv_read_bytes::decimal(38, 0) as kv_read_bytes,
    energy.weight_read_bytes::decimal(38, 0) as weight_read_bytes,
    energy.layer_steps::decimal(38, 0) as layer_steps,
    energy.prefill_energy_j::double as prefill_energy_j,
    energy.kv_cache_energy_j::double as kv_cache_energy_j,
    energy.next_token_energy_j::double as next_token_energy_j,
    energy.energy_j::double as energy_j,
    energy.gpu_energy_j::double as gpu_energy_j,
    energy.energy_low_j::double as energy_low_j,
    energy.energy_high_j::double as energy_high_j,
    (energy.prefill_energy_j / nullif(energy.energy_j, 0))::double as prefill_frac,
    (energy.kv_cache_energy_j / nullif(energy.energy_j, 0))::double as kv_cache_frac,
    (energy.next_token_energy_j / nullif(energy.energy_j, 0))::double as next_token_frac,
    quantiles.request_energy_p50_j::double as request_energy_p50_j,
    quantiles.request_energy_p90_j::double as request_energy_p90_j,
    (energy.gpu_energy_j / nullif(moments.passes, 0)::double)::double
        as energy_j_per_output_token,
    energy.optimum_output_tokens::double as optimum_output_tokens,
    energy.facility_energy_kwh::double as facility_energy_kwh,
    energy.facility_energy_low_kwh::double as facility_energy_low_kwh,
    energy.facility_energy_high_kwh::double as facility_energy_high_kwh,
    (energy.facility_energy_kwh * energy.carbon_gco2e_per_kwh)::double as carbon_gco2e
from int_class_moments as moments
left join int_hosts as hosts
    on moments.provider = hosts.provider and moments.model_id = hosts.model_id
left join int_batches as batches
    on
        moments.month = batches.month
        and moments.provider = batches.provider
        and moments.model_id = batches.model_id
        and moments.query_class = batches.query_class
left join int_class_energy as energy
    on
        moments.month = energy.month
        and moments.provider = energy.provider
        and moments.model_id = energy.model_id
        and moments.query_class = energy.query_class
left join int_request_energy_quantiles as quantiles
    on
        moments.month = quantiles.month
        and moments.provider = quantiles.provider
        and moments.model_id = quantiles.model_id
        and moments.query_class = quantiles.query_class
cross join raw_method as method
