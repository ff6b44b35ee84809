"""Layers that keep a state of one size instead of a cache: their weights, and the state's bytes.

Five kinds can be counted: Mamba 1 and 2, gated delta networks, Kimi's delta attention and MiniMax's
lightning attention. Sources: the makers' published code and papers.
"""

from dataclasses import dataclass

from pipeline.ingest.cards.reader import Card

_MAMBA_1 = {"mamba", "falcon_mamba", "jamba"}
_LIGHTNING = {"minimax", "minimax_text_01", "minimax_m1"}
_CONV_BYTES = 2


@dataclass(frozen=True)
class StateLayer:
    """One layer: its weights, the elements of its state, and those of its short convolution."""

    params: int
    state_elements: int
    conv_elements: int

    def state_bytes(self, bytes_per_element: int) -> int:
        """Return what the layer keeps of one request."""
        return self.state_elements * bytes_per_element + self.conv_elements * _CONV_BYTES


def state_layer(card: Card) -> StateLayer:
    """Return the layer that takes the place of attention in this model.

    Raises:
        BadInputError: For a kind that cannot be counted.
    """
    if isinstance(card.get("linear_attn_config"), dict):
        return _kimi_delta(card)
    if card.number("delta_value_heads"):
        return _gated_delta(card)
    if card.model_type in _LIGHTNING or card.get("attn_type_list"):
        return _lightning(card)
    if card.model_type in _MAMBA_1:
        return _mamba_1(card)
    if card.number("ssm_heads") or card.model_type == "mamba2":
        return _mamba_2(card)
    raise card.refusal("its layers without attention are of a kind that cannot be counted")


def state_element_bytes(card: Card) -> int:
    """Return the bytes of an element of the state: those told, else 2 as for the cache."""
    told = str(card.get("mamba_ssm_dtype") or card.get("mamba_ssm_cache_dtype") or "")
    return 4 if told.endswith("float32") else 2


def _mamba_1(card: Card) -> StateLayer:
    hidden, state, kernel = card.need("hidden"), card.number("ssm_state"), _kernel(card)
    is_alone = card.model_type != "jamba"  # its intermediate_size is that of the experts
    inner = (card.number("ffn") if is_alone else 0) or hidden * (card.number("ssm_expand") or 2)
    told = card.get("time_step_rank") or card.get("mamba_dt_rank")
    rank = told if isinstance(told, int) else -(-hidden // 16)
    projections = hidden * 2 * inner + inner * hidden
    steps = inner * (rank + 2 * state) + rank * inner
    return StateLayer(
        params=projections + steps + inner * (kernel + state + 3),
        state_elements=inner * state,
        conv_elements=inner * (kernel - 1),
    )


def _mamba_2(card: Card) -> StateLayer:
    hidden, state, kernel = card.need("hidden"), card.number("ssm_state"), _kernel(card)
    is_alone = card.model_type == "mamba2"  # its heads have no prefix
    heads = card.number("ssm_heads") or (card.number("heads") if is_alone else 0)
    head_dim = card.number("ssm_head_dim") or (card.number("head_dim") if is_alone else 0)
    if not head_dim:
        inner = card.number("ssm_inner") or hidden * (card.number("ssm_expand") or 2)
        head_dim = inner // heads
    inner = heads * head_dim
    conv = inner + 2 * (card.number("ssm_groups") or 1) * state
    return StateLayer(
        params=hidden * (inner + conv + heads) + inner * hidden + conv * kernel + inner + 3 * heads,
        state_elements=inner * state,
        conv_elements=conv * (kernel - 1),
    )


def _gated_delta(card: Card) -> StateLayer:
    hidden, kernel = card.need("hidden"), _kernel(card)
    key = card.number("delta_key_heads") * card.number("delta_key_dim")
    heads, value_dim = card.number("delta_value_heads"), card.number("delta_value_dim")
    value, conv = heads * value_dim, 2 * key + heads * value_dim
    projections = hidden * (conv + value + 2 * heads) + value * hidden
    return StateLayer(
        params=projections + conv * kernel + 2 * heads + value_dim,
        state_elements=heads * card.number("delta_key_dim") * value_dim,
        conv_elements=conv * (kernel - 1),
    )


def _kimi_delta(card: Card) -> StateLayer:
    told = card.get("linear_attn_config")
    hidden, head_dim = card.need("hidden"), int(told["head_dim"])
    heads, kernel = int(told["num_heads"]), int(told.get("short_conv_kernel_size") or 4)
    inner = heads * head_dim
    gates = 2 * (hidden * head_dim + head_dim * inner) + hidden * heads
    return StateLayer(
        params=4 * hidden * inner + gates + 3 * inner * kernel + inner + heads + head_dim,
        state_elements=heads * head_dim * head_dim,
        conv_elements=3 * inner * (kernel - 1),
    )


def _lightning(card: Card) -> StateLayer:
    hidden, heads = card.need("hidden"), card.need("heads")
    head_dim = card.number("head_dim") or hidden // heads
    inner = heads * head_dim
    return StateLayer(
        params=5 * hidden * inner + inner, state_elements=inner * head_dim, conv_elements=0
    )


def _kernel(card: Card) -> int:
    return card.number("ssm_kernel") or 4
