"""Energy of a run by hand: edges, counters, gaps, GPUs, and what cannot be told."""

import math
from pathlib import Path

import polars as pl
import pytest
from audited import at, log, measured, run_line, runs_file

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError


def step(second: float) -> float:
    """Return 20 W, and 200 W from second 60 to 660."""
    return 200.0 if 60 <= second <= 660 else 20.0


def test_200_w_for_600_s_are_120_kj(tmp_path: Path) -> None:
    found = measured(log(range(800), step), runs_file(tmp_path, run_line("a", 60, 660)))["a"]

    assert found["energy_j"] == pytest.approx(200 * 600, rel=1e-3)
    assert found["mean_power_w"] == pytest.approx(200.0)
    assert found["energy_basis"] == "trapezoid"


def test_edges_between_readings_are_interpolated(tmp_path: Path) -> None:
    # 10 W a second more each second: from 2.5 s (25 W) to 5.25 s (52.5 W).
    ramp = log(range(10), lambda second: 10 * second)

    found = measured(ramp, runs_file(tmp_path, run_line("a", 2.5, 5.25)))["a"]

    assert found["trapezoid_j"] == pytest.approx((25 + 52.5) / 2 * 2.75)


def test_a_fast_log_of_repeated_values_and_a_slow_one_agree(tmp_path: Path) -> None:
    def load(second: float) -> float:
        told_at = round(second * 20) // 2 / 10  # the sensor moves every 0.1 s
        return 150 + 60 * math.sin(told_at / 6) if 30 <= second < 230 else 20.0

    file = runs_file(tmp_path, run_line("a", 30, 230))
    fast = log([each * 0.05 for each in range(5200)], load)
    slow = log(range(260), load)

    assert fast.select((pl.col("power_w").diff() == 0).mean()).item() > 0.45
    ratio = measured(fast, file)["a"]["energy_j"] / measured(slow, file)["a"]["energy_j"]  # type: ignore[operator]
    assert ratio == pytest.approx(1, abs=0.01)


def test_a_counter_that_restarts_goes_on(tmp_path: Path) -> None:
    # 100 W throughout; the counter starts anew at 50 s.
    def counter(second: float) -> float:
        return 5000 + 100 * second if second < 50 else 100 * (second - 50)

    samples = log(range(100), lambda _: 100.0, counter_j=counter)

    found = measured(samples, runs_file(tmp_path, run_line("a", 20.5, 80.5)))["a"]

    assert found["counter_j"] == pytest.approx(100 * 60)
    assert found["counter_reset_count"] == 1
    assert found["difference_frac"] == pytest.approx(0)
    assert found["energy_basis"] == "counter"


def test_a_counter_alone_tells_energy_and_no_power_is_never_0_w(tmp_path: Path) -> None:
    file = runs_file(tmp_path, run_line("a", 20, 80))
    counted = log(range(100), lambda _: None, counter_j=lambda second: 50 * second)
    blind = log(range(100), lambda _: None)

    assert measured(counted, file)["a"]["energy_j"] == pytest.approx(50 * 60)
    assert measured(counted, file)["a"]["trapezoid_j"] is None
    assert measured(blind, file)["a"]["energy_j"] is None
    assert measured(blind, file)["a"]["energy_reason"] == (
        "no power and no energy counter in the log at its time"
    )


def test_runs_that_overlap_or_leave_the_log_have_no_energy_and_say_why(tmp_path: Path) -> None:
    file = runs_file(
        tmp_path,
        run_line("early", -10, 5),
        run_line("good", 10, 20),
        run_line("one", 30, 50),
        run_line("two", 40, 60),
        run_line("late", 95, 120),
        run_line("away", 200, 220),
    )

    found = measured(log(range(100), lambda _: 100.0), file)

    assert {name: row["energy_reason"] for name, row in found.items()} == {
        "early": "begins before the log",
        "good": None,
        "one": "overlaps another run on its GPU",
        "two": "overlaps another run on its GPU",
        "late": "ends after the log",
        "away": "lies outside the log",
    }


def test_a_run_in_a_gap_is_not_guessed(tmp_path: Path) -> None:
    seconds = [*range(40), *range(60, 100)]  # 39 to 60 s are missing

    found = measured(
        log(seconds, lambda _: 100.0),
        runs_file(tmp_path, run_line("a", 10, 50), run_line("b", 61, 90)),
    )

    assert found["a"]["covered_frac"] == pytest.approx(1 - 11 / 40)
    assert found["a"]["energy_reason"] == "too much of it lies in gaps of the log"
    assert found["b"]["energy_j"] == pytest.approx(2900)


def test_runs_find_their_gpu_and_without_one_take_all(tmp_path: Path) -> None:
    both = pl.concat([log(range(100), lambda _: 100.0), log(range(100), lambda _: 30.0, "1")])
    file = runs_file(
        tmp_path,
        run_line("own", 10, 20, "m", "general", 1, 9, "1"),
        run_line("same time", 10, 20, "m", "general", 1, 9, "0"),
        run_line("gone", 30, 40, "m", "general", 1, 9, "7"),
        run_line("all", 50, 60, "m", "general", 1, 9, ""),
        head="run_id,started_at,ended_at,model,category,input_tokens,output_tokens,gpu",
    )

    found = measured(both, file)

    assert found["own"]["energy_j"] == pytest.approx(300)
    assert found["same time"]["energy_j"] == pytest.approx(1000)
    assert found["gone"]["energy_reason"] == "its GPU is not in the log"
    assert found["all"]["energy_j"] == pytest.approx(1300)


# The runs file -------------------------------------------------------------------------------


def test_a_bad_row_is_set_aside_with_its_line_and_the_others_count(tmp_path: Path) -> None:
    file = runs_file(
        tmp_path,
        run_line("a", 0, 10),
        run_line("b", 10, 5),
        run_line("c", 20, 30, "m", "general", 10, -1),
        f"d,yesterday,{at(9).isoformat()},m,general,1,1",
        run_line("e", 40, 50),
        run_line("e", 60, 70),
        run_line("f", 80, 90, "m", "general", 10, 0),
        run_line("g", 95, 99, "", "blank", "", ""),
    )

    assert file.runs.get_column("run_id").to_list() == ["a", "g"]
    assert file.row_count == 8 == file.runs.height + file.set_aside.height
    assert dict(file.set_aside.select("source_line", "reason").rows()) == {
        3: "ended_at is not after started_at",
        4: "output_tokens is no whole number of 0 or more",
        5: "started_at is no ISO time",
        6: "this run_id stands there more than once",
        7: "this run_id stands there more than once",
        8: "no output tokens: call it blank if nothing was asked",
    }


def test_times_without_a_zone_are_of_the_zone_that_is_told(tmp_path: Path) -> None:
    from pipeline.audit.runs import read_runs

    path = tmp_path / "runs.csv"
    rows = "a,2026-10-05 11:00:00,2026-10-05T11:00:10.5,m,c,1,1\n"
    path.write_text(f"run_id,started_at,ended_at,model,category,input_tokens,output_tokens\n{rows}")

    [started] = read_runs(path, "Europe/Madrid").runs.get_column("started_at").to_list()

    assert started == at(0)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", IncompleteInputError, "empty"),
        ("run_id,started_at\na,b\n", BadInputError, "missing: ended_at, model"),
        ("run_id,started_at,ended_at,model,category,input_tokens,output_tokens,mood\n",
         BadInputError, "not known: mood"),
        ("run_id,started_at,ended_at,model,category,input_tokens,output_tokens\n",
         IncompleteInputError, "found none"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_runs_file_is_refused(
    tmp_path: Path, text: str, error: type[Exception], said: str
) -> None:
    from pipeline.audit.runs import read_runs

    path = tmp_path / "runs.csv"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(error, match=said):
        read_runs(path)
    with pytest.raises(WrongUseError, match="no such file"):
        read_runs(tmp_path / "other.csv")
