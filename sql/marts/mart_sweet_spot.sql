-- The answer length of least energy per output token, where the month's answers lie, and what an
-- output token takes there, all at the effective batch and at the class's mean input and cached
-- share. A shorter answer takes less energy in all, whatever it takes per token: the energy of a
-- task stands first, and an optimum above the mean is no advice to write more.
-- penalty_frac is what an output token at the mean length takes more than one at the optimum; its
-- range and the share of worlds in which it is more at all come from the joint draws, with the
-- optimum as reported. Closed models take geometric means over their stand-ins.
-- Where reason says why not, nothing is said of lengths.
-- grain: month, provider, model_id, query_class

with

lines as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.prompts,
        moments.passes,
        moments.mean_input_tokens,
        moments.mean_output_tokens,
        moments.mean_input_tokens
        - moments.prefilled_tokens::double / nullif(moments.prompts, 0)::double
            as mean_cached_tokens,
        energy.hosting_kind,
        energy.batch,
        energy.evidence_grade,
        energy.coefficient_set_id,
        energy.bias_factor,
        energy.gpu_energy_j,
        energy.energy_low_j,
        energy.energy_high_j,
        energy.optimum_output_tokens,
        case
            when moments.prompts = 0 then 'no request with input'
            when energy.batch is null then 'no energy: the model or its place on GPUs is unknown'
            when moments.prompts < 2 then 'a single request'
            when moments.mean_output_tokens < 1 then 'no output to share the energy'
            when energy.optimum_output_tokens is null then 'no cache that grows with the answer'
        end as reason
    from int_class_moments as moments
    left join int_class_energy as energy
        on
            moments.month = energy.month
            and moments.provider = energy.provider
            and moments.model_id = energy.model_id
            and moments.query_class = energy.query_class
),

quantiles as (
    select
        month,
        provider,
        model_id,
        query_class,
        output_p10_tokens,
        output_p50_tokens,
        output_p90_tokens
    from int_request_energy_quantiles
),

places as (
    select place.place
    from (values ('mean'), ('optimum'), ('p10'), ('p90')) as place (place)
),

lengths as (
    select
        lines.month,
        lines.provider,
        lines.model_id,
        lines.query_class,
        lines.mean_input_tokens,
        lines.mean_cached_tokens,
        lines.bias_factor,
        places.place,
        case places.place
            when 'mean' then lines.mean_output_tokens
            when 'optimum' then lines.optimum_output_tokens
            when 'p10' then greatest(quantiles.output_p10_tokens, 1)
            when 'p90' then greatest(quantiles.output_p90_tokens, 1)
        end as output_tokens
    from lines
    cross join places
    left join quantiles
        on
            lines.month = quantiles.month
            and lines.provider = quantiles.provider
            and lines.model_id = quantiles.model_id
            and lines.query_class = quantiles.query_class
    where lines.reason is null
),

-- Joules per output token at each length, by the rates in use.
priced as (
    select
        lengths.month,
        lengths.provider,
        lengths.model_id,
        lengths.query_class,
        lengths.place,
        lengths.bias_factor * geometric_mean(
            request_energy_j(
                work.energy_j_per_prefilled_token, work.energy_j_per_pair,
                work.energy_j_per_prompt, work.energy_j_per_cache_position,
                work.energy_j_per_decode_step, work.energy_j_per_pass,
                lengths.mean_input_tokens, lengths.mean_cached_tokens, lengths.output_tokens
            ) / lengths.output_tokens
        ) as energy_j_per_token
    from lengths
    inner join int_class_work as work
        on
            lengths.month = work.month
            and lengths.provider = work.provider
            and lengths.model_id = work.model_id
            and lengths.query_class = work.query_class
    group by
        lengths.month, lengths.provider, lengths.model_id, lengths.query_class, lengths.place,
        lengths.bias_factor
),

compared as (
    select
        priced.month,
        priced.provider,
        priced.model_id,
        priced.query_class,
        max(case when priced.place = 'mean' then priced.energy_j_per_token end) as mean_j,
        max(case when priced.place = 'optimum' then priced.energy_j_per_token end) as optimum_j,
        max(case when priced.place = 'p10' then priced.energy_j_per_token end) as p10_j,
        max(case when priced.place = 'p90' then priced.energy_j_per_token end) as p90_j
    from priced
    group by all
),

-- The same in every world, at the mean and at the optimum as reported.
drawn as (
    select
        lengths.month,
        lengths.provider,
        lengths.model_id,
        lengths.query_class,
        rates.draw,
        lengths.place,
        geometric_mean(
            request_energy_j(
                rates.energy_j_per_prefilled_token, rates.energy_j_per_pair,
                rates.energy_j_per_prompt, rates.energy_j_per_cache_position,
                rates.energy_j_per_decode_step, rates.energy_j_per_pass,
                lengths.mean_input_tokens,
                lengths.mean_cached_tokens
                + rates.cached_frac * (lengths.mean_input_tokens - lengths.mean_cached_tokens),
                lengths.output_tokens
            ) / lengths.output_tokens
        ) as energy_j_per_token
    from lengths
    inner join int_rate_draws as rates
        on
            lengths.month = rates.month
            and lengths.provider = rates.provider
            and lengths.model_id = rates.model_id
            and lengths.query_class = rates.query_class
    where lengths.place in ('mean', 'optimum')
    group by
        lengths.month, lengths.provider, lengths.model_id, lengths.query_class, rates.draw,
        lengths.place
),

penalties as (
    select
        drawn.month,
        drawn.provider,
        drawn.model_id,
        drawn.query_class,
        drawn.draw,
        max(case when drawn.place = 'mean' then drawn.energy_j_per_token end)
        / max(case when drawn.place = 'optimum' then drawn.energy_j_per_token end)
        - 1 as penalty_frac
    from drawn
    group by all
),

ends as (
    select
        penalties.month,
        penalties.provider,
        penalties.model_id,
        penalties.query_class,
        drawn_p05(penalties.penalty_frac) as penalty_low_frac,
        drawn_p50(penalties.penalty_frac) as penalty_p50_frac,
        drawn_p95(penalties.penalty_frac) as penalty_high_frac,
        drawn_positive_frac(penalties.penalty_frac) as penalty_positive_frac
    from penalties
    group by all
)

select
    lines.month::varchar as month,
    lines.provider::varchar as provider,
    lines.model_id::varchar as model_id,
    lines.query_class::varchar as query_class,
    lines.hosting_kind::varchar as hosting_kind,
    lines.batch::double as batch,
    coalesce(lines.evidence_grade, 'U')::varchar as evidence_grade,
    lines.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version,
    lines.prompts::bigint as request_count,
    lines.passes::bigint as output_tokens,
    lines.gpu_energy_j::double as gpu_energy_j,
    lines.energy_low_j::double as energy_low_j,
    lines.energy_high_j::double as energy_high_j,
    tasks.energy_j_per_task::double as energy_j_per_task,
    lines.mean_input_tokens::double as mean_input_tokens,
    lines.mean_cached_tokens::double as mean_cached_tokens,
    lines.mean_output_tokens::double as mean_output_tokens,
    quantiles.output_p10_tokens::double as output_p10_tokens,
    quantiles.output_p50_tokens::double as output_p50_tokens,
    quantiles.output_p90_tokens::double as output_p90_tokens,
    case when lines.reason is null then lines.optimum_output_tokens end::double
        as optimum_output_tokens,
    compared.mean_j::double as energy_j_per_output_token_at_mean,
    compared.optimum_j::double as energy_j_per_output_token_at_optimum,
    (compared.mean_j / nullif(compared.optimum_j, 0) - 1)::double as penalty_frac,
    least(ends.penalty_low_frac, compared.mean_j / nullif(compared.optimum_j, 0) - 1)::double
        as penalty_low_frac,
    ends.penalty_p50_frac::double as penalty_p50_frac,
    greatest(ends.penalty_high_frac, compared.mean_j / nullif(compared.optimum_j, 0) - 1)::double
        as penalty_high_frac,
    ends.penalty_positive_frac::double as penalty_positive_frac,
    (compared.p10_j / nullif(compared.optimum_j, 0) - 1)::double as penalty_at_p10_frac,
    (compared.p90_j / nullif(compared.optimum_j, 0) - 1)::double as penalty_at_p90_frac,
    case
        when lines.reason is not null then null
        when lines.mean_output_tokens > lines.optimum_output_tokens then 'longer'
        else 'shorter'
    end::varchar as mean_against_optimum,
    lines.reason::varchar as reason,
    'answers of the optimum length would do as well'::varchar as assumption
from lines
left join mart_cost_per_task as tasks
    on
        lines.month = tasks.month
        and lines.provider = tasks.provider
        and lines.model_id = tasks.model_id
        and lines.query_class = tasks.query_class
left join quantiles
    on
        lines.month = quantiles.month
        and lines.provider = quantiles.provider
        and lines.model_id = quantiles.model_id
        and lines.query_class = quantiles.query_class
left join compared
    on
        lines.month = compared.month
        and lines.provider = compared.provider
        and lines.model_id = compared.model_id
        and lines.query_class = compared.query_class
left join ends
    on
        lines.month = ends.month
        and lines.provider = ends.provider
        and lines.model_id = ends.model_id
        and lines.query_class = ends.query_class
cross join raw_method as method
