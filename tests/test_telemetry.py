"""Power logs of every form: what is read, what is refused and why, with energy worked by hand."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.ingest.telemetry import SCHEMA, Telemetry, read_telemetry

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
