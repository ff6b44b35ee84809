-- Days on which a team or model left its own pattern, with what moved: requests, tokens a request,
-- or money (or energy) a token. The pattern is the median of its own days in the 8 weeks before:
-- those of the same weekday where there are 6, else working days or weekend days where there are
-- 6; with fewer nothing is said. Days without usage are none. The distance is in scaled median
-- deviations, with a floor (anomaly_spread_frac); reported are the largest (anomaly_most_count)
-- beyond anomaly_score that move anomaly_material_frac of the month. Cost is judged where it is
-- known, else electricity. The range of a day is that of its models' and classes' joint draws.
-- grain: month, day_on, subject_kind, subject

with

kinds as (
    select kind.subject_kind
    from (values ('team'), ('model')) as kind (subject_kind)
),

days as (
    select
        int_days.month,
        int_days.day_on,
        kinds.subject_kind,
        case kinds.subject_kind when 'team' then int_days.team else int_days.model_id end
            as subject,
        sum(int_days.request_count)::double as request_count,
        sum(int_days.tokens)::double as tokens,
        sum(int_days.cost_usd) as cost_usd,
        sum(int_days.facility_energy_kwh) as facility_energy_kwh
    from int_days
    cross join kinds
    where int_days.is_day
    group by all
),

priced_subjects as (
    select
        days.subject_kind,
        days.subject,
        case when count(days.cost_usd) > 0 then 'cost' else 'energy' end as measure
    from days
    group by all
),

measured as (
    select
        days.month,
        days.day_on,
        days.subject_kind,
        days.subject,
        subjects.measure,
        days.cost_usd,
        days.facility_energy_kwh,
        weekday_of(days.day_on) as weekday,
        weekday_of(days.day_on) >= 6 as is_weekend,
        days.request_count,
        days.tokens / days.request_count as request_tokens,
        case subjects.measure when 'cost' then days.cost_usd else days.facility_energy_kwh end
        ::double as amount,
        case subjects.measure when 'cost' then days.cost_usd else days.facility_energy_kwh end
        ::double / nullif(days.tokens, 0) as token_amount
    from days
    inner join priced_subjects as subjects
        on
            days.subject_kind = subjects.subject_kind
            and days.subject is not distinct from subjects.subject
    where
        days.request_count > 0
        and case subjects.measure when 'cost' then days.cost_usd else days.facility_energy_kwh end
        is not null
),

pairs as (
    select
        measured.day_on,
        measured.subject_kind,
        measured.subject,
        earlier.weekday = measured.weekday as is_same_weekday,
        earlier.request_count,
        earlier.request_tokens,
        earlier.token_amount,
        earlier.amount,
        count(*) filter (where earlier.weekday = measured.weekday) over (
            partition by measured.day_on, measured.subject_kind, measured.subject
        ) as weekday_count,
        count(*) over (
            partition by measured.day_on, measured.subject_kind, measured.subject
        ) as like_count
    from measured
    inner join measured as earlier
        on
            measured.subject_kind = earlier.subject_kind
            and measured.subject is not distinct from earlier.subject
            and measured.is_weekend = earlier.is_weekend
            and measured.day_on > earlier.day_on
            and days_between(earlier.day_on, measured.day_on) <= 56
),

chosen as (
    select
        pairs.day_on,
        pairs.subject_kind,
        pairs.subject,
        pairs.request_count,
        pairs.request_tokens,
        pairs.token_amount,
        pairs.amount,
        pairs.weekday_count >= 6 as is_by_weekday
    from pairs
    where
        (pairs.weekday_count >= 6 and pairs.is_same_weekday)
        or (pairs.weekday_count < 6 and pairs.like_count >= 6)
),

medians as (
    select
        chosen.day_on,
        chosen.subject_kind,
        chosen.subject,
        chosen.is_by_weekday,
        count(*) as pattern_day_count,
        drawn_p50(chosen.request_count) as request_count,
        drawn_p50(chosen.request_tokens) as request_tokens,
        drawn_p50(chosen.token_amount) as token_amount,
        drawn_p50(chosen.amount) as amount
    from chosen
    group by all
),

spreads as (
    select
        chosen.day_on,
        chosen.subject_kind,
        chosen.subject,
        drawn_p50(abs(chosen.amount - medians.amount)) * 1.4826 as spread
    from chosen
    inner join medians
        on
            chosen.day_on = medians.day_on
            and chosen.subject_kind = medians.subject_kind
            and chosen.subject is not distinct from medians.subject
    group by all
),

months as (
    select
        int_days.month,
        sum(int_days.cost_usd)::double as cost,
        sum(int_days.facility_energy_kwh)::double as energy
    from int_days
    group by all
),

scored as (
    select
        measured.month,
        measured.day_on,
        measured.subject_kind,
        measured.subject,
        measured.measure,
        measured.cost_usd,
        measured.facility_energy_kwh,
        medians.pattern_day_count,
        medians.is_by_weekday,
        medians.amount as expected_amount,
        measured.amount - medians.amount as excess_amount,
        (measured.amount - medians.amount)
        / nullif(greatest(spreads.spread, floor_share.value * medians.amount), 0) as score,
        (measured.amount - medians.amount)
        / nullif(case measured.measure when 'cost' then months.cost else months.energy end, 0)
            as month_frac,
        measured.request_count / nullif(medians.request_count, 0) as requests_ratio,
        measured.request_tokens / nullif(medians.request_tokens, 0) as request_tokens_ratio,
        measured.token_amount / nullif(medians.token_amount, 0) as price_ratio
    from measured
    inner join medians
        on
            measured.day_on = medians.day_on
            and measured.subject_kind = medians.subject_kind
            and measured.subject is not distinct from medians.subject
    inner join spreads
        on
            measured.day_on = spreads.day_on
            and measured.subject_kind = spreads.subject_kind
            and measured.subject is not distinct from spreads.subject
    inner join months on measured.month = months.month
    inner join stg_assumptions as floor_share on floor_share.assumption = 'anomaly_spread_frac'
),

ranked as (
    select
        scored.month,
        scored.day_on,
        scored.subject_kind,
        scored.subject,
        scored.measure,
        scored.cost_usd,
        scored.facility_energy_kwh,
        scored.pattern_day_count,
        scored.is_by_weekday,
        scored.expected_amount,
        scored.score,
        scored.month_frac,
        scored.requests_ratio,
        scored.request_tokens_ratio,
        scored.price_ratio,
        ln(greatest(coalesce(scored.requests_ratio, 1), 1e-9)) as requests_log,
        ln(greatest(coalesce(scored.request_tokens_ratio, 1), 1e-9)) as tokens_log,
        ln(greatest(coalesce(scored.price_ratio, 1), 1e-9)) as price_log,
        row_number() over (
            partition by scored.month
            order by
                abs(scored.month_frac) desc,
                scored.day_on,
                scored.subject_kind asc,
                scored.subject asc
        ) as size_rank
    from scored
    inner join stg_assumptions as least_score on least_score.assumption = 'anomaly_score'
    inner join stg_assumptions as material on material.assumption = 'anomaly_material_frac'
    where
        abs(scored.score) > least_score.value
        and abs(scored.month_frac) >= material.value
),

shown as (
    select
        ranked.month,
        ranked.day_on,
        ranked.subject_kind,
        ranked.subject
    from ranked
    inner join stg_assumptions as most on most.assumption = 'anomaly_most_count'
    where ranked.size_rank <= most.value
),

-- What a shown day took of each model and class.
parts as (
    select
        shown.month,
        shown.day_on,
        shown.subject_kind,
        shown.subject,
        int_days.provider,
        int_days.model_id,
        int_days.query_class,
        sum(int_days.passes) as passes,
        sum(int_days.facility_energy_kwh)::double as facility_energy_kwh
    from shown
    inner join int_days
        on
            shown.day_on = int_days.day_on
            and case shown.subject_kind when 'team' then int_days.team else int_days.model_id end
            is not distinct from shown.subject
    where int_days.is_day
    group by all
),

bases as (
    select
        parts.month,
        parts.day_on,
        parts.subject_kind,
        parts.subject,
        worst_material_grade(rates.evidence_grade, parts.facility_energy_kwh, material.value)
            as evidence_grade,
        listed_sets(rates.coefficient_set_id) as coefficient_set_id,
        mean_batch(rates.batch, parts.passes) as batch
    from parts
    left join int_class_energy as rates
        on
            parts.month = rates.month
            and parts.provider = rates.provider
            and parts.model_id = rates.model_id
            and parts.query_class = rates.query_class
    inner join stg_assumptions as material on material.assumption = 'material_energy_frac'
    group by all
),

drawn as (
    select
        parts.month,
        parts.day_on,
        parts.subject_kind,
        parts.subject,
        draws.draw,
        sum(
            (
                parts.facility_energy_kwh * draws.facility_energy_kwh
                / nullif(rates.facility_energy_kwh, 0)
            )::decimal(38, 18)
        ) as facility_energy_kwh
    from parts
    inner join int_class_energy as rates
        on
            parts.month = rates.month
            and parts.provider = rates.provider
            and parts.model_id = rates.model_id
            and parts.query_class = rates.query_class
    inner join int_class_draws as draws
        on
            parts.month = draws.month
            and parts.provider = draws.provider
            and parts.model_id = draws.model_id
            and parts.query_class = draws.query_class
    group by all
),

ends as (
    select
        drawn.month,
        drawn.day_on,
        drawn.subject_kind,
        drawn.subject,
        drawn_p05(drawn.facility_energy_kwh) as facility_energy_low_kwh,
        drawn_p95(drawn.facility_energy_kwh) as facility_energy_high_kwh
    from drawn
    group by all
)

select
    ranked.month::varchar as month,
    ranked.day_on::date as day_on,
    ranked.subject_kind::varchar as subject_kind,
    ranked.subject::varchar as subject,
    ranked.measure::varchar as measure,
    ranked.cost_usd::decimal(38, 15) as cost_usd,
    case when ranked.measure = 'cost' then ranked.expected_amount end::decimal(38, 9)
        as expected_cost_usd,
    ranked.facility_energy_kwh::double as facility_energy_kwh,
    least(ends.facility_energy_low_kwh, ranked.facility_energy_kwh::double)::double
        as facility_energy_low_kwh,
    greatest(ends.facility_energy_high_kwh, ranked.facility_energy_kwh::double)::double
        as facility_energy_high_kwh,
    case when ranked.measure = 'energy' then ranked.expected_amount end::double
        as expected_energy_kwh,
    ranked.month_frac::double as month_frac,
    ranked.score::double as score_ratio,
    ranked.requests_ratio::double as requests_ratio,
    ranked.request_tokens_ratio::double as request_tokens_ratio,
    ranked.price_ratio::double as price_ratio,
    case
        when abs(ranked.requests_log) >= greatest(abs(ranked.tokens_log), abs(ranked.price_log))
            then 'requests'
        when abs(ranked.tokens_log) >= abs(ranked.price_log) then 'tokens per request'
        when ranked.measure = 'cost' then 'price per token'
        else 'energy per token'
    end::varchar as moved,
    ranked.pattern_day_count::bigint as pattern_day_count,
    ranked.is_by_weekday::boolean as is_by_weekday,
    bases.evidence_grade::varchar as evidence_grade,
    bases.coefficient_set_id::varchar as coefficient_set_id,
    bases.batch::double as batch,
    method.method_version::varchar as method_version
from ranked
inner join bases
    on
        ranked.month = bases.month
        and ranked.day_on = bases.day_on
        and ranked.subject_kind = bases.subject_kind
        and ranked.subject is not distinct from bases.subject
left join ends
    on
        ranked.month = ends.month
        and ranked.day_on = ends.day_on
        and ranked.subject_kind = ends.subject_kind
        and ranked.subject is not distinct from ends.subject
cross join raw_method as method
