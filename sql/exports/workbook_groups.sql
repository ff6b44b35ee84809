-- One line a month, provider, model and class for the workbook: batch, energies and their rates.
-- grain: month_start, provider, model_id, query_class

select
    (energy.month || '-01')::date as month_start,
    energy.provider,
    energy.model_id,
    energy.query_class,
    energy.hosting_kind,
    energy.architecture_class,
    energy.stand_in_tier,
    energy.gpu,
    energy.stack,
    energy.coefficient_set_id,
    energy.method_version,
    energy.evidence_grade,
    energy.batch_source,
    energy.batch_max,
    energy.batch,
    energy.bias_factor,
    energy.request_count,
    energy.unmeasured_request_count,
    tasks.unpriced_request_count,
    tasks.task_count,
    tasks.solved_task_count,
    energy.output_tokens,
    energy.prefill_energy_j,
    energy.kv_cache_energy_j,
    energy.next_token_energy_j,
    energy.energy_j,
    energy.gpu_energy_j,
    energy.energy_low_j,
    energy.energy_high_j,
    energy.request_energy_p50_j,
    energy.request_energy_p90_j,
    energy.energy_j_per_output_token,
    energy.facility_energy_kwh,
    energy.facility_energy_low_kwh,
    energy.facility_energy_high_kwh,
    energy.carbon_gco2e,
    energy.prefill_frac,
    energy.kv_cache_frac,
    energy.next_token_frac,
    tasks.energy_cost_usd,
    tasks.cost_usd,
    tasks.list_cost_usd,
    tasks.billed_cost_usd,
    tasks.cost_usd_per_task,
    tasks.cost_usd_per_solved_task,
    tasks.energy_j_per_task,
    tasks.energy_j_per_solved_task,
    tasks.carbon_gco2e_per_task,
    moments.measurable_request_count::bigint as measurable_request_count,
    moments.prefilled_tokens::double as prefilled_tokens,
    moments.prefill_pairs::double as prefill_pairs,
    moments.prompts::double as prompts,
    moments.cache_positions::double as cache_positions,
    moments.decode_pairs::double as decode_pairs,
    moments.decode_steps::double as decode_steps,
    moments.passes::double as passes,
    rates.energy_j_per_prefilled_token,
    rates.energy_j_per_pair,
    rates.energy_j_per_prompt,
    rates.energy_j_per_cache_position,
    rates.energy_j_per_decode_step,
    rates.energy_j_per_pass
from mart_energy_per_class as energy
inner join mart_cost_per_task as tasks
    on
        energy.month = tasks.month
        and energy.provider = tasks.provider
        and energy.model_id = tasks.model_id
        and energy.query_class = tasks.query_class
inner join int_class_moments as moments
    on
        energy.month = moments.month
        and energy.provider = moments.provider
        and energy.model_id = moments.model_id
        and energy.query_class = moments.query_class
left join int_class_energy as rates
    on
        energy.month = rates.month
        and energy.provider = rates.provider
        and energy.model_id = rates.model_id
        and energy.query_class = rates.query_class
where
    energy.month <= getvariable('report_month')
    and energy.month >= getvariable('first_month')
order by all
