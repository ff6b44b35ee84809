"""`joulebook power`: from logs to words or JSON; real logs get a verdict or a clear refusal."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli import app
from pipeline.errors import JoulebookError
from pipeline.power.answer import compare
from pipeline.power.bound import BOUND, NOT_BOUND, UNDETERMINED
from pipeline.power.policies import read_policies
from pipeline.settings import bundled

FOLDER = bundled("data/sample/telemetry")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["power", *words])


@pytest.mark.slow
def test_without_logs_the_sample_and_the_papers_answer() -> None:
    told = run("--json")
    said = run()

    assert told.exit_code == said.exit_code == 0, told.output
    assert "generated, not measured" in told.stderr
    found = json.loads(told.stdout)
    assert found["baseline"] == "policy-none"
    assert {row["policy"] for row in found["factors"]} == {"cap at 400 W", "lock at 1590 MHz"}
    facts = {row["fact"]: row for row in found["facts"]}
    power = facts["h200_decode_power"]
    assert (power["low"], power["high"], power["value"]) == (137, 300, None)
    assert facts["h200_prefill_power"]["value"] is None
    assert "board draw over all models and batches, of a limit of 700 W" in said.stdout


def test_one_log_is_judged_and_nothing_is_claimed_of_it() -> None:
    result = run("--telemetry", str(FOLDER / "policy-none.csv.gz"), "--json")

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {row["bound_verdict"] for row in found["phases"]} == {NOT_BOUND}
    assert found["effects"] == found["factors"] == []


def test_faults_are_one_line(tmp_path: Path) -> None:
    idle = tmp_path / "idle.csv"
    idle.write_text(
        "timestamp, index, power.draw [W]\n"
        + "".join(f"2026/10/05 09:00:0{second}.000, 0, 75.00 W\n" for second in range(9)),
        encoding="utf-8",
    )
    for words, fault in (
        (("--telemetry", str(idle)), "idle: expected times at work, found none"),
        (("--telemetry", str(tmp_path / "gone.csv")), "no such file or folder"),
        (("--gpu", "H1000"), "--gpu H1000: expected one of A10, A100"),
    ):
        result = run(*words)
        assert isinstance(result.exception, JoulebookError)
        assert fault in str(result.exception)


def test_real_logs_get_a_verdict_or_a_refusal(samples: Path) -> None:
    judged = 0
    for log in sorted((samples / "telemetry").iterdir()):
        try:
            policies = read_policies([log])
            cells = compare(policies, policies[0]).cells
        except JoulebookError as refusal:
            assert log.stem.split(".")[0][:8] in str(refusal)
            continue
        judged += 1
        assert set(cells.get_column("bound_verdict")) <= {BOUND, NOT_BOUND, UNDETERMINED}
        # None of these tells what ran, and no limit stands in most: nothing may be claimed.
        assert cells.get_column("energy_j_per_token").null_count() == cells.height
    assert judged >= 3
