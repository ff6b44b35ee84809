-- The batch that a provider's own list prices imply: at which an output token takes as much more
-- energy than an uncached input token as it costs more money, both at the mean request of the
-- class. It is no measurement: prices follow markets too. The energies are marginal (one token
-- more); the weights of experts are those touched at the effective batch. Prices are the month's,
-- weighted by output tokens. Closed models take the geometric means of their stand-ins. The energies
-- are law times bias, and ranges those of the joint draws; a range of the implied batch without a
-- high end has worlds in which no batch is large enough.
-- Beside it cost_usd_per_kwh, where bill and physics part: the cost of usage over the electricity of
-- the facility, both of those requests that have both; its ends are those of the electricity.
-- Two lines are ranked only where their ranges do not overlap: surely_cheaper_count lines of the
-- month lie below the low end of this one, surely_dearer_count above its high end.
-- grain: month, provider, model_id, query_class

with

priced as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        sum(usage.output_tokens)::double as output_tokens,
        sum(usage.output_tokens::decimal(19, 0) * bands.output_usd_per_mtok)::double
            as output_usd_mtokens,
        sum(usage.output_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok)::double
            as uncached_input_usd_mtokens
    from int_usage_groups as usage
    inner join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    group by all
),

tokens as (
    select
        work.month,
        work.provider,
        work.model_id,
        work.query_class,
        geometric_mean(
            energies.bias_factor * next_input_token_energy_j(
                work.energy_j_per_prefilled_token, work.energy_j_per_pair,
                work.energy_j_per_cache_position, moments.mean_input_tokens,
                moments.mean_output_tokens
            )
        ) as input_token_energy_j,
        geometric_mean(
            energies.bias_factor * next_output_token_energy_j(
                work.energy_j_per_decode_step, work.energy_j_per_pair,
                work.energy_j_per_cache_position,
                kv_cache_energy_j(
                    sets.a_j_per_flop, sets.b_j_per_kv_byte,
                    state_moved_bytes(sizes.state_bytes, 1), 0
                ),
                moments.mean_input_tokens, moments.mean_output_tokens
            )
        ) as output_token_energy_j,
        geometric_mean(
            energies.bias_factor * next_token_energy_j(
                sets.a_j_per_flop, sets.c_j_per_weight_byte, sets.s_j_per_layer_step,
                sets.s_j_per_step, 0, sizes.weight_bytes, sizes.layers * work.gpu_count,
                work.gpu_count, 1
            )
        ) as shared_pass_energy_j
    from int_class_work as work
    inner join int_architecture_energy as energies
        on
            work.month = energies.month
            and work.provider = energies.provider
            and work.model_id = energies.model_id
            and work.query_class = energies.query_class
            and work.architecture_id = energies.architecture_id
    inner join int_class_moments as moments
        on
            work.month = moments.month
            and work.provider = moments.provider
            and work.model_id = moments.model_id
            and work.query_class = moments.query_class
    inner join int_deployments as deployments
        on
            work.provider = deployments.provider
            and work.model_id = deployments.model_id
            and work.architecture_id = deployments.architecture_id
    inner join stg_coefficients as sets
        on deployments.coefficient_set_id = sets.coefficient_set_id
    inner join int_model_work as sizes
        on
            deployments.architecture_id = sizes.architecture_id
            and deployments.bytes_per_weight = sizes.bytes_per_weight
            and work.batch = sizes.batch
    group by all
),

paired as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.passes,
        hosts.hosting_kind,
        hosts.is_known_model,
        batches.batch,
        batches.batch_source,
        batches.batch_max,
        priced.output_usd_mtokens / nullif(priced.output_tokens, 0) as output_usd_per_mtok,
        priced.uncached_input_usd_mtokens / nullif(priced.output_tokens, 0)
            as uncached_input_usd_per_mtok,
        priced.output_usd_mtokens / nullif(priced.uncached_input_usd_mtokens, 0) as price_ratio,
        tokens.input_token_energy_j,
        tokens.output_token_energy_j,
        tokens.shared_pass_energy_j
    from int_class_moments as moments
    inner join int_hosts as hosts
        on moments.provider = hosts.provider and moments.model_id = hosts.model_id
    left join int_batches as batches
        on
            moments.month = batches.month
            and moments.provider = batches.provider
            and moments.model_id = batches.model_id
            and moments.query_class = batches.query_class
    left join priced
        on
            moments.month = priced.month
            and moments.provider = priced.provider
            and moments.model_id = priced.model_id
            and moments.query_class = priced.query_class
    left join tokens
        on
            moments.month = tokens.month
            and moments.provider = tokens.provider
            and moments.model_id = tokens.model_id
            and moments.query_class = tokens.query_class
    where moments.prompts > 0
),

parted as (
    select
        costs.month,
        costs.provider,
        costs.model_id,
        costs.query_class,
        sum(costs.cost_usd) as cost_usd,
        sum((energy.prefill_energy_kwh + energy.decode_energy_kwh)::decimal(38, 18))::double
            as facility_energy_kwh,
        max(energy.facility_low_ratio) as facility_low_ratio,
        max(energy.facility_high_ratio) as facility_high_ratio
    from int_group_costs as costs
    inner join int_group_energy as energy
        on
            costs.month = energy.month
            and costs.provider = energy.provider
            and costs.model_id = energy.model_id
            and costs.query_class = energy.query_class
            and costs.team is not distinct from energy.team
            and costs.project is not distinct from energy.project
            and costs.service_tier = energy.service_tier
            and costs.price_band_id is not distinct from energy.price_band_id
            and costs.is_billed = energy.is_billed
    where costs.cost_usd is not null and energy.gpu_energy_j > 0
    group by all
),

rated as (
    select
        parted.month,
        parted.provider,
        parted.model_id,
        parted.query_class,
        parted.cost_usd::double / parted.facility_energy_kwh as usd_per_kwh,
        parted.cost_usd::double / (parted.facility_energy_kwh * parted.facility_high_ratio)
            as low_usd_per_kwh,
        parted.cost_usd::double / (parted.facility_energy_kwh * parted.facility_low_ratio)
            as high_usd_per_kwh
    from parted
),

ranked as (
    select
        rated.month,
        rated.provider,
        rated.model_id,
        rated.query_class,
        rated.usd_per_kwh,
        rated.low_usd_per_kwh,
        rated.high_usd_per_kwh,
        count(*) filter (where other.high_usd_per_kwh < rated.low_usd_per_kwh)
            as surely_cheaper_count,
        count(*) filter (where other.low_usd_per_kwh > rated.high_usd_per_kwh)
            as surely_dearer_count
    from rated
    inner join rated as other on rated.month = other.month
    group by all
),

judged as (
    select
        paired.month,
        paired.provider,
        paired.model_id,
        paired.query_class,
        paired.hosting_kind,
        paired.batch,
        paired.batch_source,
        paired.batch_max,
        paired.output_usd_per_mtok,
        paired.uncached_input_usd_per_mtok,
        paired.price_ratio,
        paired.input_token_energy_j,
        paired.output_token_energy_j,
        paired.shared_pass_energy_j,
        case
            when not paired.is_known_model then 'model unknown'
            when paired.input_token_energy_j is null then 'request does not fit its GPUs'
            when paired.passes = 0 then 'no output'
            when paired.output_usd_per_mtok is null then 'no list price'
            when paired.price_ratio is null then 'input is free'
            when
                paired.price_ratio * paired.input_token_energy_j <= paired.output_token_energy_j
                then 'no batch is large enough for so low a price of output'
            when
                implied_batch(
                    paired.price_ratio, paired.input_token_energy_j,
                    paired.output_token_energy_j, paired.shared_pass_energy_j
                ) < 1
                then 'output is priced above a request served alone'
        end as reason
    from paired
),

worlds as (
    select
        rates.month,
        rates.provider,
        rates.model_id,
        rates.query_class,
        rates.draw,
        geometric_mean(
            next_input_token_energy_j(
                rates.energy_j_per_prefilled_token, rates.energy_j_per_pair,
                rates.energy_j_per_cache_position, moments.mean_input_tokens,
                moments.mean_output_tokens
            )
        ) as input_token_energy_j,
        geometric_mean(
            next_output_token_energy_j(
                rates.energy_j_per_decode_step, rates.energy_j_per_pair,
                rates.energy_j_per_cache_position, rates.state_energy_j_per_pass,
                moments.mean_input_tokens, moments.mean_output_tokens
            )
        ) as output_token_energy_j,
        geometric_mean(
            (rates.energy_j_per_pass - rates.state_energy_j_per_pass) * rates.batch
        ) as shared_pass_energy_j
    from int_rate_draws as rates
    inner join int_class_moments as moments
        on
            rates.month = moments.month
            and rates.provider = moments.provider
            and rates.model_id = moments.model_id
            and rates.query_class = moments.query_class
    group by all
),

ends as (
    select
        worlds.month,
        worlds.provider,
        worlds.model_id,
        worlds.query_class,
        drawn_p05(worlds.input_token_energy_j) as input_token_energy_low_j,
        drawn_p95(worlds.input_token_energy_j) as input_token_energy_high_j,
        drawn_p05(worlds.output_token_energy_j) as output_token_energy_low_j,
        drawn_p95(worlds.output_token_energy_j) as output_token_energy_high_j,
        drawn_p05(worlds.shared_pass_energy_j) as shared_pass_energy_low_j,
        drawn_p95(worlds.shared_pass_energy_j) as shared_pass_energy_high_j,
        -- as runs of the servers a request, so that a world without such a batch is 0 or below
        drawn_p05(
            judged.price_ratio * worlds.input_token_energy_j / worlds.shared_pass_energy_j
            - worlds.output_token_energy_j / worlds.shared_pass_energy_j
        ) as fewest_runs,
        drawn_p95(
            judged.price_ratio * worlds.input_token_energy_j / worlds.shared_pass_energy_j
            - worlds.output_token_energy_j / worlds.shared_pass_energy_j
        ) as most_runs
    from judged
    inner join worlds
        on
            judged.month = worlds.month
            and judged.provider = worlds.provider
            and judged.model_id = worlds.model_id
            and judged.query_class = worlds.query_class
    group by all
)

select
    judged.month::varchar as month,
    judged.provider::varchar as provider,
    judged.model_id::varchar as model_id,
    judged.query_class::varchar as query_class,
    judged.hosting_kind::varchar as hosting_kind,
    judged.batch::double as batch,
    judged.batch_source::varchar as batch_source,
    judged.batch_max::double as batch_max,
    case
        when judged.reason is null
            then
                implied_batch(
                    judged.price_ratio, judged.input_token_energy_j,
                    judged.output_token_energy_j, judged.shared_pass_energy_j
                )
    end::double as implied_batch,
    case
        when judged.reason is null
            then
                least(
                    1 / nullif(ends.most_runs, 0),
                    implied_batch(
                        judged.price_ratio, judged.input_token_energy_j,
                        judged.output_token_energy_j, judged.shared_pass_energy_j
                    )
                )
    end::double as implied_batch_low,
    case
        when judged.reason is null and ends.fewest_runs > 0
            then
                greatest(
                    1 / ends.fewest_runs,
                    implied_batch(
                        judged.price_ratio, judged.input_token_energy_j,
                        judged.output_token_energy_j, judged.shared_pass_energy_j
                    )
                )
    end::double as implied_batch_high,
    judged.reason::varchar as reason,
    judged.uncached_input_usd_per_mtok::decimal(18, 9) as uncached_input_usd_per_mtok,
    judged.output_usd_per_mtok::decimal(18, 9) as output_usd_per_mtok,
    judged.price_ratio::double as price_ratio,
    judged.input_token_energy_j::double as input_token_energy_j,
    least(ends.input_token_energy_low_j, judged.input_token_energy_j)::double
        as input_token_energy_low_j,
    greatest(ends.input_token_energy_high_j, judged.input_token_energy_j)::double
        as input_token_energy_high_j,
    judged.output_token_energy_j::double as output_token_energy_j,
    least(ends.output_token_energy_low_j, judged.output_token_energy_j)::double
        as output_token_energy_low_j,
    greatest(ends.output_token_energy_high_j, judged.output_token_energy_j)::double
        as output_token_energy_high_j,
    judged.shared_pass_energy_j::double as shared_pass_energy_j,
    least(ends.shared_pass_energy_low_j, judged.shared_pass_energy_j)::double
        as shared_pass_energy_low_j,
    greatest(ends.shared_pass_energy_high_j, judged.shared_pass_energy_j)::double
        as shared_pass_energy_high_j,
    ranked.usd_per_kwh::double as cost_usd_per_kwh,
    ranked.low_usd_per_kwh::double as cost_low_usd_per_kwh,
    ranked.high_usd_per_kwh::double as cost_high_usd_per_kwh,
    ranked.surely_cheaper_count::bigint as surely_cheaper_count,
    ranked.surely_dearer_count::bigint as surely_dearer_count,
    coalesce(rates.evidence_grade, 'U')::varchar as evidence_grade,
    rates.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version
from judged
left join ranked
    on
        judged.month = ranked.month
        and judged.provider = ranked.provider
        and judged.model_id = ranked.model_id
        and judged.query_class = ranked.query_class
left join ends
    on
        judged.month = ends.month
        and judged.provider = ends.provider
        and judged.model_id = ends.model_id
        and judged.query_class = ends.query_class
left join int_class_energy as rates
    on
        judged.month = rates.month
        and judged.provider = rates.provider
        and judged.model_id = rates.model_id
        and judged.query_class = rates.query_class
cross join raw_method as method
