"""A month from `init` to closed, restated and proven: the README's walk, word for word."""

import csv
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from conftest import Rows, write_log
from loaded_process import loaded_process
from workspace_runs import files_of, run

pytestmark = pytest.mark.slow

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
MONTH = "2026-10"

GPT = {"provider": "openai", "model_name": "gpt-4o", "team": "search", "query_class": "chat"}
LLAMA = {"provider": "vllm", "team": "own", "user_id": "u-1"}
LOGS: Rows = [
    {**GPT, "request_id": "g-1", "input_tokens": 10_000, "output_tokens": 1_000},
    {**LLAMA, "request_id": "l-1", "input_tokens": 900, "output_tokens": 300},
    {**GPT, "request_id": "n-1", "input_tokens": 9, "output_tokens": 9,
     "occurred_at": "2026-11-02T10:00:00Z"},
]  # fmt: skip
LATE: Rows = [
    {**GPT, "request_id": "g-1", "input_tokens": 10_000, "output_tokens": 1_000},  # told again
    {**GPT, "request_id": "g-2", "input_tokens": 20_000, "output_tokens": 2_000},
]
KILLS = 10


@dataclass
class Walk:
    """The walk's folder, what each command said, and the files after each."""

    folder: Path
    said: dict[str, str] = field(default_factory=dict)
    reports: dict[str, dict[str, bytes]] = field(default_factory=dict)


def walk_commands() -> list[list[str]]:
    """Return the commands of the README's walk as words."""
    found = re.search(r"^## Every month: a workspace\n.*?^```sh\n(.*?)^```", README, re.M | re.S)
    assert found
    return [shlex.split(line, comments=True)[1:] for line in found.group(1).splitlines()]


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Walk as the README says, over a month whose costs can be worked by hand."""
    walk = Walk(tmp_path_factory.mktemp("walk"))
    for name, rows in (("logs", LOGS), ("late", LATE)):
        (walk.folder / name).mkdir()
        write_log(walk.folder / name / f"{name}.jsonl", rows)
    for words in walk_commands():
        if words[0] == "restate":
            _before_the_restatement(walk)
        ran = run(walk.folder, *words)
        assert ran.code == 0, (words, ran)
        walk.said[words[0]] = ran.out
        if words[0] in ("report", "close", "restate"):
            walk.reports[words[0]] = files_of(walk.folder / "reports" / MONTH)
    return walk


def _before_the_restatement(walk: Walk) -> None:
    """Report November with its correction, and October after what it cost has changed."""
    assert run(walk.folder, "report", "--month", "2026-11").code == 0
    walk.reports["november"] = files_of(walk.folder / "reports" / "2026-11")
    prices = walk.folder / "overlays" / "prices.csv"
    with prices.open("a", encoding="utf-8") as file:  # 5.00 where the list says 2.50
        file.write("openai,gpt-4o,uncached_input,standard,0,2026-10-01,,,,5,contract,2026-10-01\n")
    settings = walk.folder / "joulebook.toml"
    with settings.open("a", encoding="utf-8") as file:
        file.write("[assumptions]\npue_ratio = 2.4\n")  # twice the 1.20
    ran = run(walk.folder, "report", "--month", MONTH)
    assert ran.code == 0, ran
    walk.reports["closed"] = files_of(walk.folder / "reports" / MONTH)


def charges(files: dict[str, bytes]) -> list[dict[str, str]]:
    return list(csv.DictReader(files["focus.csv"].decode("utf-8").splitlines()))


def billed(files: dict[str, bytes]) -> Decimal:
    return sum((Decimal(row["BilledCost"]) for row in charges(files)), Decimal(0))


def test_a_closed_month_stays_the_same_to_the_byte(walk: Walk) -> None:
    # 10,000 · 2.50 + 1,000 · 10.00 = 35,000 millionths; own servers have no bill
    assert billed(walk.reports["report"]) == Decimal("0.035")
    assert walk.reports["closed"] == walk.reports["close"]
    assert json.loads(walk.reports["report"]["manifest.json"])["issue"] == "preliminary"
    assert json.loads(walk.reports["close"]["manifest.json"])["issue"] == "R0"


def test_late_usage_is_a_dated_correction_of_the_first_open_month(walk: Walk) -> None:
    late = [row for row in charges(walk.reports["november"]) if row["ChargeClass"] == "Correction"]

    # 20,000 · 2.50 + 2,000 · 10.00 = 70,000 millionths, at the price it was closed with
    assert [(row["BilledCost"], row["SubAccountId"], row["PricingQuantity"]) for row in late] == [
        ("0.070000000000000", "search", "1.0")
    ]
    assert (late[0]["ChargePeriodStart"], late[0]["BillingPeriodStart"]) == (
        "2026-10-01T00:00:00Z",
        "2026-11-01T00:00:00Z",
    )
    # and the request of November itself: 9 · 2.50 + 9 · 10.00
    assert billed(walk.reports["november"]) == Decimal("0.070") + Decimal("0.0001125")
    assert "Corrections of closed months" in walk.reports["november"]["index.html"].decode()


def test_a_restatement_is_explained_by_cause_to_the_last_digit(walk: Walk) -> None:
    record = json.loads((walk.folder / "closed" / MONTH / "R1" / "record.json").read_text())
    before = json.loads((walk.folder / "closed" / MONTH / "R0" / "record.json").read_text())
    cost = {step["cause"]: Decimal(step["cost_usd"]) for step in record["bridge"]}

    assert list(cost) == ["late usage", "price", "factor", "method", "mapping"]
    # late: as above. price: 30,000 tokens at 2.50 more. The price of power is in no cost here.
    assert cost.pop("late usage") == Decimal("0.07")
    assert cost.pop("price") == Decimal("0.075")
    assert set(cost.values()) == {0}
    assert billed(walk.reports["restate"]) == Decimal("0.035") + Decimal("0.07") + Decimal("0.075")
    for measure in ("cost_usd", "facility_energy_kwh", "carbon_gco2e"):
        steps = sum(Decimal(step[measure]) for step in record["bridge"])
        assert Decimal(before["totals"][measure]) + steps == Decimal(record["totals"][measure])
    power = {step["cause"]: Decimal(step["facility_energy_kwh"]) for step in record["bridge"]}
    # twice the PUE is twice the electricity of all that was used by then, to the unit of its sum
    used = Decimal(before["totals"]["facility_energy_kwh"]) + power["late usage"]
    assert power["factor"] == pytest.approx(used, abs=Decimal("2e-9"))
    assert "Restatement" in walk.reports["restate"]["index.html"].decode()
    for cause in ("late usage", "price", "factor", "method", "mapping"):
        assert cause in walk.said["restate"]


def test_a_restated_month_carries_no_correction_any_more(walk: Walk) -> None:
    with duckdb.connect(str(walk.folder / "warehouse.duckdb"), read_only=True) as con:
        assert con.execute("from corrections").fetchall() == []
        events = con.execute("select event, issue, reason from month_events order by event_id")
        assert events.fetchall() == [("close", "R0", ""), ("restate", "R1", "late logs")]


def test_status_and_verify_say_what_holds(walk: Walk, tmp_path: Path) -> None:
    assert re.search(r"2026-10\s+closed\s+R1\s", walk.said["status"])
    assert "2 of 2 inputs are the same" in walk.said["verify"]
    copy = tmp_path / MONTH
    shutil.copytree(walk.folder / "reports" / MONTH, copy)
    (copy / "focus.csv").write_bytes((copy / "focus.csv").read_bytes()[:-2])

    ran = run(walk.folder, "verify", str(copy))

    assert ran.code == 3
    assert "output focus.csv: different" in ran.out
    assert run(walk.folder, "status", "--max-age", "1d").code == 0
    assert run(tmp_path, "status").code == 2


def test_a_closed_month_can_be_opened_for_a_reason(walk: Walk) -> None:
    issued = files_of(walk.folder / "reports" / MONTH)
    assert run(walk.folder, "close", MONTH).code == 5
    frozen = max((walk.folder / "closed" / MONTH).iterdir()) / "reference" / "raw_prices.parquet"
    kept = frozen.read_bytes()
    frozen.write_bytes(kept + b"edited")
    ran = run(walk.folder, "report", "--month", MONTH)
    assert ran.code == 3
    assert "raw_prices.parquet: expected the file that was frozen, found: another one" in ran.err
    frozen.write_bytes(kept)
    assert files_of(walk.folder / "reports" / MONTH) == issued

    assert run(walk.folder, "reopen", MONTH, "--reason", " ").code == 2
    assert run(walk.folder, "reopen", MONTH, "--reason", "wrong invoice").code == 0
    assert "wrong invoice" in run(walk.folder, "status").out
    assert run(walk.folder, "reopen", MONTH, "--reason", "again").code == 2
    assert run(walk.folder, "report", "--month", "2026-01").code == 4  # a month without rows


# A run that is killed, a disk that is full -----------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A workspace with a month of 200 rows."""
    rows: Rows = [{**GPT, "request_id": f"g-{n}", "input_tokens": n, "output_tokens": 1}
                  for n in range(1, 201)]  # fmt: skip
    write_log(tmp_path / "log.jsonl", rows)
    for words in (("init",), ("ingest", "log.jsonl", "--load")):
        assert run(tmp_path, *words).code == 0
    yield tmp_path


def rows_kept(folder: Path) -> list[tuple[int, int]]:
    with duckdb.connect(str(folder / "warehouse.duckdb")) as con:
        return con.execute("select count(*), sum(uncached_input_tokens) from raw_usage").fetchall()


def is_whole(report: Path) -> bool:
    """Say whether every file of a report is as its manifest says."""
    made = json.loads((report / "manifest.json").read_text(encoding="utf-8"))
    return all(
        hashlib.sha256((report / each["name"]).read_bytes()).hexdigest() == each["sha256"]
        for each in made["outputs"]
    )


def test_a_run_that_is_killed_loses_nothing_and_leaves_no_half_report(small: Path) -> None:
    dice = random.Random(7)  # noqa: S311  # no secret
    report = small / "reports" / MONTH
    with loaded_process(small) as process:
        process.start("report")
        began = time.perf_counter()
        assert process.wait() == 0
        whole_s = time.perf_counter() - began
        for words in (("report",), ("close", MONTH)):
            for _ in range(KILLS):
                process.start(*words)
                time.sleep(dice.uniform(0.1, 1.0) * whole_s)
                process.kill()
                process.wait()
                assert rows_kept(small) == [(200, 200 * 201 // 2)]
                old = report.with_name(f".old-{MONTH}")  # between two renames the old one is here
                assert is_whole(report if report.exists() else old)
                if words[0] == "close" and run(small, "status").out.count("closed"):
                    assert run(small, "reopen", MONTH, "--reason", "to close it again").code == 0

    assert run(small, "close", MONTH).code == 0
    assert run(small, "report").code == 0
    assert [path.name for path in (small / "reports").iterdir()] == [MONTH]
    assert not list(small.glob(".building-*")) + list(small.glob("closed/*/.building-*"))


def test_a_full_disk_and_a_place_that_cannot_be_written_are_one_clear_line(small: Path) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    ran = subprocess.run(
        [sys.executable, "-m", "pipeline", "report"],
        cwd=small,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        preexec_fn=full,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "the report cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (small / "reports" / MONTH).exists()
    (small / "file").write_text("", encoding="utf-8")
    assert run(small, "report", "--out", "file/reports").code == 2
    assert run(small, "report").code == 0


def test_the_walk_works_with_real_logs(samples: Path, tmp_path: Path) -> None:
    logs, late = tmp_path / "logs", tmp_path / "late"
    for folder, names in (
        (logs, ("openai_completions_usage_2025-10-05_2025-10-12.csv", "anthropic_usage*.json")),
        (late, ("openai_cost_2025-10-05_2025-10-13.csv",)),
    ):
        folder.mkdir()
        for name in names:
            for path in (samples / "logs").glob(name):
                shutil.copy(path, folder)

    for words in walk_commands():
        ran = run(tmp_path, *(word.replace(MONTH, "2025-10") for word in words))
        assert ran.code == 0, (words, ran)
        said = ran.out

    assert re.search(r"2025-10\s+closed\s+R1\s", said)
