-- What the cost, electricity and carbon of a month are made of: quantities and the value of one.
-- A cost is tokens by kind at what one of that kind cost at that model in that month: its list
-- price, scaled to what was paid. Where there is no list price every token cost alike; where there
-- are no tokens, every request. Energy and carbon are token moments at the rates of the class.
-- Only requests of known value are counted, so quantities times values add up to the month.
-- grain: month, provider, model_id, query_class, team, measure, quantity_kind

with

cost_cells as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        sum(usage.request_count) as request_count,
        sum(costs.cost_usd) as cost_usd,
        sum(coalesce(usage.uncached_input_tokens, 0)) as uncached_input_tokens,
        sum(coalesce(usage.cache_read_tokens, 0)) as cache_read_tokens,
        sum(coalesce(usage.cache_write_5m_tokens, 0)) as cache_write_5m_tokens,
        sum(coalesce(usage.cache_write_1h_tokens, 0)) as cache_write_1h_tokens,
        sum(coalesce(usage.output_tokens, 0)) as output_tokens,
        sum(
            coalesce(usage.uncached_input_tokens, 0)::decimal(19, 0)
            * coalesce(bands.uncached_input_usd_per_mtok, 0)::decimal(18, 9)
        ) as uncached_input_list,
        sum(
            coalesce(usage.cache_read_tokens, 0)::decimal(19, 0)
            * coalesce(bands.cache_read_usd_per_mtok, 0)::decimal(18, 9)
        ) as cache_read_list,
        sum(
            coalesce(usage.cache_write_5m_tokens, 0)::decimal(19, 0)
            * coalesce(bands.cache_write_5m_usd_per_mtok, 0)::decimal(18, 9)
        ) as cache_write_5m_list,
        sum(
            coalesce(usage.cache_write_1h_tokens, 0)::decimal(19, 0)
            * coalesce(bands.cache_write_1h_usd_per_mtok, 0)::decimal(18, 9)
        ) as cache_write_1h_list,
        sum(
            coalesce(usage.output_tokens, 0)::decimal(19, 0)
            * coalesce(bands.output_usd_per_mtok, 0)::decimal(18, 9)
        ) as output_list
    from int_usage_groups as usage
    inner join int_group_costs as costs
        on
            usage.month = costs.month
            and usage.provider = costs.provider
            and usage.model_id = costs.model_id
            and usage.query_class = costs.query_class
            and usage.team is not distinct from costs.team
            and usage.project is not distinct from costs.project
            and usage.service_tier = costs.service_tier
            and usage.price_band_id is not distinct from costs.price_band_id
            and usage.is_billed = costs.is_billed
    left join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    where costs.cost_usd is not null
    group by all
),

cost_quantities as (
    select
        cost_cells.month,
        cost_cells.provider,
        cost_cells.model_id,
        cost_cells.query_class,
        cost_cells.team,
        cost_cells.request_count,
        cost_cells.cost_usd,
        kinds.quantity_kind,
        case kinds.quantity_kind
            when 'uncached_input' then cost_cells.uncached_input_tokens
            when 'cache_read' then cost_cells.cache_read_tokens
            when 'cache_write_5m' then cost_cells.cache_write_5m_tokens
            when 'cache_write_1h' then cost_cells.cache_write_1h_tokens
            when 'output' then cost_cells.output_tokens
            else cost_cells.request_count
        end as quantity,
        case kinds.quantity_kind
            when 'uncached_input' then cost_cells.uncached_input_list
            when 'cache_read' then cost_cells.cache_read_list
            when 'cache_write_5m' then cost_cells.cache_write_5m_list
            when 'cache_write_1h' then cost_cells.cache_write_1h_list
            when 'output' then cost_cells.output_list
            else 0
        end as list_value
    from cost_cells
    inner join int_bridge_kinds as kinds on kinds.carrier = 'cost'
),

cost_kinds as (
    select
        cost_quantities.month,
        cost_quantities.provider,
        cost_quantities.model_id,
        cost_quantities.quantity_kind,
        sum(cost_quantities.quantity)::double as quantity,
        sum(cost_quantities.list_value)::double as list_value,
        sum(cost_quantities.cost_usd)::double as cost_usd
    from cost_quantities
    group by all
),

cost_models as (
    select
        cost_kinds.month,
        cost_kinds.provider,
        cost_kinds.model_id,
        max(cost_kinds.cost_usd) as cost_usd,
        sum(cost_kinds.list_value::decimal(38, 9))::double as list_value,
        sum(
            case
                when cost_kinds.quantity_kind = 'request' then 0
                else cost_kinds.quantity::decimal(38, 0)
            end
        )::double as tokens
    from cost_kinds
    group by all
),

cost_values as (
    select
        cost_kinds.month,
        cost_kinds.provider,
        cost_kinds.model_id,
        cost_kinds.quantity_kind,
        case
            when cost_models.list_value > 0
                then coalesce(
                    cost_kinds.list_value / nullif(cost_kinds.quantity, 0)
                    * (cost_models.cost_usd / cost_models.list_value),
                    0
                )
            when cost_models.tokens > 0 and cost_kinds.quantity_kind <> 'request'
                then cost_models.cost_usd / cost_models.tokens
            when cost_models.tokens > 0 then 0
            else coalesce(
                cost_models.cost_usd / nullif(
                    case
                        when cost_kinds.quantity_kind = 'request' then cost_kinds.quantity else 0
                    end,
                    0
                ),
                0
            )
        end as unit_value
    from cost_kinds
    inner join cost_models
        on
            cost_kinds.month = cost_models.month
            and cost_kinds.provider = cost_models.provider
            and cost_kinds.model_id = cost_models.model_id
),

energy_cells as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        usage.team,
        sum(usage.measurable_request_count) as request_count,
        sum(usage.prompts) as prompts,
        coalesce(sum(usage.passes), 0) as passes,
        coalesce(sum(usage.prefilled_tokens), 0) as prefilled_tokens,
        coalesce(sum(usage.prefill_pairs), 0) as prefill_pairs,
        coalesce(sum(usage.decode_pairs), 0) as decode_pairs,
        coalesce(sum(usage.cache_positions), 0) as cache_positions,
        coalesce(sum(usage.decode_steps), 0) as decode_steps
    from int_usage_groups as usage
    group by all
),

energy_quantities as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        cells.query_class,
        cells.team,
        cells.request_count,
        kinds.quantity_kind,
        rates.carbon_gco2e_per_kwh,
        case kinds.quantity_kind
            when 'prefilled_token' then cells.prefilled_tokens
            when 'prefill_pair' then cells.prefill_pairs
            when 'decode_pair' then cells.decode_pairs
            when 'prompt' then cells.prompts
            when 'cache_position' then cells.cache_positions
            when 'decode_step' then cells.decode_steps
            else cells.passes
        end as quantity,
        facility_energy_kwh(
            case kinds.quantity_kind
                when 'prefilled_token' then rates.energy_j_per_prefilled_token
                when 'prefill_pair' then rates.energy_j_per_pair
                when 'decode_pair' then rates.energy_j_per_pair
                when 'prompt' then rates.energy_j_per_prompt
                when 'cache_position' then rates.energy_j_per_cache_position
                when 'decode_step' then rates.energy_j_per_decode_step
                else rates.energy_j_per_pass
            end,
            rates.facility_ratio
        ) as unit_value
    from energy_cells as cells
    inner join int_class_energy as rates
        on
            cells.month = rates.month
            and cells.provider = rates.provider
            and cells.model_id = rates.model_id
            and cells.query_class = rates.query_class
    inner join int_bridge_kinds as kinds on kinds.carrier = 'energy'
    where cells.request_count > 0
)

select
    cost_quantities.month::varchar as month,
    cost_quantities.provider::varchar as provider,
    cost_quantities.model_id::varchar as model_id,
    cost_quantities.query_class::varchar as query_class,
    cost_quantities.team::varchar as team,
    'cost_usd'::varchar as measure,
    cost_quantities.quantity_kind::varchar as quantity_kind,
    cost_quantities.request_count::decimal(38, 0) as request_count,
    cost_quantities.quantity::decimal(38, 0) as quantity,
    cost_values.unit_value::double as unit_value
from cost_quantities
inner join cost_values
    on
        cost_quantities.month = cost_values.month
        and cost_quantities.provider = cost_values.provider
        and cost_quantities.model_id = cost_values.model_id
        and cost_quantities.quantity_kind = cost_values.quantity_kind
union all
select
    energy_quantities.month::varchar as month,
    energy_quantities.provider::varchar as provider,
    energy_quantities.model_id::varchar as model_id,
    energy_quantities.query_class::varchar as query_class,
    energy_quantities.team::varchar as team,
    'facility_energy_kwh'::varchar as measure,
    energy_quantities.quantity_kind::varchar as quantity_kind,
    energy_quantities.request_count::decimal(38, 0) as request_count,
    energy_quantities.quantity::decimal(38, 0) as quantity,
    energy_quantities.unit_value::double as unit_value
from energy_quantities
union all
select
    energy_quantities.month::varchar as month,
    energy_quantities.provider::varchar as provider,
    energy_quantities.model_id::varchar as model_id,
    energy_quantities.query_class::varchar as query_class,
    energy_quantities.team::varchar as team,
    'carbon_gco2e'::varchar as measure,
    energy_quantities.quantity_kind::varchar as quantity_kind,
    energy_quantities.request_count::decimal(38, 0) as request_count,
    energy_quantities.quantity::decimal(38, 0) as quantity,
    (energy_quantities.unit_value * energy_quantities.carbon_gco2e_per_kwh)::double as unit_value
from energy_quantities
