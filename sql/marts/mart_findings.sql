-- What the month could have saved, one line a proposal, from the marts of the single questions:
-- cached tokens that nobody read back, agents not fully cached, requests that failed, more items in
-- a call, another model that the user holds to be of equal quality, own servers that serve few
-- requests together. Proposals overlap: they do not add up.
-- Not here: cut-off answers, which may be of use; shorter answers, which are other answers, and
-- longer ones, which never take less; compaction, of which only the paying steps are known.
-- Money at list prices and logged lengths has no range of its own; its probability is that of being
-- above zero. A line counts by its money, without money by its energy: below the assumption
-- within_noise_probability_frac it is within noise and has no rank.
-- grain: month, finding_kind, provider, model_id, query_class

with

-- Of the models told to be of equal quality the one that saves most, once a class.
alternatives as (
    select
        models.month,
        models.provider,
        models.model_id,
        models.query_class,
        models.equal_request_count,
        models.batch,
        models.evidence_grade,
        models.coefficient_set_id,
        models.cost_saving_usd,
        models.cost_saving_positive_frac,
        models.facility_energy_saving_low_kwh,
        models.facility_energy_saving_p50_kwh,
        models.facility_energy_saving_high_kwh,
        models.energy_saving_positive_frac,
        row_number() over (
            partition by models.month, models.query_class
            order by
                models.cost_saving_usd desc nulls last,
                models.facility_energy_saving_p50_kwh desc nulls last,
                models.provider asc, models.model_id asc
        ) as alternative_rank
    from mart_model_comparison as models
    where models.saving_reason is null
),

-- The next step of the ladder that holds at least twice as many requests as now.
doubled as (
    select
        ladder.month,
        ladder.provider,
        ladder.model_id,
        ladder.query_class,
        min(ladder.batch) as batch
    from mart_concurrency as ladder
    inner join mart_concurrency as now
        on
            ladder.month = now.month
            and ladder.provider = now.provider
            and ladder.model_id = now.model_id
            and ladder.query_class = now.query_class
            and now.is_effective
    where ladder.hosting_kind = 'self_hosted' and ladder.batch >= 2 * now.batch
    group by all
),

-- What that step saves in each joint draw, over the classes of a model.
doubled_worlds as (
    select
        doubled.month,
        doubled.provider,
        doubled.model_id,
        draws.draw,
        sum(
            facility_energy_kwh(
                energies.in_force_energy_j - energies.gpu_energy_j, draws.facility_ratio
            )::decimal(38, 18)
        ) as saving_kwh
    from doubled
    inner join int_batch_draws as energies
        on
            doubled.month = energies.month
            and doubled.provider = energies.provider
            and doubled.model_id = energies.model_id
            and doubled.query_class = energies.query_class
            and doubled.batch = energies.batch
    inner join int_draws as draws on energies.draw = draws.draw
    group by all
),

doubled_ends as (
    select
        doubled_worlds.month,
        doubled_worlds.provider,
        doubled_worlds.model_id,
        drawn_p05(doubled_worlds.saving_kwh) as low_kwh,
        drawn_p50(doubled_worlds.saving_kwh) as p50_kwh,
        drawn_p95(doubled_worlds.saving_kwh) as high_kwh,
        drawn_positive_frac(doubled_worlds.saving_kwh) as positive_frac
    from doubled_worlds
    group by all
),

proposals as (
    select
        agents.month,
        'unread_cache_writes' as finding_kind,
        agents.provider,
        agents.model_id,
        'agentic' as query_class,
        agents.request_count,
        agents.batch,
        agents.evidence_grade,
        agents.coefficient_set_id,
        agents.unread_cache_write_usd as cost_low_usd,
        agents.unread_cache_write_usd as cost_p50_usd,
        agents.unread_cache_write_usd as cost_high_usd,
        null::double as cost_drawn_frac,
        null::double as energy_low_kwh,
        null::double as energy_p50_kwh,
        null::double as energy_high_kwh,
        null::double as energy_probability_frac,
        agents.assumption,
        'mart_agentic' as source_mart
    from mart_agentic as agents
    where agents.cache_state = 'as_cached' and agents.unread_cache_write_tokens > 0
    union all
    select
        agents.month,
        'not_fully_cached' as finding_kind,
        agents.provider,
        agents.model_id,
        'agentic' as query_class,
        agents.request_count,
        agents.batch,
        agents.evidence_grade,
        agents.coefficient_set_id,
        agents.saved_list_cost_usd as cost_low_usd,
        agents.saved_list_cost_usd as cost_p50_usd,
        agents.saved_list_cost_usd as cost_high_usd,
        agents.cost_saving_probability_frac as cost_drawn_frac,
        agents.saved_facility_energy_low_kwh as energy_low_kwh,
        agents.saved_facility_energy_p50_kwh as energy_p50_kwh,
        agents.saved_facility_energy_high_kwh as energy_high_kwh,
        agents.saving_probability_frac as energy_probability_frac,
        agents.assumption,
        'mart_agentic' as source_mart
    from mart_agentic as agents
    where agents.cache_state = 'fully_cached' and agents.reason is null
    union all
    select
        waste.month,
        'failed_requests' as finding_kind,
        waste.provider,
        waste.model_id,
        null::varchar as query_class,
        waste.request_count,
        waste.batch,
        waste.evidence_grade,
        waste.coefficient_set_id,
        waste.cost_usd as cost_low_usd,
        waste.cost_usd as cost_p50_usd,
        waste.cost_usd as cost_high_usd,
        null::double as cost_drawn_frac,
        waste.facility_energy_low_kwh as energy_low_kwh,
        waste.facility_energy_p50_kwh as energy_p50_kwh,
        waste.facility_energy_high_kwh as energy_high_kwh,
        waste.saving_positive_frac as energy_probability_frac,
        'a request that failed was of no use' as assumption,
        'mart_waste' as source_mart
    from mart_waste as waste
    where waste.waste_kind = 'failed'
    union all
    -- The facility's own ratios are taken as they stand: the range is that of the GPU energy.
    select
        items.month,
        'more_items_per_call' as finding_kind,
        items.provider,
        items.model_id,
        items.query_class,
        items.request_count,
        items.batch,
        items.evidence_grade,
        items.coefficient_set_id,
        items.saving_low_usd_per_item * items.request_count::decimal(18, 0) as cost_low_usd,
        items.saving_p50_usd_per_item * items.request_count::decimal(18, 0) as cost_p50_usd,
        items.saving_high_usd_per_item * items.request_count::decimal(18, 0) as cost_high_usd,
        items.cost_saving_positive_frac as cost_drawn_frac,
        facility_energy_kwh(
            items.saving_low_j_per_item * items.request_count::double, energy.facility_ratio
        ) as energy_low_kwh,
        facility_energy_kwh(
            items.saving_p50_j_per_item * items.request_count::double, energy.facility_ratio
        ) as energy_p50_kwh,
        facility_energy_kwh(
            items.saving_high_j_per_item * items.request_count::double, energy.facility_ratio
        ) as energy_high_kwh,
        items.saving_positive_frac as energy_probability_frac,
        items.assumption,
        'mart_items_per_call' as source_mart
    from mart_items_per_call as items
    inner join int_class_energy as energy
        on
            items.month = energy.month
            and items.provider = energy.provider
            and items.model_id = energy.model_id
            and items.query_class = energy.query_class
    where items.best_items > 1
    union all
    select
        best.month,
        'equal_model' as finding_kind,
        best.provider,
        best.model_id,
        best.query_class,
        best.equal_request_count as request_count,
        best.batch,
        best.evidence_grade,
        best.coefficient_set_id,
        best.cost_saving_usd as cost_low_usd,
        best.cost_saving_usd as cost_p50_usd,
        best.cost_saving_usd as cost_high_usd,
        best.cost_saving_positive_frac as cost_drawn_frac,
        best.facility_energy_saving_low_kwh as energy_low_kwh,
        best.facility_energy_saving_p50_kwh as energy_p50_kwh,
        best.facility_energy_saving_high_kwh as energy_high_kwh,
        best.energy_saving_positive_frac as energy_probability_frac,
        'equal_quality' as assumption,
        'mart_model_comparison' as source_mart
    from alternatives as best
    where best.alternative_rank = 1
    union all
    select
        now.month,
        'few_served_together' as finding_kind,
        now.provider,
        now.model_id,
        null::varchar as query_class,
        sum(now.request_count) as request_count,
        sum(now.output_tokens)::double
        / nullif(sum((now.output_tokens::double / now.batch)::decimal(38, 15)), 0)::double
            as batch,
        max(now.evidence_grade) as evidence_grade,
        listed_sets(now.coefficient_set_id) as coefficient_set_id,
        null::decimal(38, 15) as cost_low_usd,
        null::decimal(38, 15) as cost_p50_usd,
        null::decimal(38, 15) as cost_high_usd,
        null::double as cost_drawn_frac,
        max(worlds.low_kwh) as energy_low_kwh,
        max(worlds.p50_kwh) as energy_p50_kwh,
        max(worlds.high_kwh) as energy_high_kwh,
        max(worlds.positive_frac) as energy_probability_frac,
        'at least twice as many requests are served together' as assumption,
        'mart_concurrency' as source_mart
    from mart_concurrency as now
    inner join doubled
        on
            now.month = doubled.month
            and now.provider = doubled.provider
            and now.model_id = doubled.model_id
            and now.query_class = doubled.query_class
    inner join doubled_ends as worlds
        on
            now.month = worlds.month
            and now.provider = worlds.provider
            and now.model_id = worlds.model_id
    where now.is_effective and now.gpu_energy_j > 0
    group by now.month, now.provider, now.model_id
),

-- Money that no draw moves is saved in all worlds or in none.
likely as (
    select
        proposals.month,
        proposals.finding_kind,
        proposals.provider,
        proposals.model_id,
        proposals.query_class,
        proposals.request_count,
        proposals.batch,
        proposals.evidence_grade,
        proposals.coefficient_set_id,
        proposals.cost_low_usd,
        proposals.cost_p50_usd,
        proposals.cost_high_usd,
        proposals.energy_low_kwh,
        proposals.energy_p50_kwh,
        proposals.energy_high_kwh,
        proposals.energy_probability_frac,
        proposals.assumption,
        proposals.source_mart,
        coalesce(
            proposals.cost_drawn_frac,
            case
                when proposals.cost_p50_usd > 0 then 1 when proposals.cost_p50_usd <= 0 then 0
            end::double
        ) as cost_probability_frac
    from proposals
),

judged as (
    select
        proposals.month,
        proposals.finding_kind,
        proposals.provider,
        proposals.model_id,
        proposals.query_class,
        proposals.request_count,
        proposals.batch,
        proposals.evidence_grade,
        proposals.coefficient_set_id,
        proposals.cost_low_usd,
        proposals.cost_p50_usd,
        proposals.cost_high_usd,
        proposals.energy_low_kwh,
        proposals.energy_p50_kwh,
        proposals.energy_high_kwh,
        proposals.energy_probability_frac,
        proposals.assumption,
        proposals.source_mart,
        proposals.cost_probability_frac,
        coalesce(
            proposals.cost_probability_frac, proposals.energy_probability_frac
        ) < noise.value as is_within_noise
    from likely as proposals
    inner join stg_assumptions as noise on noise.assumption = 'within_noise_probability_frac'
    where proposals.cost_p50_usd is not null or proposals.energy_p50_kwh is not null
),

ranked as (
    select
        judged.month,
        judged.finding_kind,
        judged.provider,
        judged.model_id,
        judged.query_class,
        row_number() over (
            partition by judged.month
            order by
                judged.cost_p50_usd desc nulls last, judged.energy_p50_kwh desc nulls last,
                judged.finding_kind asc, judged.provider asc, judged.model_id asc,
                judged.query_class asc
        ) as finding_rank
    from judged
    where not judged.is_within_noise
)

select
    judged.month::varchar as month,
    judged.finding_kind::varchar as finding_kind,
    judged.provider::varchar as provider,
    judged.model_id::varchar as model_id,
    judged.query_class::varchar as query_class,
    ranked.finding_rank::bigint as finding_rank,
    judged.is_within_noise::boolean as is_within_noise,
    judged.request_count::bigint as request_count,
    judged.cost_low_usd::decimal(38, 15) as cost_saving_low_usd,
    judged.cost_p50_usd::decimal(38, 15) as cost_saving_p50_usd,
    judged.cost_high_usd::decimal(38, 15) as cost_saving_high_usd,
    judged.cost_probability_frac::double as cost_saving_probability_frac,
    judged.energy_low_kwh::double as facility_energy_saving_low_kwh,
    judged.energy_p50_kwh::double as facility_energy_saving_p50_kwh,
    judged.energy_high_kwh::double as facility_energy_saving_high_kwh,
    judged.energy_probability_frac::double as energy_saving_probability_frac,
    (judged.energy_p50_kwh * grid.value)::double as carbon_saving_p50_gco2e,
    judged.assumption::varchar as assumption,
    judged.source_mart::varchar as source_mart,
    judged.batch::double as batch,
    judged.evidence_grade::varchar as evidence_grade,
    judged.coefficient_set_id::varchar as coefficient_set_id,
    method.method_version::varchar as method_version
from judged
left join ranked
    on
        judged.month = ranked.month
        and judged.finding_kind = ranked.finding_kind
        and judged.provider = ranked.provider
        and judged.model_id is not distinct from ranked.model_id
        and judged.query_class is not distinct from ranked.query_class
inner join stg_assumptions as grid on grid.assumption = 'carbon_gco2e_per_kwh'
cross join raw_method as method
