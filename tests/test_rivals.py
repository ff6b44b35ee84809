"""The rival laws against hand-worked numbers and against what their authors publish."""

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.law_list import bias_factor, coefficient_set, constants, described
from pipeline.laws import rivals
from pipeline.reference import reference_rows

WH = 3600  # joules
LLAMA = "meta-llama/Llama-2-7b-hf"
SHAPE = {
    "layers": 32,
    "query_width": 4096,
    "kv_width": 1024,
    "body_params": 6_979_321_856,
    "head_params": 525_336_576,
}


def test_the_linear_law_by_hand() -> None:
    assert rivals.linear_j(0.5, 3, input_tokens=100, output_tokens=10) == 50 + 30


def test_the_interaction_law_of_llama_2_by_hand() -> None:
    energy_j = rivals.linear_interaction_j(
        **constants("linear_interaction", LLAMA), input_tokens=100, output_tokens=200
    )

    # −3.89·100 + 31.52·200 + 0.0427·100·200
    assert energy_j == pytest.approx(-389 + 6304 + 854)


def test_the_interaction_law_gives_long_prompts_a_negative_energy() -> None:
    falcon = constants("linear_interaction", "tiiuae/falcon-7b")

    assert rivals.linear_interaction_j(**falcon, input_tokens=2048, output_tokens=8) < 0


def test_parameters_times_tokens_by_hand() -> None:
    assert rivals.parameters_tokens_j(3e-10, 7e9, 100) == pytest.approx(210)


@pytest.mark.parametrize(
    ("billions", "older_j", "newer_j"),
    [(1, 5.47, 0.148), (7, 7.39, 0.160), (8, 7.71, 0.162), (70, 27.6, 0.289)],
)
def test_ecologits_takes_so_many_joules_a_token(
    billions: int, older_j: float, newer_j: float
) -> None:
    older = rivals.ecologits_0_8_j(**constants("ecologits_0_8"), active_params=billions * 1e9,
                                   output_tokens=1, gpu_count=1)  # fmt: skip
    newer = rivals.ecologits_0_9_j(**constants("ecologits_0_9"), active_params=billions * 1e9,
                                   output_tokens=1, batch=64, gpu_count=1)  # fmt: skip

    assert older == pytest.approx(older_j, rel=2e-3)
    assert newer == pytest.approx(newer_j, rel=4e-3)


def test_the_version_of_ecologits_moves_8_b_by_a_factor_of_48() -> None:
    given = {"active_params": 8e9, "output_tokens": 300, "gpu_count": 1}
    older = rivals.ecologits_0_8_j(**constants("ecologits_0_8"), **given)
    newer = rivals.ecologits_0_9_j(**constants("ecologits_0_9"), **given, batch=64)

    assert older / newer == pytest.approx(48, rel=0.01)


def test_ecologits_aware_of_the_batch_shares_weights_and_step_only() -> None:
    # 10·(2e-12·1e9 + (1e-10·1e9 + 0.5) / 4)
    assert rivals.ecologits_batch_j(2e-12, 1e-10, 0.5, 1e9, 10, 4) == pytest.approx(
        10 * (0.002 + 0.6 / 4)
    )


@pytest.mark.parametrize(
    ("changed", "params", "tokens", "wh"),
    [
        ({}, 100e9, 500, 0.301),
        ({}, 100e9, 1500, 0.902),
        ({}, 20e9, 500, 0.06),
        ({"utilisation_frac": 0.05, "pue_ratio": 1.3}, 200e9, 500, 1.30),
        ({"utilisation_frac": 0.05, "pue_ratio": 1.3}, 200e9, 1500, 3.91),
    ],
)
def test_epoch_ai_as_published(
    changed: dict[str, float], params: float, tokens: int, wh: float
) -> None:
    energy_j = rivals.epoch_ai_j(
        **(constants("epoch_ai") | changed), active_params=params, output_tokens=tokens
    )

    assert energy_j / WH == pytest.approx(wh, rel=4e-3)


def test_vartziotis_as_printed_does_not_give_the_printed_table() -> None:
    def wh(**changed: float) -> float:
        energy_j: float = rivals.vartziotis_j(
            **(constants("vartziotis") | changed),
            params=8e9, layers=36, hidden=4096, input_tokens=500, output_tokens=500,
        )  # fmt: skip
        return energy_j / WH

    assert wh() == pytest.approx(0.0189, abs=1e-4)
    assert wh(cache_scale=0, overhead_scale=0) == pytest.approx(0.0127, abs=1e-4)
    assert wh() > 1.5 * 0.0118  # what the paper prints


def test_the_closed_form_is_the_sum_over_tokens() -> None:
    n, m, a, b, d, c = 40, 7, 1e-4, 0.02, 3e-3, 0.5
    by_token = a * n * n + b * n + sum(d * (n + step) + c for step in range(m))

    assert rivals.closed_form_j(a, b, d, c, n, m) == pytest.approx(by_token)


def test_reading_a_by_hand() -> None:
    energy_j = rivals.simple_reading_a_j(
        **constants("simple_reading_a"), **SHAPE, input_tokens=900, output_tokens=300, batch=1
    )

    attention = 2e-12 * 32 * 4096 * 900**2
    prefill = 2e-12 * 6_979_321_856 * 900
    context = 1.8e-9 * 32 * 1024 * (900 * 300 + 300 * 299 / 2)
    next_token = 3e-10 * (6_979_321_856 + 525_336_576) * 300
    assert energy_j == pytest.approx(attention + prefill + context + next_token)


def test_reading_a_divides_the_next_token_alone_by_the_batch() -> None:
    def energy_j(batch: int) -> Any:  # noqa: ANN401  # laws are generic
        return rivals.simple_reading_a_j(
            **constants("simple_reading_a"), **SHAPE, input_tokens=9, output_tokens=3, batch=batch
        )

    next_token_j = 3e-10 * (6_979_321_856 + 525_336_576) * 3
    assert energy_j(1) - energy_j(4) == pytest.approx(next_token_j * 3 / 4)


@given(n=st.integers(1, 10_000), m=st.integers(1, 10_000), more=st.integers(1, 10_000))
def test_an_answer_that_is_longer_never_takes_less(n: int, m: int, more: int) -> None:
    prices = constants("simple_reading_a")

    def energy_j(output_tokens: int) -> Any:  # noqa: ANN401
        return rivals.simple_reading_a_j(
            **prices, **SHAPE, input_tokens=n, output_tokens=output_tokens, batch=8
        )

    assert energy_j(m + more) > energy_j(m)


# What the tables and the list say of them --------------------------------------------------------


@pytest.mark.parametrize("law", described(), ids=lambda law: str(law["law"]))
def test_every_law_says_where_it_is_from_where_it_holds_and_what_it_ignores(
    law: dict[str, Any],
) -> None:
    assert all(len(law[key]) > 10 for key in ("title", "source", "domain", "ignores"))


def test_every_stored_constant_is_an_argument_of_its_law() -> None:
    arguments = {
        law.__name__.removesuffix("_j"): set(inspect.signature(law).parameters)
        for law in (*rivals.LAWS, *rivals.PARTS)
    }
    arguments["ecologits_server"] |= {"pue_ratio"}  # of its facility, around GPUs and server

    assert [
        row
        for row in reference_rows("rival_coefficients")
        if row["coefficient"] not in arguments[row["law"]]
    ] == []


def test_a_law_with_stored_constants_has_all_of_them() -> None:
    for law, count in (
        ("ecologits_0_8", 2),
        ("ecologits_0_9", 3),
        ("epoch_ai", 5),
        ("vartziotis", 11),
        ("simple_reading_a", 4),
    ):
        assert len(constants(law)) == count


def test_a_gpu_is_priced_by_its_own_set_then_by_the_default() -> None:
    assert coefficient_set("H100-SXM", "TensorRT-LLM")[0] == "h100-sxm-trtllm-1"
    assert coefficient_set("H100-SXM", "sglang")[0] == "h100-sxm-vllm-1"
    assert coefficient_set("L4", "vllm")[0] == "h100-sxm-vllm-1"


def test_a_bias_of_any_set_stands_in_where_the_set_has_none() -> None:
    anywhere = {
        row["architecture_class"]: float(row["bias_factor"])
        for row in reference_rows("bias_factors")
        if row["coefficient_set_id"] == "*"
    }

    assert bias_factor("window", "h100-sxm-vllm-1") == anywhere["window"]
