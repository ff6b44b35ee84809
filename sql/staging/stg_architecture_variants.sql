-- One variant of the reference architecture, changed by one lever; widths it does not have are 0.
-- materialised: view
-- grain: variant

select
    variant::varchar as variant,
    lever::varchar as lever,
    step::integer as step,
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
    bytes_per_weight::double as bytes_per_weight,
    bytes_per_kv_element::double as bytes_per_kv_element,
    architecture_class::varchar as architecture_class,
    meaning::varchar as meaning
from raw_architecture_variants
