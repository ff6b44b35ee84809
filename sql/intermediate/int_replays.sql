-- All requests of a month and class, as if one model had served them: those that it served as they
-- were, the others with the same input. Where the log holds enough of its answers in the class and
-- of others' answers, the others' requests get answers of its mean length; else all lengths stay.
-- Input counts as many tokens as before, times input_tokenizer_ratio. What was cached stays cached.
-- Models: all that the month used anywhere, and those of int_catalog_models.
-- Scope all holds every request of the class; scope equal those that models of the user's set of
-- equal quality served, replayed on the models of that set.
-- grain: month, query_class, scope, provider, model_id

with

cells as (
    select
        moments.month,
        scopes.scope,
        moments.provider,
        moments.model_id,
        moments.query_class,
        moments.request_count,
        moments.measurable_request_count,
        moments.prompts,
        moments.bucket_request_count,
        moments.guessed_request_count,
        moments.input_tokens,
        moments.passes,
        moments.cache_unknown_tokens,
        moments.prefilled_tokens,
        moments.prefill_pairs,
        moments.decode_pairs,
        moments.cache_positions,
        moments.output_positions,
        moments.decode_steps
    from int_class_moments as moments
    cross join (values ('all'), ('equal')) as scopes (scope)
    left join stg_equal_quality as equal
        on moments.query_class = equal.query_class and moments.model_id = equal.model_id
    where scopes.scope = 'all' or equal.model_id is not null
),

classes as (
    select
        cells.month,
        cells.query_class,
        cells.scope,
        sum(cells.request_count) as request_count,
        sum(cells.measurable_request_count) as measurable_request_count,
        sum(cells.prompts) as prompts,
        sum(cells.bucket_request_count) as bucket_request_count,
        sum(cells.guessed_request_count) as guessed_request_count,
        sum(cells.input_tokens) as input_tokens,
        sum(cells.passes) as passes,
        sum(cells.cache_unknown_tokens) as cache_unknown_tokens,
        sum(cells.prefilled_tokens) as prefilled_tokens,
        sum(cells.prefill_pairs) as prefill_pairs,
        sum(cells.decode_pairs) as decode_pairs,
        sum(cells.cache_positions) as cache_positions,
        sum(cells.output_positions) as output_positions,
        sum(cells.decode_steps) as decode_steps
    from cells
    group by all
    having sum(cells.prompts) > 0
),

priced_names as (
    select
        int_models.provider,
        int_models.model_id,
        min(int_models.price_model) as price_model
    from int_models
    group by all
),

candidates as (
    select
        cells.month,
        cells.provider,
        cells.model_id,
        hosts.hosting_kind,
        priced_names.price_model,
        true as is_used
    from cells
    inner join int_hosts as hosts
        on cells.provider = hosts.provider and cells.model_id = hosts.model_id
    inner join priced_names
        on cells.provider = priced_names.provider and cells.model_id = priced_names.model_id
    where hosts.is_known_model and cells.prompts > 0
    union
    select
        classes.month,
        catalog.provider,
        catalog.model_id,
        catalog.hosting_kind,
        catalog.price_model,
        false as is_used
    from classes
    cross join int_catalog_models as catalog
    left join cells
        on
            classes.month = cells.month
            and catalog.provider = cells.provider
            and catalog.model_id = cells.model_id
    where cells.month is null
),

-- What the candidate served of the class, and what others did.
split as (
    select
        classes.month,
        classes.query_class,
        classes.scope,
        candidates.provider,
        candidates.model_id,
        candidates.hosting_kind,
        candidates.price_model,
        candidates.is_used,
        coalesce(own.prompts, 0) as own_prompts,
        classes.request_count,
        classes.measurable_request_count,
        classes.bucket_request_count > 0
        and classes.bucket_request_count * 20 >= classes.request_count as has_buckets,
        classes.guessed_request_count > 0
        and classes.guessed_request_count * 20 >= classes.request_count as has_guessed_counts,
        classes.prompts,
        classes.input_tokens,
        classes.passes,
        classes.cache_unknown_tokens,
        classes.prefilled_tokens,
        classes.prefill_pairs,
        classes.decode_pairs,
        classes.cache_positions,
        classes.decode_steps,
        classes.input_tokens - coalesce(own.input_tokens, 0) as other_input_tokens,
        classes.prefilled_tokens - coalesce(own.prefilled_tokens, 0) as other_prefilled_tokens,
        classes.prefill_pairs - coalesce(own.prefill_pairs, 0) as other_prefill_pairs,
        classes.passes - coalesce(own.passes, 0) as other_passes,
        classes.cache_positions - coalesce(own.cache_positions, 0)
        - (classes.output_positions - coalesce(own.output_positions, 0)) as other_products,
        2 * (classes.output_positions - coalesce(own.output_positions, 0))
        + classes.passes - coalesce(own.passes, 0) as other_squares,
        own.passes::double / nullif(own.prompts, 0)::double as own_mean_output_tokens,
        (classes.passes - own.passes)::double
        / nullif(classes.prompts - own.prompts, 0)::double as other_mean_output_tokens,
        least(own.prompts, classes.prompts - own.prompts) >= least_requests.value
            as has_both_lengths
    from classes
    inner join candidates on classes.month = candidates.month
    inner join stg_assumptions as least_requests
        on least_requests.assumption = 'comparison_requests_least'
    left join cells as own
        on
            classes.month = own.month
            and classes.query_class = own.query_class
            and classes.scope = own.scope
            and candidates.provider = own.provider
            and candidates.model_id = own.model_id
    left join stg_equal_quality as equal
        on classes.query_class = equal.query_class and candidates.model_id = equal.model_id
    where classes.scope = 'all' or equal.model_id is not null
),

stretched as (
    select
        split.month,
        split.query_class,
        split.scope,
        split.provider,
        split.model_id,
        case
            when
                split.has_both_lengths
                and split.own_mean_output_tokens > 0
                and split.other_mean_output_tokens > 0
                then split.own_mean_output_tokens / split.other_mean_output_tokens
            else 1
        end as stretch_ratio,
        coalesce(
            split.has_both_lengths
            and split.own_mean_output_tokens > 0
            and split.other_mean_output_tokens > 0,
            false
        ) as is_stretched
    from split
),

-- What longer answers and other tokens of others' requests add: positions grow with n·m and with
-- m² / 2 − m / 2, pairs of the prompt with n².
added as (
    select
        split.month,
        split.query_class,
        split.scope,
        split.provider,
        split.model_id,
        round((stretched.stretch_ratio - 1) * split.other_passes::double)::decimal(38, 0)
            as passes,
        round((tokenizer.value - 1) * split.other_input_tokens::double)::decimal(38, 0)
            as input_tokens,
        round((tokenizer.value - 1) * split.other_prefilled_tokens::double)::decimal(38, 0)
            as prefilled_tokens,
        round((square(tokenizer.value) - 1) * split.other_prefill_pairs::double)::decimal(38, 0)
            as prefill_pairs,
        tokenizer.value as input_tokenizer_ratio,
        round(
            (tokenizer.value * stretched.stretch_ratio - 1) * split.other_products::double
            + (square(stretched.stretch_ratio) - 1) * split.other_squares::double / 2
            - (stretched.stretch_ratio - 1) * split.other_passes::double / 2
        )::decimal(38, 0) as positions
    from split
    inner join stretched
        on
            split.month = stretched.month
            and split.query_class = stretched.query_class
            and split.scope = stretched.scope
            and split.provider = stretched.provider
            and split.model_id = stretched.model_id
    inner join stg_assumptions as tokenizer on tokenizer.assumption = 'input_tokenizer_factor'
)

select
    split.month::varchar as month,
    split.query_class::varchar as query_class,
    split.scope::varchar as scope,
    split.provider::varchar as provider,
    split.model_id::varchar as model_id,
    split.hosting_kind::varchar as hosting_kind,
    split.price_model::varchar as price_model,
    split.is_used::boolean as is_used,
    split.own_prompts::decimal(38, 0) as own_prompts,
    split.request_count::decimal(38, 0) as request_count,
    split.measurable_request_count::decimal(38, 0) as measurable_request_count,
    split.has_buckets::boolean as has_buckets,
    split.has_guessed_counts::boolean as has_guessed_counts,
    stretched.stretch_ratio::double as stretch_ratio,
    stretched.is_stretched::boolean as is_stretched,
    ((split.passes + added.passes)::double / nullif(split.passes, 0)::double)::double
        as verbosity_ratio,
    added.input_tokenizer_ratio::double as input_tokenizer_ratio,
    split.prompts::decimal(38, 0) as prompts,
    (split.input_tokens + added.input_tokens)::decimal(38, 0) as input_tokens,
    split.cache_unknown_tokens::decimal(38, 0) as cache_unknown_tokens,
    (split.passes + added.passes)::decimal(38, 0) as passes,
    (split.prefilled_tokens + added.prefilled_tokens)::decimal(38, 0) as prefilled_tokens,
    (split.prefill_pairs + added.prefill_pairs)::decimal(38, 0) as prefill_pairs,
    (split.decode_pairs + added.positions - added.input_tokens)::decimal(38, 0) as decode_pairs,
    (split.cache_positions + added.positions)::decimal(38, 0) as cache_positions,
    (split.decode_steps + added.passes)::decimal(38, 0) as decode_steps,
    ((split.input_tokens + added.input_tokens)::double / split.prompts::double)::double
        as mean_input_tokens,
    ((split.passes + added.passes)::double / split.prompts::double)::double
        as mean_output_tokens
from split
inner join stretched
    on
        split.month = stretched.month
        and split.query_class = stretched.query_class
        and split.scope = stretched.scope
        and split.provider = stretched.provider
        and split.model_id = stretched.model_id
inner join added
    on
        split.month = added.month
        and split.query_class = added.query_class
        and split.scope = added.scope
        and split.provider = added.provider
        and split.model_id = added.model_id
