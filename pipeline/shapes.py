"""The numbers of an architecture that laws need, from a row of `data/reference/architectures.csv`.

The SQL of `int_architectures` counts the same for requests; a test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.laws import work

_WIDTHS = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "ffn_matrices",
    "vocab",
    "attention_layers",
    "dense_layers",
    "dense_ffn",
    "experts",
    "active_experts",
    "shared_ffn",
    "q_lora_rank",
    "kv_lora_rank",
    "nope_head_dim",
    "rope_head_dim",
    "v_head_dim",
    "ssm_layers",
    "ssm_params_per_layer",
    "ssm_state_bytes",
)


@dataclass(frozen=True)
class Shape:
    """One architecture, counted: weights, FLOP per pair, cache elements per position."""

    architecture_id: str
    architecture_class: str
    layers: int
    hidden: int
    query_width: int  # query heads × head size
    kv_width: int  # KV heads × head size; MLA: half of its latent, which is stored once
    experts: int
    active_experts: int
    unrouted_params: int  # attention, state layers, dense and shared FFN: what each token meets
    expert_params: int  # one routed expert in every layer that has experts
    head_params: int
    embedding_params: int  # 0 where the output head doubles as input embedding
    attention_flop_per_pair: int
    kv_elements_per_position: int
    state_bytes: int  # what layers without a cache keep of a request
    bytes_per_weight: float
    bytes_per_kv_element: float

    @property
    def body_params(self) -> int:
        """Return the weights that one token runs through, the head left out."""
        return self.unrouted_params + self.expert_params * self.active_experts

    @property
    def active_params(self) -> int:
        """Return the weights that one token meets, head and embedding included."""
        return self.body_params + self.head_params + self.embedding_params

    @property
    def held_params(self) -> int:
        """Return all weights in memory."""
        routed = self.expert_params * self.experts
        return self.unrouted_params + routed + self.head_params + self.embedding_params

    @property
    def body_id(self) -> tuple[int, ...]:
        """Return what tells two architectures apart; vocabulary and fine-tuning do not."""
        return (self.layers, self.hidden, self.query_width, self.kv_width, self.body_params)

    def touched_params(self, batch: float) -> float:
        """Return the weights that a pass of `batch` tokens is expected to read, head included."""
        touched: float = 0
        if self.experts:
            touched = work.experts_touched(self.experts, self.active_experts, max(batch, 1))
        return self.unrouted_params + self.expert_params * touched + self.head_params


def shape_of(row: Mapping[str, str]) -> Shape:
    """Return the shape that a row of the architectures table describes; empty widths are 0."""
    size = {name: int(row.get(name) or 0) for name in _WIDTHS}
    attention, flop_per_pair, kv_elements = _attention(size)
    query = _query_params(size, has_gate=row.get("has_attention_gate") == "true")
    states = work.state_layer_params(size["ssm_layers"], size["ssm_params_per_layer"])
    unrouted = attention + query + states + _ffn(size, experts_used=0)
    head = work.head_params(size["vocab"], size["hidden"])
    return Shape(
        architecture_id=row["architecture_id"],
        architecture_class=row["architecture_class"],
        layers=size["layers"],
        hidden=size["hidden"],
        query_width=size["heads"] * size["head_dim"],
        kv_width=kv_elements // (2 * max(size["attention_layers"], 1)),
        experts=size["experts"],
        active_experts=size["active_experts"],
        unrouted_params=unrouted,
        expert_params=_ffn(size, experts_used=1) - _ffn(size, experts_used=0),
        head_params=head,
        embedding_params=0 if row["has_tied_embeddings"] == "true" else head,
        attention_flop_per_pair=flop_per_pair,
        kv_elements_per_position=kv_elements,
        state_bytes=work.state_bytes(size["ssm_layers"], size["ssm_state_bytes"]),
        bytes_per_weight=float(row["bytes_per_weight"]),
        bytes_per_kv_element=float(row["bytes_per_kv_element"]),
    )


def _attention(size: Mapping[str, int]) -> tuple[int, int, int]:
    """Return weights, FLOP per pair and cache elements per position of the attention."""
    layers, heads = size["attention_layers"], size["heads"]
    if size["kv_lora_rank"]:
        rank, rope = size["kv_lora_rank"], size["rope_head_dim"]
        params = work.latent_attention_params(
            layers,
            size["hidden"],
            heads,
            size["q_lora_rank"],
            rank,
            size["nope_head_dim"],
            rope,
            size["v_head_dim"],
        )
        return (
            params,
            work.latent_attention_flop_per_pair(layers, heads, rank, rope),
            work.latent_kv_bytes_per_position(1, layers, rank, rope),
        )
    kv_heads, head_dim = size["kv_heads"], size["head_dim"]
    return (
        work.attention_params(layers, size["hidden"], heads, kv_heads, head_dim),
        work.attention_flop_per_pair(layers, heads, head_dim),
        work.kv_bytes_per_position(1, layers, kv_heads, head_dim),
    )


def _query_params(size: Mapping[str, int], *, has_gate: bool) -> int:
    """Return what the query has beside the usual: a whole projection of a latent, or a gate."""
    layers, hidden, heads = size["attention_layers"], size["hidden"], size["heads"]
    params: int = 0
    if size["kv_lora_rank"] and not size["q_lora_rank"]:
        params = work.latent_query_params(
            layers, hidden, heads, size["nope_head_dim"], size["rope_head_dim"]
        )
    elif has_gate:
        params = work.attention_gate_params(layers, hidden, heads, size["head_dim"])
    return params


def _ffn(size: Mapping[str, int], experts_used: int) -> int:
    params: int = work.ffn_params(
        size["layers"],
        size["dense_layers"],
        size["hidden"],
        size["ffn_matrices"],
        size["dense_ffn"],
        size["ffn"],
        experts_used,
        size["shared_ffn"],
    )
    return params
