-- One kind of attention put into one reference shape; what it does not have is 0.
-- materialised: view
-- grain: family

select
    family::varchar as family,
    kind::varchar as kind,
    layers::integer as layers,
    hidden::integer as hidden,
    heads::integer as heads,
    kv_heads::integer as kv_heads,
    head_dim::integer as head_dim,
    ffn::integer as ffn,
    ffn_matrices::integer as ffn_matrices,
    vocab::integer as vocab,
    q_lora_rank::integer as q_lora_rank,
    kv_lora_rank::integer as kv_lora_rank,
    nope_head_dim::integer as nope_head_dim,
    rope_head_dim::integer as rope_head_dim,
    v_head_dim::integer as v_head_dim,
    state_params_per_layer::bigint as state_params_per_layer,
    state_bytes_per_layer::bigint as state_bytes_per_layer,
    bytes_per_weight::double as bytes_per_weight,
    bytes_per_kv_element::double as bytes_per_kv_element,
    meaning::varchar as meaning
from raw_attention_families
