-- Every shape whose parts are counted: architectures of the catalog, and what the tables of levers
-- make of one reference shape: kinds of attention (attention …) and variants (variant …).
-- Widths of parts that a shape does not have are 0.
-- materialised: view
-- grain: shape_id

select
    arch.architecture_id::varchar as shape_id,
    arch.layers::integer as layers,
    arch.hidden::integer as hidden,
    arch.heads::integer as heads,
    arch.kv_heads::integer as kv_heads,
    arch.head_dim::integer as head_dim,
    arch.ffn::integer as ffn,
    arch.ffn_matrices::integer as ffn_matrices,
    arch.vocab::integer as vocab,
    arch.attention_layers::integer as attention_layers,
    arch.dense_layers::integer as dense_layers,
    arch.dense_ffn::integer as dense_ffn,
    arch.experts::integer as experts,
    arch.active_experts::integer as active_experts,
    arch.shared_ffn::integer as shared_ffn,
    arch.q_lora_rank::integer as q_lora_rank,
    arch.kv_lora_rank::integer as kv_lora_rank,
    arch.nope_head_dim::integer as nope_head_dim,
    arch.rope_head_dim::integer as rope_head_dim,
    arch.v_head_dim::integer as v_head_dim,
    arch.bytes_per_kv_element::double as bytes_per_kv_element,
    arch.has_attention_gate::boolean as has_attention_gate,
    arch.ssm_layers::integer as ssm_layers,
    arch.ssm_params_per_layer::bigint as ssm_params_per_layer,
    arch.ssm_state_bytes::bigint as ssm_state_bytes
from stg_architectures as arch
union all
select
    ('attention ' || families.family)::varchar as shape_id,
    families.layers::integer as layers,
    families.hidden::integer as hidden,
    families.heads::integer as heads,
    families.kv_heads::integer as kv_heads,
    families.head_dim::integer as head_dim,
    families.ffn::integer as ffn,
    families.ffn_matrices::integer as ffn_matrices,
    families.vocab::integer as vocab,
    case when families.kind = 'state' then 0 else families.layers end::integer
        as attention_layers,
    families.layers::integer as dense_layers,
    families.ffn::integer as dense_ffn,
    0::integer as experts,
    0::integer as active_experts,
    0::integer as shared_ffn,
    families.q_lora_rank::integer as q_lora_rank,
    families.kv_lora_rank::integer as kv_lora_rank,
    families.nope_head_dim::integer as nope_head_dim,
    families.rope_head_dim::integer as rope_head_dim,
    families.v_head_dim::integer as v_head_dim,
    families.bytes_per_kv_element::double as bytes_per_kv_element,
    false::boolean as has_attention_gate,
    case when families.kind = 'state' then families.layers else 0 end::integer as ssm_layers,
    families.state_params_per_layer::bigint as ssm_params_per_layer,
    families.state_bytes_per_layer::bigint as ssm_state_bytes
from stg_attention_families as families
union all
select
    ('variant ' || variants.variant)::varchar as shape_id,
    variants.layers::integer as layers,
    variants.hidden::integer as hidden,
    variants.heads::integer as heads,
    variants.kv_heads::integer as kv_heads,
    variants.head_dim::integer as head_dim,
    variants.ffn::integer as ffn,
    variants.ffn_matrices::integer as ffn_matrices,
    variants.vocab::integer as vocab,
    variants.layers::integer as attention_layers,
    variants.layers::integer as dense_layers,
    variants.ffn::integer as dense_ffn,
    0::integer as experts,
    0::integer as active_experts,
    0::integer as shared_ffn,
    variants.q_lora_rank::integer as q_lora_rank,
    variants.kv_lora_rank::integer as kv_lora_rank,
    variants.nope_head_dim::integer as nope_head_dim,
    variants.rope_head_dim::integer as rope_head_dim,
    variants.v_head_dim::integer as v_head_dim,
    variants.bytes_per_kv_element::double as bytes_per_kv_element,
    false::boolean as has_attention_gate,
    0::integer as ssm_layers,
    0::bigint as ssm_params_per_layer,
    0::bigint as ssm_state_bytes
from stg_architecture_variants as variants
