-- What a shape is made of, at any batch and precision: weights by part, cache and state.
-- The only place that knows MHA, GQA, MQA, MLA, output gates and layers with a state.
-- architecture_id is that of the catalog, or the id of a shape that levers make.
-- grain: architecture_id

with

mixing as (
    select
        arch.shape_id,
        case
            when arch.kv_lora_rank > 0
                then
                    latent_attention_params(
                        arch.attention_layers, arch.hidden, arch.heads, arch.q_lora_rank,
                        arch.kv_lora_rank, arch.nope_head_dim, arch.rope_head_dim, arch.v_head_dim
                    )
            else
                attention_params(
                    arch.attention_layers, arch.hidden, arch.heads, arch.kv_heads, arch.head_dim
                )
        end as projection_params,
        case
            when arch.kv_lora_rank > 0 and arch.q_lora_rank = 0
                then
                    latent_query_params(
                        arch.attention_layers, arch.hidden, arch.heads, arch.nope_head_dim,
                        arch.rope_head_dim
                    )
            when arch.has_attention_gate
                then
                    attention_gate_params(
                        arch.attention_layers, arch.hidden, arch.heads, arch.head_dim
                    )
            else 0
        end as query_params,
        state_layer_params(arch.ssm_layers, arch.ssm_params_per_layer) as state_params
    from int_shapes as arch
)

select
    arch.shape_id::varchar as architecture_id,
    (mixing.projection_params + mixing.query_params + mixing.state_params)::double
        as mixing_params,
    ffn_params(
        arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn, arch.ffn,
        arch.active_experts, arch.shared_ffn
    )::double as active_ffn_params,
    ffn_params(
        arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn, arch.ffn,
        arch.experts, arch.shared_ffn
    )::double as held_ffn_params,
    head_params(arch.vocab, arch.hidden)::double as head_params,
    case
        when arch.kv_lora_rank > 0
            then
                latent_attention_flop_per_pair(
                    arch.attention_layers, arch.heads, arch.kv_lora_rank, arch.rope_head_dim
                )
        else attention_flop_per_pair(arch.attention_layers, arch.heads, arch.head_dim)
    end::double as attention_flop_per_pair,
    case
        when arch.kv_lora_rank > 0
            then
                latent_kv_bytes_per_position(
                    arch.bytes_per_kv_element, arch.attention_layers, arch.kv_lora_rank,
                    arch.rope_head_dim
                )
        else
            kv_bytes_per_position(
                arch.bytes_per_kv_element, arch.attention_layers, arch.kv_heads, arch.head_dim
            )
    end::double as kv_bytes_per_position,
    state_bytes(arch.ssm_layers, arch.ssm_state_bytes)::double as state_bytes
from int_shapes as arch
inner join mixing on arch.shape_id = mixing.shape_id
