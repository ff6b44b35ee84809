-- How well founded the energy of one model and class is, by the rules of the grades A to D.
-- grain: month, provider, model_id, query_class

with

evidence as (
    select
        batches.month,
        batches.provider,
        batches.model_id,
        batches.query_class,
        batches.batch_source,
        batches.batch,
        moments.mean_input_tokens,
        moments.mean_output_tokens,
        deployments.stand_in_tier,
        deployments.architecture_class,
        deployments.bytes_per_weight,
        deployments.gpu_count,
        deployments.is_own_set,
        sets.architecture_count,
        sets.input_tokens_low,
        sets.input_tokens_high,
        sets.output_tokens_low,
        sets.output_tokens_high,
        sets.batch_low,
        sets.batch_high,
        moments.bucket_request_count * 20 >= moments.request_count
        and moments.bucket_request_count > 0 as has_buckets,
        moments.guessed_request_count * 20 >= moments.request_count
        and moments.guessed_request_count > 0 as has_guessed_counts
    from int_batches as batches
    inner join int_class_moments as moments
        on
            batches.month = moments.month
            and batches.provider = moments.provider
            and batches.model_id = moments.model_id
            and batches.query_class = moments.query_class
    inner join int_deployments as deployments
        on
            batches.provider = deployments.provider
            and batches.model_id = deployments.model_id
    inner join stg_coefficients as sets
        on deployments.coefficient_set_id = sets.coefficient_set_id
    where batches.batch is not null
),

ranked as (
    select
        evidence.month,
        evidence.provider,
        evidence.model_id,
        evidence.query_class,
        max(case when evidence.has_buckets then 1 else 0 end) as bucket_steps,
        max(
            case
                when evidence.stand_in_tier is not null or evidence.has_guessed_counts then 4
                when
                    evidence.architecture_class <> 'dense'
                    or evidence.bytes_per_weight < 2
                    or not evidence.is_own_set
                    then 3
                when
                    evidence.architecture_count >= 4
                    and evidence.gpu_count = 1
                    and not starts_with(evidence.batch_source, 'assumed')
                    and evidence.mean_input_tokens >= evidence.input_tokens_low / 2
                    and evidence.mean_input_tokens <= evidence.input_tokens_high * 2
                    and evidence.mean_output_tokens >= evidence.output_tokens_low / 2
                    and evidence.mean_output_tokens <= evidence.output_tokens_high * 2
                    and evidence.batch >= evidence.batch_low / 2
                    and evidence.batch <= evidence.batch_high * 2
                    then 1
                else 2
            end
        ) as grade_rank
    from evidence
    group by all
)

select
    ranked.month::varchar as month,
    ranked.provider::varchar as provider,
    ranked.model_id::varchar as model_id,
    ranked.query_class::varchar as query_class,
    case least(ranked.grade_rank + ranked.bucket_steps, 4)
        when 1 then 'A'
        when 2 then 'B'
        when 3 then 'C'
        else 'D'
    end::varchar as evidence_grade
from ranked
