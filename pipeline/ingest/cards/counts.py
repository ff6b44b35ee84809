"""How many weights an architecture has, by part. Biases, norms and routers are left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pipeline.laws import work


@dataclass(frozen=True)
class Weights:
    """The weights of an architecture by part."""

    mixing: int  # attention, and the layers that take its place
    plain: int  # feed-forward networks without a choice: dense layers and shared experts
    experts: int  # all experts of all layers
    active_experts: int  # those a token runs through
    embeddings: int  # input embedding and output head

    @property
    def total(self) -> int:
        """Return all weights."""
        return self.mixing + self.plain + self.experts + self.embeddings

    @property
    def active(self) -> int:
        """Return the weights active per token, embedding and head included."""
        return self.mixing + self.plain + self.active_experts + self.embeddings


def weights(row: Mapping[str, Any]) -> Weights:
    """Count the weights of an architecture record."""

    def ffn(experts: int, shared: int, dense: int) -> int:
        return int(
            work.ffn_params(
                row["layers"], row["dense_layers"], row["hidden"], row["ffn_matrices"], dense,
                row["ffn"], experts, shared,
            )
        )  # fmt: skip

    return Weights(
        mixing=_attention(row) + row["ssm_layers"] * row["ssm_params_per_layer"],
        plain=ffn(0, row["shared_ffn"], row["dense_ffn"]),
        experts=ffn(row["experts"], 0, 0),
        active_experts=ffn(row["active_experts"], 0, 0),
        embeddings=work.head_params(row["vocab"], row["hidden"])
        * (1 if row["has_tied_embeddings"] else 2),
    )


def _attention(row: Mapping[str, Any]) -> int:
    layers, hidden, heads = row["attention_layers"], row["hidden"], row["heads"]
    if row["kv_lora_rank"]:
        low_rank = work.latent_attention_params(
            layers, hidden, heads, row["q_lora_rank"], row["kv_lora_rank"],
            row["nope_head_dim"], row["rope_head_dim"], row["v_head_dim"],
        )  # fmt: skip
        whole = work.latent_query_params(
            layers, hidden, heads, row["nope_head_dim"], row["rope_head_dim"]
        )
        return int(low_rank + (0 if row["q_lora_rank"] else whole))
    plain = work.attention_params(layers, hidden, heads, row["kv_heads"], row["head_dim"])
    gate = work.attention_gate_params(layers, hidden, heads, row["head_dim"])
    return int(plain + (gate if row["has_attention_gate"] else 0))
