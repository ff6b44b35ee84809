"""Power logs of every form: what is read, what is refused and why, with energy worked by hand."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.ingest.containers import UnknownFormError
from pipeline.ingest.detect import recognise
from pipeline.ingest.telemetry import SCHEMA, Telemetry, read_telemetry
from pipeline.sample.telemetry import Plan, planted_telemetry
from pipeline.sample.telemetry_forms import nvidia_smi_file

START = datetime(2026, 10, 5, 9, 0, 0, tzinfo=UTC)
SECONDS = range(601)  # 601 samples, one a second: 600 s


def read(tmp_path: Path, text: str | bytes, zone: str = "UTC", **options: list[str]) -> Telemetry:
    path = tmp_path / "log"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_telemetry([path], zone=zone, **options)


def joules(samples: pl.DataFrame) -> float:
    """Integrate power by trapezoid: half the sum of neighbours times the step between them."""
    step_s = samples["sampled_at"].diff().dt.total_microseconds() / 1e6
    mean_w = (samples["power_w"] + samples["power_w"].shift()) / 2
    return float((step_s * mean_w).sum())


def at(second: float, form: str) -> str:
    return (START + timedelta(seconds=second)).strftime(form)


def hwinfo_day(second: float) -> str:
    moment = START + timedelta(seconds=second)
    day = f"{moment.day}.{moment.month}.{moment.year}"
    return f"{day},{moment:%H:%M:%S}.{moment.microsecond // 1000:03}"


def hwinfo(power_w: float = 200.0) -> str:
    names = ("CPU Package Power [W]", "GPU Temperature [°C]", "GPU Power [W]", "GPU Clock [MHz]")
    head = "Date,Time," + "".join(f'"{name}",' for name in names)
    rows = [f"{hwinfo_day(second)},45.1,61.0,{power_w},1830.0," for second in SECONDS]
    return "\r\n".join([head, *rows, head]) + "\r\n"


def smi_time(second: float) -> str:
    return at(second, "%Y/%m/%d %H:%M:%S.%f")[:-3]


def nvidia_smi(power_w: float = 200.0) -> str:
    rows = [f"{smi_time(second)}, 0, {power_w:.2f} W, 96 %, [N/A]" for second in SECONDS]
    head = "timestamp, index, power.draw [W], utilization.gpu [%], power.limit [W]"
    return "\n".join([head, *rows]) + "\n"


def gpu_z() -> str:
    head = "Date , GPU Clock [MHz] , GPU Temperature [°C] , GPU Load [%] , Board Power Draw [W] ,"
    rows = [f"{at(second, '%Y-%m-%d %H:%M:%S')} , 1830.0 , - , 97 , 200.0 ," for second in SECONDS]
    return "\r\n".join([head, *rows]) + "\r\n"


def afterburner() -> str:
    day = "%d-%m-%Y %H:%M:%S"
    head = [
        f"00, {at(0, day)}, Hardware monitoring log v1.6 ",
        f"01, {at(0, day)}, NVIDIA GeForce RTX 4070 Ti SUPER",
        f"02, {at(0, day)}, GPU temperature     ,Power               ,Core clock          ",
        f"03, {at(0, day)}, 0                   ,°C                  ,0.000 ,100.000 ",
        f"03, {at(0, day)}, 1                   ,W                   ,0.000 ,300.000 ",
        f"03, {at(0, day)}, 2                   ,MHz                 ,0.000 ,3000.000 ",
    ]
    rows = [f"80, {at(second, day)}, 61.000 ,200.000 ,2610.000 " for second in SECONDS]
    return "\n".join([*head, *rows])


def dmon() -> str:
    head = [
        "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk",
        "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz",
    ]
    rows = [
        f" {at(second, '%Y%m%d   %H:%M:%S')}    0    200     61      -     97     50   2619   1830"
        for second in SECONDS
    ]
    return "\n".join([*head, *rows[:300], *head, *rows[300:]])


def dcgm() -> str:
    label = '{gpu="0",UUID="GPU-a",modelName="NVIDIA H200"}'
    return "".join(
        f"# {at(second, '%Y-%m-%dT%H:%M:%SZ')}\n"
        "# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n"
        f"DCGM_FI_DEV_POWER_USAGE{label} 200.000000\n"
        # 200 W are 200,000 mJ a second
        f"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{label} {5_000_000 + 200_000 * second}\n"
        for second in SECONDS
    )


def powermetrics() -> str:
    return "".join(
        f"*** Sampled system activity ({at(second, '%a %b %d %H:%M:%S %Y +0000')}) "
        "(1000.00ms elapsed) ***\n\n**** GPU usage ****\n\n"
        "CPU Power: 900 mW\nGPU Power: 200000 mW\n"
        for second in SECONDS
    )


def power_gadget() -> str:
    head = (
        "System Time,RDTSC,Elapsed Time (sec),Processor Power_0(Watt),"
        "Cumulative Processor Energy_0(Joules),Cumulative Processor Energy_0(mWh)"
    )
    rows = [
        f"{at(second, '%H:%M:%S')}:000,1,{second}.0,200.0,{200.0 * second},{200 * second / 3.6}"
        for second in SECONDS
    ]
    return "\n".join([head, *rows, "", "Total Elapsed Time (sec) = 600.0"])


def energibridge(gpu: bool = True) -> str:
    start_ms = int(START.timestamp() * 1000)
    head = "Delta,Time,CPU_ENERGY (J)" + (",GPU0_POWER (mWatts),GPU0_USAGE" if gpu else "")
    # A row is taken Delta after its Time: the first at the start, the next a second later.
    rows = [
        f"{0 if second == 0 else 1000},{start_ms + 1000 * max(second - 1, 0)},{7e4 + 200 * second}"
        + (",200000,97" if gpu else "")
        for second in SECONDS
    ]
    return "\n".join([head, *rows])


def codecarbon() -> str:
    head = (
        "timestamp,project_name,run_id,duration,emissions,"
        "gpu_power,gpu_energy,energy_consumed,gpu_count"
    )
    # One tracker tells its sum after 300 s and again after 600 s: 60 kJ and 120 kJ in kWh.
    rows = [
        f"{at(second, '%Y-%m-%dT%H:%M:%S')},p,r,{second},0,0.1,{200 * second / 3.6e6},1,1"
        for second in (300, 600)
    ]
    return "\n".join([head, *rows])


def zeus() -> str:
    started_s = START.timestamp()
    rows = [f"{started_s + 300 * part},w{part},300.0,60000.0" for part in range(2)]
    return "\n".join(["start_time,window_name,elapsed_time,gpu0_energy", *rows])


FORMS = {
    "HWiNFO64": hwinfo,
    "nvidia-smi --query-gpu": nvidia_smi,
    "GPU-Z": gpu_z,
    "MSI Afterburner": afterburner,
    "nvidia-smi dmon": dmon,
    "DCGM exporter": dcgm,
    "powermetrics": powermetrics,
    "Intel Power Gadget": power_gadget,
    "EnergiBridge": energibridge,
    "CodeCarbon": codecarbon,
    "Zeus": zeus,
}
COUNTERS = {"DCGM exporter", "powermetrics", "Intel Power Gadget", "CodeCarbon", "Zeus"}


@pytest.mark.parametrize("form", FORMS)
def test_200_w_for_600_s_is_120_kj_in_every_form(tmp_path: Path, form: str) -> None:
    telemetry = read(tmp_path, FORMS[form]())
    samples = telemetry.samples
    [file] = telemetry.files

    assert file.form == form
    assert samples.schema == SCHEMA
    assert joules(samples) == pytest.approx(200 * 600, rel=1e-3)
    counter = samples["energy_counter_j"]
    if form in COUNTERS:
        assert counter[-1] - counter[0] == pytest.approx(200 * 600, rel=1e-3)
    else:
        assert counter.null_count() == samples.height
    assert file.rows_rejected == 0
    assert file.rows_read == file.rows_accepted + file.rows_rejected + file.rows_duplicate


def test_without_a_gpu_energibridge_tells_of_the_processor_by_counter(tmp_path: Path) -> None:
    telemetry = read(tmp_path, energibridge(gpu=False))
    counter = telemetry.samples["energy_counter_j"]

    assert counter[-1] - counter[0] == pytest.approx(120_000)
    assert telemetry.samples["gpu"].unique().to_list() == ["processor"]
    assert "no GPU in this log" in telemetry.files[0].notes[0]


def test_a_missing_an_empty_and_a_foreign_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="no such file"):
        read_telemetry([tmp_path / "none.csv"])
    with pytest.raises(IncompleteInputError, match="an empty file"):
        read(tmp_path, "\n \n")
    with pytest.raises(BadInputError, match="expected a power log"):
        read(tmp_path, "a,b\n1,2\n")


def test_a_50_ms_log_with_repeated_values_agrees_with_a_1_s_log(tmp_path: Path) -> None:
    # The load changes every 0.1 s at most, so at 50 ms every value comes twice, as sensors do it.
    plan = Plan(repeats=1, noise_w=0.0)
    logs = [replace(plan, step_s=0.05), replace(plan, averaging_s=1.0)]
    joules_of = []
    for plan in logs:
        samples, _ = planted_telemetry(plan, seed=4)
        joules_of.append(joules(read(tmp_path, nvidia_smi_file(samples)).samples))
    fast = planted_telemetry(logs[0], seed=4)[0]
    true_j = fast["energy_counter_j"][-1]

    assert (fast["power_w"].diff() == 0).sum() > fast.height / 2
    assert joules_of == pytest.approx([true_j, true_j], rel=0.01)


REAL = {
    "hwinfo_2017_amd_excerpt_header_repeated.csv": ("HWiNFO64", 43, 42, 1, 114.125),
    "hwinfo_en_excerpt_header_twice_plus_sensor_row.csv": ("HWiNFO64", 30, 28, 2, 12.616),
    "nvidia_smi_50ms_power_only.csv": ("nvidia-smi --query-gpu", 46, 46, 0, 22.89),
    "nvidia_smi_a100_100ms_locked_clock_excerpt.csv": ("nvidia-smi --query-gpu", 28, 28, 0, 68.24),
    "nvidia_smi_units_in_cells.csv": ("nvidia-smi --query-gpu", 25, 25, 0, 71.8),
    "msi_afterburner_v1.6_two_sessions_excerpt.hml": ("MSI Afterburner", 73, 73, 0, None),
    "powermetrics_m1_text.txt": ("powermetrics", 10, 10, 0, 0.153),
    "intel_power_gadget_from_pandas.csv": ("Intel Power Gadget", 12, 12, 0, 1.428),
    "energibridge_windows_amd_excerpt.csv": ("EnergiBridge", 43, 43, 0, None),
    # 8.236909e-05 kWh × 3.6e6 J/kWh / 355.466 s
    "codecarbon_emissions_v2.csv": ("CodeCarbon", 28, 28, 0, 0.834),
}
REFUSED = {
    "codecarbon_emissions_v1_header.csv": "column gpu_energy, found the whole machine alone",
    "codecarbon_emissions_v3_header.csv": "no GPU tracked: gpu_count is empty",
    "dcgm_exporter_t4_excerpt.prom": r"time of each scrape.*8\.969 W.*128,996\.013 J",
    "llm_metrics_energy_per_token.csv": "a table without a time of sampling",
    "m1_power_headerless.csv": "rows without names and without a time",
}


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_is_read_whole(samples: Path, name: str) -> None:
    form, read_count, accepted_count, duplicate_count, first_w = REAL[name]
    telemetry = read_telemetry([samples / "telemetry" / name])
    [file] = telemetry.files

    assert (file.form, file.rows_read, file.rows_accepted) == (form, read_count, accepted_count)
    assert (file.rows_rejected, file.rows_duplicate) == (0, duplicate_count)
    power_w = telemetry.samples["power_w"][0]
    assert power_w == (None if first_w is None else pytest.approx(first_w, rel=1e-3))


@pytest.mark.parametrize("name", REFUSED)
def test_a_real_file_that_tells_no_power_in_time_is_refused_for_that(
    samples: Path, name: str
) -> None:
    with pytest.raises(BadInputError, match=REFUSED[name]):
        read_telemetry([samples / "telemetry" / name])


def test_every_real_file_is_tested(samples: Path) -> None:
    names = {path.name for path in (samples / "telemetry").iterdir()} - {"README.md"}

    assert names == {*REAL, *REFUSED}


def test_a_power_log_is_no_usage_log_and_is_sent_to_the_audit(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(dcgm(), encoding="utf-8")
    (tmp_path / "runs.csv").write_text("run_id,started_at,ended_at,model,category\n", "utf-8")

    for name, option in (("log.txt", "--telemetry"), ("runs.csv", "--runs")):
        with pytest.raises(UnknownFormError, match=f"joulebook audit {option} FILE"):
            recognise(tmp_path / name)


@pytest.mark.slow
def test_100_mb_are_read_in_10_seconds(tmp_path: Path) -> None:
    head = "timestamp, index, power.draw [W], utilization.gpu [%], clocks.current.sm [MHz]\n"
    rows = "".join(
        f"{smi_time(second / 10)}, 0, 200.00 W, 96 %, 1830 MHz\n" for second in range(200_000)
    )
    path = tmp_path / "log"
    path.write_text(head + rows, encoding="utf-8")
    started_s = time.process_time()

    telemetry = read_telemetry([path])

    used_s = time.process_time() - started_s  # of all processors: other work does not count
    assert telemetry.samples.height == 200_000
    assert used_s * 100e6 / path.stat().st_size < 10
