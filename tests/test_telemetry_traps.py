"""Traps in power logs as loggers really write them, and bad input: named, with what still holds."""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from test_telemetry import read

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError
from pipeline.ingest.telemetry import read_telemetry

SMI = "timestamp, index, power.draw [W], clocks.current.sm [MHz]\n"


def smi_rows(*cells: str) -> str:
    """Return one row a second from 9:00, of the cells after the time."""
    return "".join(
        f"2026/10/05 09:00:{second:02}.000, {text}\n" for second, text in enumerate(cells)
    )


# HWiNFO64 -----------------------------------------------------------------------------------------


def test_a_sensor_row_tells_two_gpus_of_the_same_column_names_apart(tmp_path: Path) -> None:
    columns = '"GPU Clock [MHz]","GPU Power [W]","GPU Clock [MHz]","GPU Power [W]",'
    log = (
        f'Date,Time,"Read Rate [MB/s]","GPU Clock [MHz]",{columns}\n'
        "13.8.2025,13:58:50.898,1,300,1000,100.5,2000,200.5,\n"
        f'Date,Time,"Read Rate [MB/s]","GPU Clock [MHz]",{columns}\n'
        # The name of the drive holds a comma and no quotes: the row has one field more.
        ",,Drive: X [C:, D:],CPU [#0]: Y: Enhanced,"
        "GPU [#0]: A,GPU [#0]: A,GPU [#1]: B,GPU [#1]: B,\n"
    )
    telemetry = read(tmp_path, log)
    wanted = ("gpu", "gpu_name", "sm_clock_mhz", "power_w")

    assert telemetry.samples.select(wanted).rows() == [
        ("0", "A", 1000.0, 100.5),
        ("1", "B", 2000.0, 200.5),
    ]
    [file] = telemetry.files
    assert (file.rows_read, file.rows_accepted, file.rows_duplicate) == (3, 1, 2)


def test_without_a_sensor_row_two_gpus_are_told_apart_by_place(tmp_path: Path) -> None:
    log = (
        "Date,Time,GPU Clock [MHz],GPU Clock [MHz],GPU Power [W],GPU Clock [MHz],GPU Power [W]\n"
        "13.8.2025,13:58:50.898,300,1000,100.5,2000,200.5\n"
    )
    samples = read(tmp_path, log).samples

    assert samples.select("gpu", "sm_clock_mhz", "power_w").rows() == [
        ("0", 1000.0, 100.5),
        ("1", 2000.0, 200.5),
    ]


def test_without_a_sensor_row_the_clock_next_to_the_power_is_taken_and_told(tmp_path: Path) -> None:
    log = (
        "Date,Time,GPU Clock [MHz],CPU Package Power [W],Other [V],GPU Power [W],GPU Clock [MHz]\n"
        "13.8.2025,13:58:50.898,300,45,1,200,1830\n"
    )
    telemetry = read(tmp_path, log)

    assert telemetry.samples["sm_clock_mhz"].to_list() == [1830.0]
    assert "no sensor row" in telemetry.files[0].notes[0]


def test_a_head_in_utf_8_over_rows_in_gbk_is_read_by_unit(tmp_path: Path) -> None:
    head = (
        'Date,Time,"CPU 封装功率 [W]","GPU 温度 [℃]","GPU 热点温度 [℃]","GPU 功率 [W]",'
        '"GPU 总功率 [TDP 的百分比] [%]","GPU 频率 [MHz]","GPU 显存频率 [MHz]","GPU 核心负载 [%]",'
        '"性能限制 - 功率 [Yes/No]",\r\n'
    )
    row = "22.3.2025,10:00:00.000,45.1,61.0,70.0,200.5,70.0,1830.0,1250.0,97.0,是,\r\n"
    last = "22.3.2025,10:00:02.000,45.1,0.0,70.0,201.5,70.0,1830.0,1250.0,97.0,否,\r\n"
    data = b"\xef\xbb\xbf" + head.encode() + (row + last).encode("gbk")

    telemetry = read(tmp_path, data, zone="Asia/Shanghai")
    samples = telemetry.samples

    assert samples["sampled_at"][0] == datetime(2025, 3, 22, 2, 0, tzinfo=UTC)  # UTC+8
    assert samples["power_w"].to_list() == [200.5, 201.5]
    assert samples["temperature_c"].to_list() == [61.0, None]  # 0.0 °C in the last row is false
    assert samples["sm_clock_mhz"].to_list() == [1830.0, 1830.0]
    assert samples["memory_clock_mhz"].to_list() == [1250.0, 1250.0]
    assert samples["utilisation_frac"].to_list() == [0.97, 0.97]
    assert samples["throttle_reasons"].to_list() == ["功率", ""]
    assert telemetry.files[0].notes == ("1 temperatures of exactly 0 °C taken as unknown",)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_a_spreadsheet_s_semicolons_and_decimal_commas_are_read(
    tmp_path: Path, encoding: str
) -> None:
    log = (
        "Datum;Zeit;GPU-Temperatur [°C];GPU-Leistung [W];GPU-Takt [MHz];GPU-Speichertakt [MHz]\r\n"
        "13.08.2025;13:58:50,898;61,5;200,25;1830,0;1250,5\r\n"
    )
    samples = read(tmp_path, log.encode(encoding)).samples

    assert samples.select("temperature_c", "power_w", "sm_clock_mhz").row(0) == (61.5, 200.25, 1830)
    assert samples["sampled_at"][0].microsecond == 898_000


def test_parts_of_a_board_are_never_taken_for_the_board(tmp_path: Path) -> None:
    log = (
        "Date,Time,GPU Rail Powers (avg) [W],GPU Core (NVVDD) Output Power [W],"
        "GPU 8-pin #1 Input Power [W],GPU Temperature [°C]\n"
        "13.8.2025,13:58:50.898,5.3,4.8,9.5,61\n"
    )
    telemetry = read(tmp_path, log)

    assert telemetry.samples["power_w"].to_list() == [None]
    assert telemetry.files[0].notes == (
        "no power in this log, so no energy can be told; it still tells temperature_c",
    )


def test_a_log_of_the_processor_alone_is_refused(tmp_path: Path) -> None:
    log = "Date,Time,CPU Package Power [W],Total System Power [W]\n13.8.2025,13:58:50.898,45,90\n"

    with pytest.raises(BadInputError, match=r"power of other parts alone \(CPU Package Power"):
        read(tmp_path, log)


def test_a_row_with_other_fields_than_its_head_is_set_aside(tmp_path: Path) -> None:
    log = (
        "Date,Time,GPU Power [W],GPU Clock [MHz],\n"
        "13.8.2025,13:58:50.898,200,1830,\n"
        "13.8.2025,13:58:51.898,200,\n"
        "13.8.2025,13:58:52.898,200,1830,5,\n"
    )
    [file] = read(tmp_path, log).files

    assert file.rows_accepted == 1
    assert file.rejected == (
        (3, "4 fields where the head has 5"),
        (4, "6 fields where the head has 5"),
    )


def test_a_log_that_goes_on_with_other_columns_is_read_under_each_head(tmp_path: Path) -> None:
    log = (
        "Date,Time,GPU Power [W],GPU Clock [MHz]\n13.8.2025,13:58:50.898,200,1830\n"
        "Date,Time,GPU Clock [MHz],CPU Usage [%],GPU Power [W]\n13.8.2025,13:58:51.898,1700,5,150\n"
    )
    telemetry = read(tmp_path, log)

    assert telemetry.samples.select("power_w", "sm_clock_mhz").rows() == [(200, 1830), (150, 1700)]
    assert telemetry.files[0].rows_read == 2


# nvidia-smi ---------------------------------------------------------------------------------------


def test_several_gpus_without_an_index_are_told_apart_by_order(tmp_path: Path) -> None:
    rows = "".join(
        f"2026/10/05 09:00:{second:02}.{100 + gpu}, {power}.00 W\n"
        for second in range(5)
        for gpu, power in enumerate((100, 200, 300))
        if (second, gpu) != (3, 1)
    )
    telemetry = read(tmp_path, "timestamp, power.draw [W]\n" + rows)
    mean_w = telemetry.samples.group_by("gpu").agg(pl.col("power_w").mean()).sort("gpu")

    assert mean_w.rows() == [("0", 100.0), ("1", 200.0), ("2", 300.0)]
    [file] = telemetry.files
    assert (file.rows_accepted, file.rows_rejected) == (12, 2)
    assert file.rejected[0] == (11, "no GPU index, and 2 rows where the log has 3 at a time")
    assert "no GPU index: 3 rows at each instant" in file.notes[0]


def test_rows_without_a_head_need_the_names_of_their_columns(tmp_path: Path) -> None:
    rows = smi_rows("0, 200.10, 1830", "0, 200.20, 1830")
    columns = ["timestamp", "index", "power.draw", "clocks.sm"]

    with pytest.raises(BadInputError, match="Name the columns in the order of --query-gpu"):
        read(tmp_path, rows)
    telemetry = read(tmp_path, rows, columns=columns)
    assert telemetry.samples["power_w"].to_list() == [200.1, 200.2]
    assert telemetry.samples["sm_clock_mhz"].to_list() == [1830.0, 1830.0]
    with pytest.raises(BadInputError, match="line 1: 4 fields where the head has 3"):
        read(tmp_path, rows, columns=columns[:3])


def test_missing_cells_are_unknown_and_counted(tmp_path: Path) -> None:
    text = SMI + smi_rows("0, [N/A], 1830 MHz", "0, 200.00 W, [Not Supported]", "0, N/A, 1830 MHz")
    telemetry = read(tmp_path, text)

    assert telemetry.samples["power_w"].to_list() == [None, 200.0, None]
    assert telemetry.samples["sm_clock_mhz"].to_list() == [1830.0, None, 1830.0]
    assert telemetry.files[0].notes == ("power is missing in 2 of 3 samples",)


def test_a_head_told_again_is_a_duplicate_and_a_torn_row_is_set_aside(tmp_path: Path) -> None:
    text = SMI + smi_rows("0, 200.00 W, 1830 MHz") + SMI + smi_rows("0, 20")
    [file] = read(tmp_path, text).files

    assert (file.rows_read, file.rows_accepted, file.rows_duplicate) == (3, 1, 1)
    assert file.rejected == ((4, "3 fields where the head has 4"),)


@pytest.mark.parametrize(
    ("names", "cells", "expected"),
    [
        ("clocks_event_reasons.active", "0x0000000000000005", "gpu_idle;sw_power_cap"),
        ("clocks_throttle_reasons.active", "0x0000000000000000", ""),
        (
            "clocks_throttle_reasons.sw_power_cap, clocks_event_reasons.hw_slowdown",
            "Not Active, Active",
            "hw_slowdown",
        ),
        ("clocks_event_reasons.hw_slowdown", "[N/A]", None),
    ],
)
def test_throttle_reasons_come_as_bits_or_as_words(
    tmp_path: Path, names: str, cells: str, expected: str | None
) -> None:
    text = f"timestamp, power.draw [W], {names}\n2026/10/05 09:00:00.000, 200.00 W, {cells}\n"

    assert read(tmp_path, text).samples["throttle_reasons"].to_list() == [expected]


def test_a_reason_counted_in_microseconds_held_where_its_counter_grew(tmp_path: Path) -> None:
    text = (
        "timestamp, index, power.draw [W], clocks_event_reasons_counters.sw_power_cap [us]\n"
        + smi_rows("0, 200.00 W, 100 us", "0, 200.00 W, 100 us", "0, 200.00 W, 5100 us")
    )

    reasons = read(tmp_path, text).samples["throttle_reasons"].to_list()

    assert reasons == [None, "", "sw_power_cap"]


def test_dmon_without_times_is_refused_with_the_mean_power(tmp_path: Path) -> None:
    text = "# gpu    pwr  gtemp\n# Idx      W      C\n    0     64     30\n    0     66     30\n"

    with pytest.raises(BadInputError, match=r"GPU 0 65 W on average of 2.*dmon -o DT"):
        read(tmp_path, text)


def test_dmon_as_csv_tells_each_gpu_and_violations(tmp_path: Path) -> None:
    text = (
        "#Date, Time, gpu, pwr, gtemp, sm, pclk, pviol, tviol\n"
        "#YYYYMMDD, HH:MM:SS, Idx, W, C, %, MHz, %, bool\n"
        "20261005, 09:00:00, 0, 200, 61, 97, 1830, 12, 0\n"
        "20261005, 09:00:00, 1, -, 61, 97, 1830, 0, 0\n"
    )
    samples = read(tmp_path, text).samples

    assert samples.select("gpu", "power_w", "throttle_reasons").rows() == [
        ("0", 200.0, "power"),
        ("1", None, ""),
    ]


# Prometheus text ----------------------------------------------------------------------------------


def test_mig_slices_tell_the_board_s_counter_once_and_blanks_are_unknown(tmp_path: Path) -> None:
    def scrape(minute: int, millijoules: int) -> str:
        label = 'gpu="0",UUID="GPU-a",modelName="NVIDIA A100"'
        return f"# 2026-10-01T12:0{minute}:00Z\n" + "".join(
            f'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{{{label},GPU_I_ID="{part}"}} {millijoules}\n'
            f'DCGM_FI_DEV_GPU_TEMP{{{label},GPU_I_ID="{part}"}} 9223372036854775794\n'
            for part in (3, 5)
        )

    telemetry = read(tmp_path, scrape(0, 257_858_316) + scrape(1, 269_858_316))
    counter = telemetry.samples["energy_counter_j"].to_list()

    assert counter == [257_858.316, 269_858.316]  # 12,000 J in a minute: 200 W
    assert telemetry.samples["temperature_c"].null_count() == 2
    [file] = telemetry.files
    assert (file.rows_read, file.rows_accepted, file.rows_duplicate) == (8, 4, 4)
    assert "MIG slices" in file.notes[1]


# Windows tools ------------------------------------------------------------------------------------


def test_a_gpu_z_log_that_was_emptied_while_open_is_read_from_its_next_head(tmp_path: Path) -> None:
    text = (
        b"\0" * 40_020 + b" 46.0 , 1 , 0.0 ,\r\n"
        b"Date , GPU Temperature [\xb0C] , GPU Load [%] , Board Power Draw [W] , "
        b"PerfCap Reason [] ,\r\n"
        b"2024-04-11 14:43:16 , 46.0 , 97 , 200.5 , 17 ,\r\n"
    )
    telemetry = read(tmp_path, text)
    [file] = telemetry.files

    assert telemetry.samples.select("power_w", "temperature_c", "throttle_reasons").rows() == [
        (200.5, 46.0, "power;utilization")  # 17 = 1 + 16
    ]
    assert file.rejected == ((1, "stands before the head that names its columns"),)
    assert file.notes[0].startswith("40,020 NUL bytes left out")


def test_an_integrated_gpu_s_zero_watts_are_no_power(tmp_path: Path) -> None:
    text = "Date , GPU Temperature [°C] , GPU Power [W] ,\n" + "".join(
        f"2024-04-11 14:43:{second} , 46.0 , 0.0 ,\n" for second in (16, 17)
    )
    telemetry = read(tmp_path, text)

    assert telemetry.samples["power_w"].to_list() == [None, None]
    assert telemetry.samples["temperature_c"].to_list() == [46.0, 46.0]
    assert "0 W in every sample" in telemetry.files[0].notes[0]


def test_each_session_of_afterburner_has_its_own_columns(tmp_path: Path) -> None:
    def session(hour: int, names: list[str], units: list[str], row: str) -> str:
        day = f"05-10-2026 {hour:02}:00:0"
        return "\n".join(
            [
                f"00, {day}0, Hardware monitoring log v1.6 ",
                f"02, {day}0, {','.join(names)}",
                *(f"03, {day}0, {at} ,{unit} ,0 ,1 " for at, unit in enumerate(units)),
                f"80, {day}1, {row}\n",
            ]
        )

    text = session(9, ["GPU usage ", "Core clock "], ["%", "MHz"], "97.0 ,2610.0") + session(
        10, ["GPU1 power ", "GPU2 power ", "Power limit "], ["W", "W", ""], "200.0 ,100.0 ,1.0"
    )
    samples = read(tmp_path, text).samples

    assert samples.select("gpu", "power_w", "sm_clock_mhz", "throttle_reasons").rows() == [
        ("0", None, 2610.0, None),
        ("1", 200.0, None, None),
        ("2", 100.0, None, None),
    ]


# Spans --------------------------------------------------------------------------------------------


def test_zeus_windows_within_a_window_and_of_nothing_are_set_aside(tmp_path: Path) -> None:
    text = (
        "start_time,window_name,elapsed_time,gpu0_energy,gpu1_energy\n"
        "1000.0,inner,20.0,4000.0,2000.0\n"
        "990.0,outer,60.0,12000.0,6000.0\n"
        "1060.0,short,0.01,0.0,0.0\n"
    )
    telemetry = read(tmp_path, text)
    by_gpu = {
        gpu: rows["energy_counter_j"][-1] - rows["energy_counter_j"][0]
        for (gpu,), rows in telemetry.samples.group_by("gpu")
    }

    assert by_gpu == {"0": 12_000.0, "1": 6_000.0}
    [file] = telemetry.files
    assert file.rejected == (
        (2, "lies within a span whose energy is counted already"),
        (4, "0 J: a window shorter than the counter's step, so unknown"),
    )
    assert "not from 1970" in file.notes[0]


def test_codecarbon_s_growing_sums_count_once(tmp_path: Path) -> None:
    text = "timestamp,project_name,duration,emissions,energy_consumed,gpu_energy,gpu_count\n" + (
        "2026-10-05T09:01:00,p,60.4,0,1,0.001,1\n"
        "2026-10-05T09:02:00,p,119.9,0,1,0.003,1\n"  # the same tracker: 0.002 kWh more
        "2026-10-05T09:30:00,p,60.0,0,1,0.002,1\n"
        "2026-10-05T09:40:00,p,60.0,0,,,1\n"
    )
    telemetry = read(tmp_path, text)
    counter = telemetry.samples["energy_counter_j"]

    assert counter[-1] - counter[0] == pytest.approx(0.005 * 3.6e6)  # 0.001 + 0.002 + 0.002 kWh
    assert telemetry.files[0].rejected == ((5, "no gpu_energy"),)


# Bad input of any form ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ("0, -5.00 W, 1830 MHz", "power is below 0: -5.00 W"),
        ("0, NaN, 1830 MHz", "power is no number: NaN"),
        ("0, 2x0, 1830 MHz", "power is no number: 2x0"),
        ("0, 250000 W, 1830 MHz", "power is beyond belief: 250000 W"),
        ("0, [N/A], [N/A]", "nothing measured"),
    ],
)
def test_a_reading_that_cannot_be_one_is_set_aside_with_its_line(
    tmp_path: Path, cells: str, reason: str
) -> None:
    [file] = read(tmp_path, SMI + smi_rows("0, 200.00 W, 1830 MHz", cells)).files

    assert (file.rows_read, file.rows_accepted) == (2, 1)
    assert file.rejected == ((3, reason),)


def test_an_unreadable_time_is_set_aside_and_a_log_of_them_refused(tmp_path: Path) -> None:
    good = smi_rows("0, 200.00 W, 1830 MHz")
    bad = "2026/13/05 09:00:00.000, 0, 200.00 W, 1830 MHz\n"

    assert read(tmp_path, SMI + good + bad).files[0].rejected == ((3, "no readable time"),)
    with pytest.raises(BadInputError, match="none can be taken; line 2: no readable time"):
        read(tmp_path, SMI + bad)
    with pytest.raises(BadInputError, match="expected a column timestamp"):
        read(tmp_path, "index, power.draw [W]\n0, 200.00 W\n")
    with pytest.raises(IncompleteInputError, match="found its head alone"):
        read(tmp_path, SMI)


def test_a_clock_that_jumps_back_is_marked_by_line(tmp_path: Path) -> None:
    rows = smi_rows(*["0, 200.00 W, 1830 MHz"] * 10)
    again = smi_rows(*["0, 200.00 W, 1830 MHz"] * 5)
    telemetry = read(tmp_path, SMI + rows + again)

    assert telemetry.files[0].notes == ("the clock jumps back: line 12 by 9 s",)
    assert telemetry.samples["source_line"].to_list()[:4] == [2, 12, 3, 13]


def test_an_autumn_hour_that_comes_twice_is_an_hour_of_its_own(tmp_path: Path) -> None:
    # In Berlin 2026-10-25 the clock goes from 3:00 CEST back to 2:00 CET, which is 1:00 UTC.
    times = ("01:59:59", "02:30:00", "02:59:59", "02:00:00", "02:30:00", "03:00:00")
    rows = "".join(f"2026/10/25 {time}.000, 0, 200.00 W, 1830 MHz\n" for time in times)
    telemetry = read(tmp_path, SMI + rows, zone="Europe/Berlin")
    utc = [f"{moment:%H:%M:%S}" for moment in telemetry.samples["sampled_at"]]

    assert utc == ["23:59:59", "00:30:00", "00:59:59", "01:00:00", "01:30:00", "02:00:00"]
    assert telemetry.files[0].notes[0].startswith("4 samples lie in the hour that clocks")


def test_a_spring_hour_that_does_not_exist_is_set_aside(tmp_path: Path) -> None:
    rows = "".join(
        f"2026/03/29 {time}.000, 0, 200.00 W, 1830 MHz\n" for time in ("01:59:59", "02:30:00")
    )
    [file] = read(tmp_path, SMI + rows, zone="Europe/Berlin").files

    assert file.rejected == ((3, "a time that clocks in Europe/Berlin skip in spring"),)
    with pytest.raises(WrongUseError, match="no such zone"):
        read(tmp_path, SMI + rows, zone="Europe/Berlinn")


def test_hostile_names_and_cells_stay_text(tmp_path: Path) -> None:
    text = (
        "timestamp, index, name, power.draw [W]\n"
        "2026/10/05 09:00:00.000, 0, =cmd|' /C calc'!A1<script>, 200.00 W\n"
        "2026/10/05 09:00:01.000, 0, '; drop table x; --, " + "9" * 5_000 + " W\n"
    )
    telemetry = read(tmp_path, text)

    assert telemetry.samples["gpu_name"].to_list() == ["=cmd|' /C calc'!A1<script>"]
    [(line, reason)] = telemetry.files[0].rejected
    assert line == 3
    assert re.fullmatch(r"power is (no number|beyond belief): 9{20}", reason)


def test_several_files_make_one_table_sorted_by_gpu_and_time(tmp_path: Path) -> None:
    for name, gpu in (("b", "1"), ("a", "0")):
        (tmp_path / name).write_text(SMI + smi_rows(f"{gpu}, 200.00 W, 1 MHz"), encoding="utf-8")
    telemetry = read_telemetry([tmp_path / "b", tmp_path / "a"])

    assert telemetry.samples["gpu"].to_list() == ["0", "1"]
    assert [file.path.name for file in telemetry.files] == ["b", "a"]
