-- A call of work that shares a part of its input: the mean lengths of one model and class cut in
-- what all calls share, what an item adds, and how far calls of several items may grow.
-- Logs do not say what is shared: the share is an assumption of the class, and at least what was
-- read from a cache. Classes without such an assumption are left out. Limits are whole items, at
-- least 1; an unknown one does not bind. room_tokens is what the cache holds of each request of the
-- batch in force. Prices are the month's means, by input.
-- grain: month, provider, model_id, query_class

with

priced as (
    select
        usage.month,
        usage.provider,
        usage.model_id,
        usage.query_class,
        sum(usage.prompt_tokens)::double as prompt_tokens,
        sum(usage.prompt_tokens::decimal(19, 0) * bands.uncached_input_usd_per_mtok)::double
            as uncached_input_usd_mtokens,
        sum(usage.prompt_tokens::decimal(19, 0) * bands.cache_read_usd_per_mtok)::double
            as cache_read_usd_mtokens
    from int_usage_groups as usage
    inner join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    group by all
),

tiers as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        min(bands.input_tokens_to) as input_tokens_to
    from int_class_moments as moments
    inner join int_usage_groups as usage
        on
            moments.month = usage.month
            and moments.provider = usage.provider
            and moments.model_id = usage.model_id
            and moments.query_class = usage.query_class
    inner join int_price_bands as bands on usage.price_band_id = bands.price_band_id
    where bands.input_tokens_to > moments.mean_input_tokens
    group by all
),

means as (
    select
        moments.month,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.prompts,
        moments.mean_input_tokens,
        moments.mean_output_tokens,
        moments.mean_input_tokens
        - moments.prefilled_tokens::double / nullif(moments.prompts, 0)::double
            as cached_tokens,
        shared.value as shared_frac,
        shared.low as shared_low_frac,
        shared.high as shared_high_frac,
        longest.value as output_most_tokens
    from int_class_moments as moments
    inner join stg_assumptions as shared
        on shared.assumption = 'shared_input_frac_' || moments.query_class
    inner join stg_assumptions as longest on longest.assumption = 'output_most_tokens'
),

lines as (
    select
        means.month,
        means.provider,
        means.model_id,
        means.query_class,
        means.prompts,
        means.mean_input_tokens,
        means.mean_output_tokens,
        means.cached_tokens,
        means.shared_frac,
        means.shared_low_frac,
        means.shared_high_frac,
        greatest(means.shared_frac * means.mean_input_tokens, means.cached_tokens + 1)
            as shared_tokens,
        energy.hosting_kind,
        energy.batch,
        energy.evidence_grade,
        energy.coefficient_set_id,
        energy.bias_factor,
        energy.gpu_energy_j,
        energy.energy_low_j,
        energy.energy_high_j,
        priced.uncached_input_usd_mtokens / nullif(priced.prompt_tokens, 0) * 0.000001
            as uncached_input_usd_per_token,
        priced.cache_read_usd_mtokens / nullif(priced.prompt_tokens, 0) * 0.000001
            as cache_read_usd_per_token,
        models.context_tokens,
        means.output_most_tokens,
        tiers.input_tokens_to,
        batches.batch_max,
        batches.batch_max * (means.mean_input_tokens + means.mean_output_tokens) / energy.batch
            as room_tokens,
        case
            when means.prompts = 0 then 'no request with input'
            when energy.batch is null then 'no energy: the model or its place on GPUs is unknown'
            when means.prompts < 2 then 'a single request'
            when means.mean_output_tokens < 1 then 'no output of an item'
            when
                means.mean_input_tokens - 1
                < greatest(means.shared_frac * means.mean_input_tokens, means.cached_tokens + 1)
                then 'no input of an item: all of it is cached'
        end as reason
    from means
    left join int_class_energy as energy
        on
            means.month = energy.month
            and means.provider = energy.provider
            and means.model_id = energy.model_id
            and means.query_class = energy.query_class
    left join int_batches as batches
        on
            means.month = batches.month
            and means.provider = batches.provider
            and means.model_id = batches.model_id
            and means.query_class = batches.query_class
    left join priced
        on
            means.month = priced.month
            and means.provider = priced.provider
            and means.model_id = priced.model_id
            and means.query_class = priced.query_class
    left join tiers
        on
            means.month = tiers.month
            and means.provider = tiers.provider
            and means.model_id = tiers.model_id
            and means.query_class = tiers.query_class
    left join stg_models as models on means.model_id = models.model_id
)

select
    lines.month::varchar as month,
    lines.provider::varchar as provider,
    lines.model_id::varchar as model_id,
    lines.query_class::varchar as query_class,
    lines.prompts::decimal(38, 0) as prompts,
    lines.mean_input_tokens::double as mean_input_tokens,
    lines.mean_output_tokens::double as mean_output_tokens,
    lines.cached_tokens::double as cached_tokens,
    lines.shared_frac::double as shared_frac,
    lines.shared_low_frac::double as shared_low_frac,
    lines.shared_high_frac::double as shared_high_frac,
    lines.shared_tokens::double as shared_tokens,
    lines.hosting_kind::varchar as hosting_kind,
    lines.batch::double as batch,
    lines.batch_max::double as batch_max,
    lines.room_tokens::double as room_tokens,
    lines.evidence_grade::varchar as evidence_grade,
    lines.coefficient_set_id::varchar as coefficient_set_id,
    lines.bias_factor::double as bias_factor,
    lines.gpu_energy_j::double as gpu_energy_j,
    lines.energy_low_j::double as energy_low_j,
    lines.energy_high_j::double as energy_high_j,
    lines.uncached_input_usd_per_token::double as uncached_input_usd_per_token,
    lines.cache_read_usd_per_token::double as cache_read_usd_per_token,
    greatest(
        floor(
            (coalesce(lines.context_tokens, 1e12) - lines.shared_tokens)
            / nullif(
                lines.mean_input_tokens - lines.shared_tokens + lines.mean_output_tokens, 0
            )
        ),
        1
    )::double as context_items,
    greatest(floor(lines.output_most_tokens / nullif(lines.mean_output_tokens, 0)), 1)::double
        as output_items,
    greatest(
        floor(
            (coalesce(lines.input_tokens_to, 1e12) - 1 - lines.shared_tokens)
            / nullif(lines.mean_input_tokens - lines.shared_tokens, 0)
        ),
        1
    )::double as tier_items,
    greatest(
        floor(
            (lines.room_tokens - lines.shared_tokens)
            / nullif(
                lines.mean_input_tokens - lines.shared_tokens + lines.mean_output_tokens, 0
            )
        ),
        1
    )::double as cache_items,
    lines.reason::varchar as reason
from lines
