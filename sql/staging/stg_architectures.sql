-- One architecture with its hyperparameters; widths of parts it does not have are 0.
-- materialised: view
-- grain: architecture_id

select
    architecture_id::varchar as architecture_id,
    layers::integer as layers,
    hidden::integer as hidden,
    heads::integer as heads,
    kv_heads::integer as kv_heads,
    head_dim::integer as head_dim,
    ffn::integer as ffn,
    ffn_matrices::integer as ffn_matrices,
    vocab::integer as vocab,
    has_tied_embeddings::boolean as has_tied_embeddings,
    attention_kind::varchar as attention_kind,
    attention_layers::integer as attention_layers,
    dense_layers::integer as dense_layers,
    dense_ffn::integer as dense_ffn,
    experts::integer as experts,
    active_experts::integer as active_experts,
    shared_ffn::integer as shared_ffn,
    coalesce(q_lora_rank::integer, 0) as q_lora_rank,
    coalesce(kv_lora_rank::integer, 0) as kv_lora_rank,
    coalesce(nope_head_dim::integer, 0) as nope_head_dim,
    coalesce(rope_head_dim::integer, 0) as rope_head_dim,
    coalesce(v_head_dim::integer, 0) as v_head_dim,
    bytes_per_weight::double as bytes_per_weight,
    bytes_per_kv_element::double as bytes_per_kv_element,
    context_tokens::integer as context_tokens,
    architecture_class::varchar as architecture_class,
    has_attention_gate::boolean as has_attention_gate,
    ssm_layers::integer as ssm_layers,
    ssm_params_per_layer::bigint as ssm_params_per_layer,
    ssm_state_bytes::bigint as ssm_state_bytes
from raw_architectures
