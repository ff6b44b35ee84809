"""One measured configuration, the work behind it, and what the law says of it.

The law is linear in its coefficients, so its terms are the law itself with one coefficient at 1
and the others at 0: the formula stands in `pipeline.laws.simple` alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

from pipeline.laws import simple, work
from pipeline.shapes import Shape


class Coefficients(NamedTuple):
    """The prices of work of one GPU and stack."""

    a_j_per_flop: float
    b_j_per_kv_byte: float
    c_j_per_weight_byte: float
    s_j_per_layer_step: float
    s_j_per_step: float


@dataclass(frozen=True)
class Work:
    """What one request did in the measured passes, before the batch shares it."""

    prefill_flop: float
    decode_flop: float
    decode_attention_flop: float
    kv_read_bytes: float
    weight_read_bytes: float
    layer_steps: float
    steps: float


@dataclass(frozen=True)
class Measurement:
    """One measured configuration; lengths and energy are those of one request."""

    source_line: int
    dataset: str
    gpu: str
    stack: str
    task: str
    shape: Shape
    architecture_class: str  # as it works at this length: a window that is not filled is dense
    bytes_per_weight: float
    input_tokens: float
    output_tokens: float
    batch: float
    gpu_count: int
    phase: str  # total, prefill or decode
    has_kv_cache: bool
    time_s: float  # 0 where it is not known
    energy_j: float
    cached_tokens: float = 0  # part of the input that a prefix cache held

    @property
    def is_plain(self) -> bool:
        """Return whether the model is dense with weights of 16 bits or more."""
        return self.architecture_class == "dense" and self.bytes_per_weight >= 2


def work_of(row: Measurement) -> Work:
    """Return the work of a measured configuration: all passes, the first or the others."""
    if not row.has_kv_cache:
        return _work_without_cache(row)
    if row.phase == "prefill":
        return _cached_work(row, 1)
    whole = _cached_work(row, row.output_tokens)
    if row.phase == "total":
        return whole
    first = _cached_work(row, 1)
    return Work(
        prefill_flop=0,
        decode_flop=whole.decode_flop,
        decode_attention_flop=whole.decode_attention_flop,
        kv_read_bytes=whole.kv_read_bytes - first.kv_read_bytes,
        weight_read_bytes=whole.weight_read_bytes - first.weight_read_bytes,
        layer_steps=whole.layer_steps - first.layer_steps,
        steps=whole.steps - first.steps,
    )


def _cached_work(row: Measurement, output_tokens: float) -> Work:
    shape, n, k, m = row.shape, row.input_tokens, row.cached_tokens, output_tokens
    body, head, pair = shape.body_params, shape.head_params, shape.attention_flop_per_pair
    kv_bytes = shape.bytes_per_kv_element * shape.kv_elements_per_position
    read_bytes = work.kv_read_bytes(kv_bytes, work.cache_positions(n, m, 1, 1, 1))
    return Work(
        prefill_flop=work.prefill_flop(
            body,
            head,
            pair,
            work.prefilled_tokens(n, k, 1),
            work.prefill_pairs(n, k, 1, 1),
            1,
        ),
        decode_flop=work.decode_flop(body, head, work.decode_steps(m, 1)),
        decode_attention_flop=work.decode_attention_flop(pair, work.decode_pairs(n, m, 1, 1, 1)),
        kv_read_bytes=read_bytes + work.state_moved_bytes(shape.state_bytes, m),
        **_passes(row, m),
    )


def _work_without_cache(row: Measurement) -> Work:
    """Return m prefills of n, n + 1 … tokens: what runs where no cache is kept."""
    shape, n, m = row.shape, row.input_tokens, row.output_tokens
    return Work(
        prefill_flop=work.prefill_flop(
            shape.body_params,
            shape.head_params,
            shape.attention_flop_per_pair,
            work.recomputed_tokens(n, m),
            work.recomputed_pairs(n, m),
            m,
        ),
        decode_flop=0,
        decode_attention_flop=0,
        kv_read_bytes=0,
        **_passes(row, m),
    )


def _passes(row: Measurement, passes: float) -> dict[str, float]:
    weights = row.bytes_per_weight * row.shape.touched_params(row.batch)
    return {
        "weight_read_bytes": work.weight_read_bytes(weights, passes),
        "layer_steps": work.layer_steps(row.shape.layers, passes, row.gpu_count),
        "steps": passes * row.gpu_count,
    }


def energy_j(row: Measurement, prices: Coefficients) -> float:
    """Return what the law says one request of a measured configuration takes, in joules."""
    done, a = work_of(row), prices.a_j_per_flop
    prefill: float = simple.prefill_energy_j(a, done.prefill_flop)
    kv_cache: float = simple.kv_cache_energy_j(
        a, prices.b_j_per_kv_byte, done.kv_read_bytes, done.decode_attention_flop
    )
    next_token: float = simple.next_token_energy_j(
        a,
        prices.c_j_per_weight_byte,
        prices.s_j_per_layer_step,
        prices.s_j_per_step,
        done.decode_flop,
        done.weight_read_bytes,
        done.layer_steps,
        done.steps,
        row.batch,
    )
    return prefill + kv_cache + next_token


def terms(row: Measurement) -> tuple[float, ...]:
    """Return the work that each coefficient prices, in the order of `Coefficients`."""
    ones = (
        Coefficients(*(float(place == each) for place in range(len(Coefficients._fields))))
        for each in range(len(Coefficients._fields))
    )
    return tuple(energy_j(row, one) for one in ones)
