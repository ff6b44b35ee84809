"""The generated measuring session: what is planted is there, and can be worked by hand."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from pipeline.ingest.telemetry import SCHEMA, read_telemetry
from pipeline.sample.telemetry import Plan, planted_telemetry
from pipeline.sample.telemetry_forms import hwinfo_file, nvidia_smi_file
from pipeline.sample.telemetry_runs import Category
from pipeline.settings import bundled

STILL = Plan(
    categories=(Category("general", 400, 1_200),),
    repeats=2,
    run_spread_frac=0.0,
    length_spread_frac=0.0,
    noise_w=0.0,
)


def counted_j(plan: Plan) -> list[float]:
    """Return the true energy of each run."""
    joules: list[float] = planted_telemetry(plan, seed=1)[1]["true_energy_j"].to_list()
    return joules


def test_the_energy_of_a_run_is_watts_times_seconds() -> None:
    # 400 tokens at 20,000 a second fill one tenth of a second at 500 W, 1,200 tokens at 100 a
    # second take 12 s at 260 W.
    assert counted_j(STILL) == [pytest.approx(0.1 * 500 + 12 * 260)] * 2


def test_the_same_seed_gives_the_same_session_and_another_seed_another() -> None:
    plan = Plan(repeats=1)
    samples, runs = planted_telemetry(plan, seed=5)
    again = planted_telemetry(plan, seed=5)

    assert samples.schema == SCHEMA
    assert samples.equals(again[0])
    assert runs.equals(again[1])
    assert not samples.equals(planted_telemetry(plan, seed=6)[0])


def test_planted_effects_are_as_large_as_planned() -> None:
    [plain, _] = counted_j(STILL)
    category = Category("general", 400, 1_200, effect_frac=0.2)

    assert counted_j(replace(STILL, categories=(category,)))[0] == pytest.approx(1.2 * plain)
    assert counted_j(replace(STILL, order_frac=0.05)) == pytest.approx([plain, 1.05 * plain])
    assert counted_j(replace(STILL, heat_frac_per_c=0.01))[1] > plain


def test_the_counter_holds_what_the_runs_drew_and_can_be_reset() -> None:
    samples, runs = planted_telemetry(STILL, seed=1)
    reset = planted_telemetry(replace(STILL, counter_reset_at_s=100.0), seed=1)[0]
    # bare 60 s at 75 W, loading 10 s at 160 W, loaded 60 s at 120 W; 20 s of rest, then 60 s
    resting_j = 60 * 75 + 10 * 160 + 60 * 120 + (20 + 60) * 120

    assert samples["energy_counter_j"][-1] == pytest.approx(
        resting_j + runs["true_energy_j"].sum(), abs=120
    )
    assert reset.filter(pl.col("energy_counter_j").diff() < 0).height == 1


def test_a_skewed_clock_gains_and_lost_samples_are_lost() -> None:
    plain, _ = planted_telemetry(STILL, seed=1)
    skewed, _ = planted_telemetry(replace(STILL, clock_offset_s=3.0, clock_skew_frac=0.01), seed=1)
    dropped, _ = planted_telemetry(replace(STILL, dropped_frac=0.1), seed=1)

    late_s = (skewed["sampled_at"] - plain["sampled_at"]).dt.total_microseconds() / 1e6
    assert late_s[0] == 3.0
    assert late_s[100] == pytest.approx(3.0 + 100 * 0.01)
    assert dropped.height == pytest.approx(0.9 * plain.height, rel=0.05)


def test_an_averaged_reading_is_the_mean_of_the_seconds_before_it() -> None:
    samples, runs = planted_telemetry(replace(STILL, averaging_s=4.0), seed=1)
    [start, _] = runs["started_at"]
    [shown_w] = samples.filter(pl.col("sampled_at") == start + timedelta(seconds=2))["power_w"]

    # Two seconds into the run: 2 s at the loaded 120 W, 0.1 s of prefill, 1.9 s of decode.
    assert shown_w == pytest.approx((2 * 120 + 0.1 * 500 + 1.9 * 260) / 4, abs=0.01)


def test_a_cap_binds_in_prefill_alone_and_a_lock_saves_decode_power_for_no_time() -> None:
    plan = replace(STILL, categories=(Category("long", 400_000, 1_200),), tells_phases=True)
    free = planted_telemetry(plan, seed=1)[1]
    capped = planted_telemetry(replace(plan, power_cap_w=400.0), seed=1)[1]
    locked = planted_telemetry(replace(plan, clock_lock_mhz=1_590.0), seed=1)[1]

    def seconds(runs: pl.DataFrame) -> list[float]:
        spans = (runs["ended_at"] - runs["started_at"]).dt.total_microseconds() / 1e6
        return [float(span) for span in spans[:2]]

    # 400 W of 500 W leave (400 − 120) / (500 − 120) = 0.737 of the dynamic power: 0.737^(1/1.3)
    # = 0.7907 of the clock: 20 s of prefill take 25.30 s, told in whole tenths. Decode draws 260 W.
    assert seconds(free) == [20.0, 12.0]
    assert seconds(capped) == [pytest.approx(25.3, abs=0.05), 12.0]
    # Decode goes as fast at 1590 MHz; its 140 W of dynamic power fall by (1590 / 1830)^1.3 = 0.833.
    assert seconds(locked)[1] == 12.0
    assert locked["true_energy_j"][1] == pytest.approx(12 * (120 + 140 * 0.8330), rel=1e-3)


def test_firmware_holds_the_clock_down_below_the_limit_and_says_so() -> None:
    samples, _ = planted_telemetry(
        replace(STILL, firmware_throttle_every_s=5.0, step_s=0.1), seed=1
    )
    held = samples.filter(pl.col("throttle_reasons") == "sw_power_cap")

    assert held["sm_clock_mhz"].unique().to_list() == [1281.0]  # 0.7 × 1830
    assert held.select((pl.col("power_w") < pl.col("power_limit_w")).all()).item()


def test_a_session_written_as_nvidia_smi_reads_back_as_it_was(tmp_path: Path) -> None:
    samples, _ = planted_telemetry(Plan(repeats=1, power_cap_w=240.0, step_s=0.25), seed=2)
    (tmp_path / "smi.csv").write_bytes(nvidia_smi_file(samples))
    told = [name for name in SCHEMA if name not in ("energy_counter_j", "source_file")]

    read = read_telemetry([tmp_path / "smi.csv"]).samples

    assert read.select(told).equals(samples.select(told))


def test_a_session_written_as_hwinfo_reads_back_as_it_was_but_for_what_it_cannot_tell(
    tmp_path: Path,
) -> None:
    samples, _ = planted_telemetry(Plan(repeats=1, power_cap_w=240.0), seed=2)
    (tmp_path / "hwinfo.csv").write_bytes(hwinfo_file(samples))
    untold = ("energy_counter_j", "power_limit_w", "throttle_reasons", "source_file")
    told = [name for name in SCHEMA if name not in untold]

    read = read_telemetry([tmp_path / "hwinfo.csv"]).samples

    assert read.select(told).equals(samples.select(told))
    is_capped = samples["throttle_reasons"] == "sw_power_cap"
    assert is_capped.sum() > 0
    assert ((read["throttle_reasons"] == "power") == is_capped).all()


def test_the_bundled_sessions_are_read_whole_and_the_cap_binds_in_prefill_alone() -> None:
    folder = bundled("data/sample/telemetry")
    telemetry = read_telemetry(sorted(folder.glob("*.csv.gz")))
    capped = read_telemetry([folder / "policy-cap-400w.csv.gz"]).samples
    busy = capped.filter(pl.col("utilisation_frac") > 0)
    at_limit = busy.filter(pl.col("power_w") > 390)

    assert [file.form for file in telemetry.files] == ["HWiNFO64", *["nvidia-smi --query-gpu"] * 3]
    assert {file.rows_rejected for file in telemetry.files} == {0}
    assert busy["power_limit_w"].unique().to_list() == [400.0]
    # Six prefills of 120,000 tokens, 6 s each at full clock and 7.6 s at 0.7907 of it.
    assert at_limit.height == pytest.approx(6 * 76, rel=0.02)
    assert at_limit["throttle_reasons"].unique().to_list() == ["sw_power_cap"]
