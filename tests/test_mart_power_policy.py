"""The month under a cap or a lock: factors, electricity, hours, money, and what stays unknown."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from conftest import Book, rows_of
from overlay_files import overlay_folder

from pipeline import warehouse
from pipeline.laws.ranges import drawn_value
from pipeline.measured_tables import put
from pipeline.settings import Deployment, Settings

LLAMA, QWEN = "meta-llama/Llama-3.1-8B", "Qwen/Qwen3-32B"
EXAMPLE = {"input_tokens": 900, "output_tokens": 300, "query_class": "chat", "provider": "vllm"}
ROWS = [
    {**EXAMPLE, "latency_s": 3_600},
    {**EXAMPLE, "model_name": QWEN, "latency_s": 3_600},
    {**EXAMPLE, "provider": "openai", "model_name": "gpt-5"},  # nobody locks a provider's clocks
]
# One busy hour of the ten that are billed: a tenth of each bill is used.
BILLS = [
    f"2026-10,{LLAMA},H200-SXM,1,10,40.00,false",
    f"2026-10,{QWEN},H100-SXM,1,10,30.00,true",
]
# The worked request by the law of the H200 at batch 1, J:
PREFILL_J = 1.131e-12 * 12_776_402_583_552
DECODE_J = (
    (2.907e-10 * 41_268_019_200 + 1.131e-12 * 164_600_217_600)  # cache
    + (1.131e-12 * 4_487_785_742_336 + 1.079e-10 * 300 * 15_009_316_864 + 0.022 * 300 * 32)
)
PUE, TARIFF, GRID = 1.2, 0.1, 473
J_PER_KWH = 3.6e6


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", {"hosting_costs": BILLS})
    deployments = (
        Deployment(LLAMA, gpu="H200-SXM", batch=1),
        Deployment(QWEN, gpu="H100-SXM", batch=1),
    )
    settings = Settings(overlay_folder=folder, deployments=deployments)
    return book_of(ROWS, settings=settings, targets=["mart_power_policy", "mart_energy_per_class"])


def line(book: Book, gpu: str, policy: str, phase: str) -> dict[str, Any]:
    [row] = rows_of(
        book,
        f"select * from mart_power_policy where gpu = '{gpu}' and policy = '{policy}' "
        f"and phase = '{phase}'",
    )
    return row


def bias(book: Book) -> float:
    [row] = rows_of(
        book, f"select bias_factor from mart_energy_per_class where model_id = '{LLAMA}'"
    )
    return float(row["bias_factor"])


def test_a_lock_saves_what_papers_say_of_that_gpu(book: Book) -> None:
    row = line(book, "H200-SXM", "lock at 1590 MHz", "decode")
    phase_j = bias(book) * DECODE_J
    saved_kwh = phase_j * (1 - 0.909) / J_PER_KWH * PUE
    hosting = 4 * DECODE_J / (PREFILL_J + DECODE_J)  # a tenth of 40 USD, by energy

    assert row["phase_energy_j"] == pytest.approx(phase_j)
    assert row["electricity_delta_kwh"] == pytest.approx(-saved_kwh)
    assert row["electricity_delta_low_kwh"] < -saved_kwh < row["electricity_delta_high_kwh"] < 0
    assert row["saving_positive_frac"] == 1
    assert row["carbon_delta_gco2e"] == pytest.approx(-saved_kwh * GRID)
    assert (row["ownership"], row["factor_source"], row["bound_verdict"]) == (
        "owned", "papers", None,
    )  # fmt: skip
    assert row["evidence_grade"] == "B"
    assert float(row["electricity_delta_usd"]) == pytest.approx(-saved_kwh * TARIFF, abs=1e-9)
    assert row["electricity_delta_usd"] == row["electricity_delta_if_owned_usd"]
    # Its throughput is known to within a tenth of a percent and valued at none: no hours more.
    assert (row["gpu_time_delta_s"], row["capacity_delta_usd"]) == (0, 0)
    assert row["cost_delta_low_usd"] <= row["cost_delta_usd"] <= row["cost_delta_high_usd"]
    assert float(row["hosting_cost_usd"]) == pytest.approx(hosting)
    # Lost share x of throughput costs hosting · x / (1 − x): even at saved / (saved + hosting).
    loss = row["break_even_throughput_loss_frac"]
    assert hosting * loss / (1 - loss) == pytest.approx(saved_kwh * TARIFF)


def test_what_nobody_measured_stays_unknown(book: Book) -> None:
    for phase in ("prefill", "both"):
        row = line(book, "H200-SXM", "lock at 1590 MHz", phase)
        assert row["evidence_grade"] == "U"
        assert row["reason"] == "nothing measured or published of this phase"
        for name, value in row.items():
            if "delta" in name or name.startswith(("energy_ratio", "break_even")):
                assert value is None, name
    assert {row["gpu"] for row in rows_of(book, "select gpu from mart_power_policy")} == {
        "H100-SXM", "H200-SXM",
    }  # fmt: skip


def test_a_rented_gpu_of_another_kind_saves_carbon_alone_and_is_grade_c(book: Book) -> None:
    for policy in ("lock at 1590 MHz", "cap at 400 W"):  # both boards have 700 W
        row = line(book, "H100-SXM", policy, "decode")
        assert row["evidence_grade"] == "C"
        assert row["factor_source"] == "papers, carried over from H200-SXM"
        assert (row["ownership"], row["electricity_delta_usd"]) == ("rented", 0)
    assert line(book, "H100-SXM", "lock at 1590 MHz", "decode")["carbon_delta_gco2e"] < 0


def test_own_measurements_go_before_papers(book: Book) -> None:
    factor = {
        **{"gpu": "H200-SXM", "policy": "lock at 1590 MHz", "lever": "lock", "run_count": 6},
        **{"energy_ratio": 0.8, "energy_low_ratio": 0.8, "energy_high_ratio": 0.8},
        **{"throughput_low_ratio": 0.9, "throughput_high_ratio": 1.0, "is_generated": False},
    }
    measured = [
        {**factor, "phase": "prefill", "throughput_ratio": 0.9, "bound_verdict": "not bound"},
        {**factor, "phase": "decode", "throughput_ratio": 1.0, "bound_verdict": "not bound"},
    ]
    put(book, "measured_factors", pl.DataFrame(measured))
    warehouse.build(book, ["mart_power_policy"])
    prefill, decode, both = (
        line(book, "H200-SXM", "lock at 1590 MHz", phase) for phase in ("prefill", "decode", "both")
    )

    whole_j = bias(book) * (PREFILL_J + DECODE_J)
    share = PREFILL_J / (PREFILL_J + DECODE_J)
    assert decode["factor_source"] == "own power logs"
    assert both["electricity_delta_kwh"] == pytest.approx(-0.2 * whole_j / J_PER_KWH * PUE)
    assert both["electricity_delta_kwh"] == pytest.approx(
        prefill["electricity_delta_kwh"] + decode["electricity_delta_kwh"]
    )
    # Prefill at nine tenths of the speed takes a ninth more of its share of the busy hour.
    assert prefill["gpu_time_s"] == pytest.approx(3_600 * share)
    assert both["gpu_time_delta_s"] == pytest.approx(3_600 * share / 9)
    assert float(both["capacity_delta_usd"]) == pytest.approx(4 * share / 9, abs=1e-8)
    saved_usd = -float(both["electricity_delta_usd"])
    assert float(both["cost_delta_usd"]) == pytest.approx(4 * share / 9 - saved_usd, abs=1e-8)
    assert float(both["break_even_tariff_usd_per_kwh"]) == pytest.approx(
        4 * share / 9 / -both["electricity_delta_kwh"], rel=1e-6
    )
    assert isinstance(both["cost_delta_usd"], Decimal)
    assert decode["cost_saving_positive_frac"] == pytest.approx(worlds_that_save(book))
    assert 0.4 < decode["cost_saving_positive_frac"] < 0.6  # half are slower, which costs far more


def worlds_that_save(book: Book) -> float:
    """Return in how many draws a fifth less electricity pays for hours at 0.9 to 1 times the speed.

    Decode has its share of the energy, so of the busy hour and of its 4 USD.
    """
    [tariff] = rows_of(
        book,
        "select value, low, high from stg_assumptions where assumption = 'electricity_usd_per_kwh'",
    )
    [pue] = rows_of(
        book, "select value, low, high from stg_assumptions where assumption = 'pue_ratio'"
    )
    draws = rows_of(
        book,
        "select gpu_energy_j, small_z_score, large_z_score, pue_z_score "
        "from int_class_draws inner join stg_joint_draws using (draw) "
        f"where model_id = '{LLAMA}' and month = '2026-10'",
    )
    share = DECODE_J / (PREFILL_J + DECODE_J)
    saved = 0
    for draw in draws:
        kwh = 0.2 * share * draw["gpu_energy_j"] / J_PER_KWH
        kwh *= drawn_value(**pue, z_score=draw["pue_z_score"])
        usd = kwh * drawn_value(**tariff, z_score=draw["large_z_score"])
        lost = 4 * share * (1 / drawn_value(1.0, 0.9, 1.0, draw["small_z_score"]) - 1)
        saved += usd > lost
    assert len(draws) == 256
    return saved / len(draws)
