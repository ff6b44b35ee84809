"""From the lengths of a request to its work, and from work to joules: the laws, written out."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.explain.architecture import Sizes
from pipeline.explain.lines import Line, step
from pipeline.explain.warehouse_rows import Row
from pipeline.explain.written import Term, as_number, least, most, number, rounded, unless
from pipeline.laws import simple, work

_MOMENTS = (
    ("prefilled_tokens", "p", "p, tokens through the prefill"),
    ("prefill_pairs", "q", "q, pairs in the prefill"),
    ("decode_pairs", "y", "y, pairs while writing"),
    ("cache_positions", "z", "z, cache positions read"),
    ("decode_steps", "t", "t, passes after the first"),
)
_RATES = (
    ("prefilled_tokens", "energy_j_per_prefilled_token", "p", "ep"),
    ("prefill_pairs", "energy_j_per_pair", "q", "eq"),
    ("prompts", "energy_j_per_prompt", "r", "er"),
    ("cache_positions", "energy_j_per_cache_position", "z", "ez"),
    ("decode_pairs", "energy_j_per_pair", "y", "eq"),
    ("decode_steps", "energy_j_per_decode_step", "t", "et"),
    ("passes", "energy_j_per_pass", "m", "em"),
)


@dataclass(frozen=True)
class Coefficients:
    """The prices of work of a coefficient set, and what shares the work."""

    set_row: Row  # of stg_coefficients
    gpu_count: int
    batch: float


@dataclass(frozen=True)
class Energies:
    """The work of some tokens on one architecture and its energies by the law, with the lines."""

    work_lines: tuple[Line, ...]
    energy_lines: tuple[Line, ...]
    energy_j: float


def moments_of(request: Row, scatter: Row) -> tuple[dict[str, int], tuple[Line, ...]]:
    """Return the token moments of a row of usage, and how its lengths give them.

    Args:
        request: Row of int_requests.
        scatter: Row of stg_dispersion_factors of its class, empty for a single request.
    """
    is_single = request["request_count"] == 1
    count = unless(1, "r", request["request_count"])
    sign_n, sign_k, sign_m = ("n", "k", "m") if is_single else ("N", "K", "M")
    n = number(sign_n, request["input_tokens"]) / count
    m = number(sign_m, request["output_tokens"]) / count
    k: Term = unless(0, sign_k, request["cache_read_tokens"] or 0)
    if not isinstance(k, int):
        is_all = request["cache_read_tokens"] >= request["input_tokens"]
        if not is_single:
            k = least(k / count, most(n - 1, 0))
        elif is_all:
            k = least(k, n - 1)
    nn, nm, mm = (
        unless(1, sign, scatter.get(name, 1))
        for sign, name in (
            ("Dnn", "input_squared_ratio"),
            ("Dnm", "input_output_ratio"),
            ("Dmm", "output_squared_ratio"),
        )
    )
    terms = {
        "prefilled_tokens": work.prefilled_tokens(n, k, count),
        "prefill_pairs": work.prefill_pairs(n, k, count, nn),
        "decode_pairs": work.decode_pairs(n, m, count, nm, mm),
        "cache_positions": work.cache_positions(n, m, count, nm, mm),
        "decode_steps": work.decode_steps(m, count),
    }
    found: dict[str, int] = {name: request[name] for name in terms}
    lines = []
    for name, _, label in _MOMENTS:
        term = terms[name] if is_single and not scatter else rounded(terms[name])
        lines.append(step(name, label, term, "", found[name]))
    found |= {"passes": request["output_tokens"], "prompts": request["request_count"]}
    return found, tuple(lines)


def energies_of(sizes: Sizes, moments: Mapping[str, int], priced: Coefficients) -> Energies:
    """Return work and law energy of token moments on one architecture.

    The moments are those of one request or the sums over a class: the law is linear in them.
    """
    of = {name: unless(0, sign, moments[name]) for name, sign, _ in _MOMENTS}
    passes = unless(0, "m", moments["passes"])
    prompts = unless(1, "r", moments["prompts"])
    gpus = unless(1, "G", priced.gpu_count)
    terms = {
        "prefill_flop": work.prefill_flop(
            sizes.body_params, sizes.head_params, sizes.flop_per_pair,
            of["prefilled_tokens"], of["prefill_pairs"], prompts,
        ),
        "decode_flop": work.decode_flop(sizes.body_params, sizes.head_params, of["decode_steps"]),
        "decode_attention_flop": work.decode_attention_flop(
            sizes.flop_per_pair, of["decode_pairs"]
        ),
        "kv_read_bytes": work.kv_read_bytes(sizes.kv_bytes, of["cache_positions"])
        + work.state_moved_bytes(sizes.state_bytes, passes),
        "weight_read_bytes": work.weight_read_bytes(sizes.weight_bytes, passes),
        "layer_steps": work.layer_steps(sizes.layers, passes, gpus),
    }  # fmt: skip
    labels = (
        ("prefill_flop", "F, prefill", "FLOP"),
        ("decode_flop", "N, decode", "FLOP"),
        ("decode_attention_flop", "A, decode attention", "FLOP"),
        ("kv_read_bytes", "R, cache read", "bytes"),
        ("weight_read_bytes", "T, weights read", "bytes"),
        ("layer_steps", "S, layer steps", "steps"),
    )
    lines = tuple(step(name, label, terms[name], unit) for name, label, unit in labels)
    done = {name: unless(0, label[0], as_number(terms[name])) for name, label, _ in labels}
    return _priced(lines, done, passes * gpus, priced)


def share_of(moments: Mapping[str, int], rates: Row, value: float, label: str) -> Line:
    """Return the energy of token moments by the rates of their class, row of int_class_energy."""
    total: Term = 0
    for name, rate, sign, price in _RATES:
        total = total + unless(0, sign, moments[name]) * number(price, rates[rate])
    return step("gpu_energy_j", label, total, "J", value)


def _priced(
    work_lines: tuple[Line, ...], done: Mapping[str, Term], steps: Term, priced: Coefficients
) -> Energies:
    row = priced.set_row
    a = number("a", row["a_j_per_flop"])
    c = number("c", row["c_j_per_weight_byte"])
    per_layer, per_step = (
        unless(0, sign, row[name])
        for sign, name in (("s", "s_j_per_layer_step"), ("u", "s_j_per_step"))
    )
    terms = {
        "prefill_energy_j": simple.prefill_energy_j(a, done["prefill_flop"]),
        "kv_cache_energy_j": simple.kv_cache_energy_j(
            a,
            number("b", row["b_j_per_kv_byte"]),
            done["kv_read_bytes"],
            done["decode_attention_flop"],
        ),
        "next_token_energy_j": simple.next_token_energy_j(
            a, c, per_layer, per_step, done["decode_flop"], done["weight_read_bytes"],
            done["layer_steps"], steps, unless(1, "B", priced.batch),
        ),
    }  # fmt: skip
    labels = ("e1, prefill", "e2, KV cache", "e3, next token")
    lines = [
        step(name, label, term, "J", float(as_number(term)))
        for label, (name, term) in zip(labels, terms.items(), strict=True)
    ]
    total: Term = 0
    for line, sign in zip(lines, ("e1", "e2", "e3"), strict=True):
        total = total + unless(0, sign, float(line.value))  # type: ignore[arg-type]
    energy_j = float(as_number(total))
    lines.append(step("energy_j", "law in all", total, "J", energy_j))
    return Energies(work_lines, tuple(lines), energy_j)
