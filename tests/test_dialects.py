"""A law has the same number in SQL as in Python: to 1e-12, and to the last digit where whole."""

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest

from pipeline import dialects, warehouse
from pipeline.laws import agents, decisions, facility, ranges, rivals, simple, work

DRAWS = 200
Law = Callable[..., Any]

# What an argument may be, by its name: from, to, and whether it is a whole number.
RANGES: dict[str, tuple[float, float, bool]] = {
    "request_count": (1, 100_000, True),
    "input_tokens": (1, 1_000_000, True),
    "cached_tokens": (0, 1_000_000, True),
    "output_tokens": (0, 100_000, True),
    "input_squared_ratio": (1, 6, False),
    "input_output_ratio": (0.5, 2, False),
    "output_squared_ratio": (1, 6, False),
    "layers": (1, 200, True),
    "dense_layers": (0, 3, True),
    "hidden": (64, 20_000, True),
    "heads": (1, 256, True),
    "kv_heads": (1, 256, True),
    "head_dim": (32, 512, True),
    "q_lora_rank": (0, 4_096, True),
    "kv_lora_rank": (1, 4_096, True),
    "nope_head_dim": (1, 512, True),
    "rope_head_dim": (1, 512, True),
    "v_head_dim": (1, 512, True),
    "ffn_matrices": (2, 3, True),
    "dense_ffn": (0, 60_000, True),
    "expert_ffn": (0, 60_000, True),
    "shared_ffn": (0, 60_000, True),
    "experts_used": (0, 512, False),
    "experts": (64, 512, True),
    "active_experts": (1, 64, True),
    "batch": (1, 512, False),
    "vocab": (1, 300_000, True),
    "bytes_per_kv_element": (0.5, 2, False),
    "bytes_per_weight": (0.5, 2, False),
    "params": (1e6, 2e12, True),
    "usable_frac": (0.5, 1, False),
    "gpu_count": (1, 64, True),
    "gpu_memory_gb": (16, 300, True),
    "held_weight_bytes": (1e9, 2e12, True),
    "kv_bytes": (1e4, 1e6, True),
    "state_bytes": (0, 1e9, True),
    "state_bytes_per_layer": (0, 1e7, True),
    "params_per_layer": (1e5, 1e9, True),
    "context_tokens": (1, 1_000_000, True),
    "body_params": (1e6, 2e12, True),
    "attention_flop_per_pair": (1e3, 1e8, True),
    "kv_bytes_per_position": (1e3, 1e7, True),
    "prefill_flop": (1, 1e25, False),
    "decode_flop": (1, 1e25, False),
    "decode_attention_flop": (1, 1e25, False),
    "kv_read_bytes": (1, 1e25, False),
    "weight_read_bytes": (1, 1e25, False),
    "layer_steps": (1, 1e15, True),
    "steps": (1, 1e12, True),
    "a_j_per_flop": (1e-13, 1e-11, False),
    "b_j_per_kv_byte": (1e-11, 1e-9, False),
    "c_j_per_weight_byte": (1e-11, 1e-9, False),
    "s_j_per_layer_step": (0, 0.1, False),
    "s_j_per_step": (0, 5, False),
    "gpu_energy_j": (0, 1e18, False),
    "facility_ratio": (1, 5, False),
    # rivals: what they price, and their constants
    "tokens": (1, 1_000_000, True),
    "active_params": (1e6, 2e12, True),
    "query_width": (64, 65_536, True),
    "kv_width": (64, 65_536, True),
    "head_params": (1e6, 1e10, True),
    "input_j_per_token": (-10, 10, False),
    "output_j_per_token": (0, 400, False),
    "interaction_j_per_token2": (0, 0.4, False),
    "j_per_param_token": (1e-11, 1e-9, False),
    "kwh_per_billion_params_token": (1e-9, 1e-6, False),
    "kwh_per_token": (1e-8, 1e-5, False),
    "wh_per_billion_params_token": (1e-7, 1e-5, False),
    "batch_exponent": (-0.02, 0, False),
    "wh_per_token": (1e-6, 1e-3, False),
    "compute_j_per_param_token": (1e-13, 1e-11, False),
    "weight_j_per_param_step": (1e-11, 1e-9, False),
    "step_j": (0, 5, False),
    "peak_flop_per_s": (1e14, 1e16, False),
    "utilisation_frac": (0.01, 1, False),
    "gpu_power_w": (100, 2_000, False),
    "power_frac": (0.1, 1, False),
    "pue_ratio": (1, 2, False),
    "compute_j_per_flop": (1e-13, 1e-11, False),
    "memory_j_per_bit": (1e-12, 1e-10, False),
    "flop_per_param_token": (2, 6, False),
    "bits_per_element": (4, 32, True),
    "reference_params": (1e9, 1e11, True),
    "weight_scale": (0.01, 1, False),
    "weight_exponent": (0.1, 2, False),
    "cache_scale": (0, 2, False),
    "cache_exponent": (0.1, 2, False),
    "overhead_scale": (0, 2, False),
    "overhead_exponent": (0.1, 2, False),
    "prefill_j_per_token2": (0, 1e-5, False),
    "prefill_j_per_token": (0, 1, False),
    "context_j_per_token2": (0, 1e-3, False),
    "attention_j_per_width_token2": (1e-13, 1e-11, False),
    "prefill_j_per_param_token": (1e-13, 1e-11, False),
    "context_j_per_width_token2": (1e-10, 1e-8, False),
    "next_token_j_per_param_token": (1e-11, 1e-9, False),
    "bits_per_weight": (4, 32, True),
    "memory_ratio": (1, 2, False),
    "latency_s_per_billion_params_token": (1e-5, 1e-2, False),
    "latency_s_per_request_token": (0, 1e-2, False),
    "latency_s_per_token": (1e-3, 1, False),
    "server_power_w": (100, 5_000, False),
    "server_gpus": (1, 16, True),
    "low": (0.01, 1, False),
    "value": (1, 10, False),
    "high": (10, 1_000, False),
    "z_score": (-4, 4, False),
    "log_ratio": (-2, 2, False),
    "end_log_ratio": (0.01, 2, False),
    "prefilled_token_energy_j": (1e-3, 1, False),
    "decode_step_energy_j": (1e-3, 1, False),
    "pair_energy_j": (1e-8, 1e-4, False),
    "cache_position_energy_j": (1e-7, 1e-3, False),
    "state_pass_energy_j": (0, 1, False),
    "prompt_energy_j": (1e-4, 1, False),
    "pass_energy_j": (1e-3, 10, False),
    "shared_tokens": (1, 100_000, True),
    "item_input_tokens": (1, 10_000, True),
    "item_output_tokens": (1, 10_000, True),
    "crowding_energy_j": (0, 10, False),
    # an output token's own work takes less than its price says: there is a batch
    "price_ratio": (1, 10, False),
    "input_token_energy_j": (0.01, 1, False),
    "output_token_energy_j": (0, 0.009, False),
    "shared_pass_energy_j": (0.001, 10, False),
    # a read is cheaper than plain input, which is cheaper than a write
    "cache_read_usd_per_mtok": (0.01, 0.5, False),
    "uncached_usd_per_mtok": (1, 10, False),
    "cache_write_usd_per_mtok": (11, 20, False),
    # what is kept of a context is no longer than the context
    "kept_tokens": (0, 1, True),
    "new_input_tokens": (0, 10_000, True),
    "once": (0, 1e6, False),
    "saved_per_step": (0.01, 1e5, False),
    "growth_per_step": (0, 1e4, False),
}
ALL_LAWS = (
    *work.LAWS,
    *simple.LAWS,
    *facility.LAWS,
    *ranges.LAWS,
    *decisions.LAWS,
    *agents.LAWS,
    *rivals.LAWS,
    *rivals.PARTS,
)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse.connect(None, 1, threads=2) as connection:
        yield connection


def draws(law: Law) -> list[list[float]]:
    """Return random arguments of a law, the same ones each time."""
    dice = random.Random(law.__name__)  # noqa: S311 no secret
    names = list(inspect.signature(law).parameters)

    def draw(name: str) -> float:
        low, high, is_whole = RANGES[name]
        return float(dice.randint(int(low), int(high))) if is_whole else dice.uniform(low, high)

    drawn = [[draw(name) for name in names] for _ in range(DRAWS)]
    if "cached_tokens" in names:  # of the input, all but one token at most
        whole = "input_tokens" if "input_tokens" in names else "shared_tokens"
        n, k = names.index(whole), names.index("cached_tokens")
        for row in drawn:
            row[k] = min(row[k], row[n] - 1)
    return drawn


def in_sql(
    con: duckdb.DuckDBPyConnection, name: str, rows: list[list[Any]], number_type: str
) -> list[Any]:
    """Return what the macro `name` gives for every row of arguments, in one query."""
    columns = [f"x{number}" for number in range(len(rows[0]))]
    values = ", ".join(
        "(" + ", ".join(f"'{value!r}'::{number_type}" for value in (number, *row)) + ")"
        for number, row in enumerate(rows)
    )
    found = con.execute(
        f"select {name}({', '.join(columns)}) from (values {values}) "
        f"as drawn(number, {', '.join(columns)}) order by number"
    )
    return [row[0] for row in found.fetchall()]


@pytest.mark.parametrize("law", ALL_LAWS, ids=lambda law: law.__name__)
def test_a_law_has_the_same_number_in_sql(con: duckdb.DuckDBPyConnection, law: Law) -> None:
    rows = draws(law)

    assert in_sql(con, law.__name__, rows, "double") == [
        pytest.approx(law(*row), rel=1e-12, abs=0) for row in rows
    ]


@pytest.mark.parametrize("law", work.EXACT_LAWS, ids=lambda law: law.__name__)
def test_an_exact_law_has_every_digit_in_sql(con: duckdb.DuckDBPyConnection, law: Law) -> None:
    dice = random.Random(law.__name__)  # noqa: S311 no secret
    width = len(inspect.signature(law).parameters)
    rows = [[dice.randrange(2**38, 2**39) for _ in range(width)] for _ in range(DRAWS)]
    expected = [law(*row) for row in rows]

    assert min(expected) > 2**53  # where a DOUBLE has lost digits
    assert in_sql(con, law.__name__, rows, "hugeint") == expected


@pytest.mark.parametrize("law", ALL_LAWS)
def test_a_law_takes_whole_numbers_of_32_bits_without_overflow(
    con: duckdb.DuckDBPyConnection, law: Law
) -> None:
    row = [float(max(1, int(value))) for value in draws(law)[0]]
    arguments = ", ".join(
        f"{int(value)}::integer" if value < 2**31 else repr(value) for value in row
    )
    [(found,)] = con.execute(f"select {law.__name__}({arguments})").fetchall()

    assert found == pytest.approx(law(*row), rel=1e-12)


def less_its_square(x: Any) -> Any:  # noqa: ANN401 a number or a symbol
    return -(x**2)


def square_of_the_negative(x: Any) -> Any:  # noqa: ANN401
    return (x - 7) ** 2 - x**3


def one_over_its_square(x: Any) -> Any:  # noqa: ANN401
    return 1 / x**2


@pytest.mark.parametrize("law", [less_its_square, square_of_the_negative, one_over_its_square])
def test_powers_are_printed_as_products(law: Law) -> None:
    [macro] = dialects.sql_macros([law])

    assert not any(sign in macro for sign in ("^", "**", "pow"))


@pytest.mark.parametrize("law", [less_its_square, square_of_the_negative, one_over_its_square])
def test_a_power_of_a_negative_number_keeps_its_sign(
    con: duckdb.DuckDBPyConnection, law: Law
) -> None:
    [macro] = dialects.sql_macros([law])
    con.execute(macro)

    assert in_sql(con, law.__name__, [[-3.0], [0.5], [7.0]], "double") == [
        pytest.approx(law(x)) for x in (-3.0, 0.5, 7.0)
    ]


def test_a_macro_has_the_name_and_the_arguments_of_its_law() -> None:
    [macro] = dialects.sql_macros([facility.facility_energy_kwh])

    assert macro.startswith(
        "create or replace macro facility_energy_kwh(gpu_energy_j, facility_ratio) as "
    )


def test_every_law_is_registered_under_its_own_name() -> None:
    names = [law.__name__ for law in (*ALL_LAWS, *work.EXACT_LAWS)]

    assert len(names) == len(set(names))
