"""Spark gives the marts that DuckDB gives: the sample month and 200 drawn ones.

One run holds them all, since the month is in every grain. Of its two worker processes one is killed
on the way.
"""

import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from need import need_package, need_program

from pipeline import warehouse
from pipeline.ingest.load import find_files, load
from pipeline.marts import MARTS
from pipeline.reference import checked_inputs, load_reference
from pipeline.settings import Input, Settings, bundled, read_settings

MONTHS = 200
MODELS = (
    "meta-llama/Llama-3.1-8B", "openai/gpt-oss-120b", "gpt-5-mini", "claude-sonnet-4-5",
    "deepseek-ai/DeepSeek-V3", "nobody-knows-7b",
)  # fmt: skip
KILLED_AFTER = "int_requests"
MONTH = "2026-10"
DRAWS = 16  # of the joint draws, which all count alike
# Small tables, and processes that live for minutes: planning, compiling, checking of classes and
# tasks cost more than the rows do.
_SHORT_LIFE = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.maxPlanStringLength": "100",
    "spark.buffer.pageSize": "256k",
    "spark.shuffle.compress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": f"{_SHORT_LIFE} -Xmn1g",
    "spark.executor.extraJavaOptions": f"{_SHORT_LIFE} -Xmn500m",
}
RELATIVE = ABSOLUTE = 1e-12
# What others' requests would cost on own servers: joules times what a joule cost there.
MONEY_OF_JOULES = {
    f"mart_model_comparison.{name}"
    for name in (
        *("hosting_cost_usd", "hosting_cost_usd_per_task", "cost_usd", "cost_usd_per_task"),
        "cost_usd_per_solved_task",
    )
}


def drawn_months(seed: int) -> list[dict[str, Any]]:
    """Return a few rows for each month from 2027-01 on, with the edges of what a log may say."""
    dice = random.Random(seed)  # noqa: S311  # no secret
    rows = []
    for number in range(MONTHS):
        month = f"{2027 + number // 12}-{number % 12 + 1:02d}"
        for _ in range(dice.choice((1, 1, 1, 1, 3))):
            rows.append(_drawn_row(dice, month))
    return rows


def _drawn_row(dice: random.Random, month: str) -> dict[str, Any]:
    input_tokens = dice.choice((0, 1, 17, 900, 120_000))
    day, hour = dice.choice((1, 15, 28)), dice.choice((0, 11, 23))
    row: dict[str, Any] = {
        "request_id": f"r{dice.getrandbits(48):x}",
        "occurred_at": f"{month}-{day:02d}T{hour:02d}:59:59Z",
        "model_name": dice.choice(MODELS),
        "provider": dice.choice(("vllm", None)),
        "input_tokens": input_tokens,
        "output_tokens": dice.choice((0, 1, 300, 9_000)),
        "team": dice.choice(("search", "=support", None)),
        "task_id": dice.choice(("t1", "t2", None)),
        "query_class": dice.choice(("chat", "agentic", None)),
        "latency_s": dice.choice((None, 0.25, 4000.0)),
        "status": dice.choice((None, "failure")),
        "billed_cost_usd": dice.choice((None, "0.123456789012", "0")),
        "is_batch": dice.choice((None, True)),
        "project": dice.choice((None, "site")),
    }
    if dice.random() < 0.7:
        row["cache_read_tokens"] = dice.choice((0, input_tokens // 2, input_tokens))
    if dice.random() < 0.1:
        row |= {"request_count": 40, "bucket_end_at": f"{month}-28T23:59:59Z"}
    return row


def loaded(log: Path) -> duckdb.DuckDBPyConnection:
    """Return a warehouse with the sample month and the drawn months, no model built."""
    sample = read_settings(bundled("data/sample/joulebook.toml"))
    inputs = [each for each in sample.inputs if MONTH in each.path]
    settings: Settings = replace(sample, inputs=(*inputs, Input(str(log))))
    con = warehouse.connect(None, 1, threads=2)
    load_reference(con, settings)
    con.execute(f"delete from raw_joint_draws where draw::integer > {DRAWS}")
    load(con, find_files(checked_inputs(con, settings.inputs), settings.folder), settings)
    return con


Pair = tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection]


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """The same book, built by DuckDB and by Spark."""
    need_package("pyspark")
    need_program("java")
    from pipeline.spark.build import build
    from pipeline.spark.session import open_session

    folder = tmp_path_factory.mktemp("spark")
    log = folder / "drawn.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in drawn_months(5)), encoding="utf-8")
    killed: list[int] = []

    def tell(text: str) -> None:
        if not killed and KILLED_AFTER in built:
            killed.append(kill_a_worker())
        built.append(text.split()[1])

    built: list[str] = []
    session = open_session("local-cluster[2,1,1024]", SMALL)
    with loaded(log) as here, loaded(log) as there:
        try:
            warehouse.build(here)
            build(session, there, folder / "models", tell)
            assert killed
            yield here, there
        finally:
            session.stop()
            shutil.rmtree(folder)


def kill_a_worker() -> int:
    """Kill one of the processes that compute for the JVM which this process started."""
    for line_file in Path("/proc").glob("[0-9]*/cmdline"):
        if b"CoarseGrainedExecutorBackend" in line_file.read_bytes():
            pid = int(line_file.parent.name)
            if os.getpid() in ancestors(pid):
                os.kill(pid, signal.SIGKILL)
                return pid
    raise AssertionError("no worker process of our own to kill")


def ancestors(pid: int) -> list[int]:
    """Return the parent of a process, its parent and so on."""
    found = []
    while pid > 1:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        pid = int(stat.rpartition(")")[2].split()[1])  # state, then the parent
        found.append(pid)
    return found


def differs(name: str, ours: object, theirs: object) -> bool:
    """Say whether two values are not the same: money, counts and texts exactly."""
    if ours == theirs or (ours != ours and theirs != theirs):
        return False
    if isinstance(ours, float) and isinstance(theirs, float):
        return _is_apart(name, ours, theirs)
    is_end = "_low_" in name or "_high_" in name  # of draws, which are of joules
    is_exact = "usd" in name and not is_end and name not in MONEY_OF_JOULES
    if isinstance(ours, Decimal) and isinstance(theirs, Decimal) and not is_exact:
        return _is_apart(name, float(ours), float(theirs))
    return True


def _is_apart(name: str, ours: float, theirs: float) -> bool:
    gap, size = abs(ours - theirs), max(abs(ours), abs(theirs))
    # What is a ratio less one keeps the ratio's rounding.
    if "_frac" in name and gap <= ABSOLUTE:
        return False
    # A saving is a small difference of two large numbers, each of them right to 1e-12.
    return gap > (10 * RELATIVE if "saving" in name else RELATIVE) * size


def wrong_values(engines: Pair, mart: str) -> list[tuple[str, object, object]]:
    """Return what differs between the engines in one mart: column, ours, theirs."""
    keys = ", ".join(warehouse.models()[mart].grain)
    answers = [con.execute(f"select * from {mart} order by {keys}") for con in engines]
    kinds = [[column[:2] for column in answer.description or ()] for answer in answers]
    assert kinds[1] == kinds[0]
    names = [name for name, _ in kinds[0]]
    ours, theirs = (answer.fetchall() for answer in answers)
    assert len(theirs) == len(ours)
    return [
        (f"{mart}.{name}", one, other)
        for row, their_row in zip(ours, theirs, strict=True)
        for name, one, other in zip(names, row, their_row, strict=True)
        if differs(f"{mart}.{name}", one, other)
    ]


# One test, since building the book takes minutes, and tests are shared out among processes.
@pytest.mark.slow
def test_both_engines_give_the_same_marts_and_checks(engines: Pair) -> None:
    wrong = [found for mart in MARTS for found in wrong_values(engines, mart)]
    assert wrong == [], wrong

    here, there = (warehouse.run_checks(con) for con in engines)
    assert [(each.name, each.violation_count) for each in there] == [
        (each.name, each.violation_count) for each in here
    ]
