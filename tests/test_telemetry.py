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


@pytest.mark.parametrize("text", [hwinfo(), nvidia_smi()], ids=["hwinfo", "nvidia-smi"])
def test_200_w_for_600_s_is_120_kj(tmp_path: Path, text: str) -> None:
    telemetry = read(tmp_path, text)

    assert telemetry.samples.schema == SCHEMA
    assert joules(telemetry.samples) == pytest.approx(200 * 600, rel=1e-3)
    [file] = telemetry.files
    assert file.rows_accepted == 601
    assert file.rows_read == file.rows_accepted + file.rows_rejected + file.rows_duplicate


def test_a_missing_an_empty_and_a_foreign_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="no such file"):
        read_telemetry([tmp_path / "none.csv"])
    with pytest.raises(IncompleteInputError, match="an empty file"):
        read(tmp_path, "\n \n")
    with pytest.raises(BadInputError, match="expected a power log"):
        read(tmp_path, "a,b\n1,2\n")
