"""Published traces: times since a start that is told, lengths, and what each says beyond them."""

from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, fates, form, lines, loaded, table

from pipeline.errors import WrongUseError

Con = duckdb.DuckDBPyConnection
START = "start=2026-10-01T00:00:00Z"
ASSUME = f"{START},model=Qwen/Qwen3-8B"


def test_qwens_times_are_seconds_and_mooncakes_are_milliseconds(con: Con, tmp_path: Path) -> None:
    lengths = {"input_length": 521, "output_length": 132, "hash_ids": [1, 2]}
    qwen: dict[str, Any] = {"chat_id": 159, "timestamp": 61.114, "type": "text", "turn": 2}
    qwen |= {"parent_chat_id": 55, **lengths}
    root = {**qwen, "chat_id": 55, "parent_chat_id": -1, "timestamp": "soon"}
    files = [
        lines(tmp_path / "qwen", [qwen, qwen, root]),
        lines(tmp_path / "mooncake", [{"timestamp": 61_114, **lengths}]),
    ]

    rows = loaded(con, *files, assume=ASSUME)

    assert [form(file) for file in files] == ["qwen_bailian_trace", "mooncake_trace"]
    # Equal lines are separate requests: chat ids count up anew in every trace.
    assert fates(rows) == ["accepted", "accepted", "occurred_at_unreadable", "accepted"]
    good = [row for row in rows if row["reject_reasons"] is None]
    assert {row["occurred_at"] for row in good} == {"2026-10-01 00:01:01.114"}
    assert {buckets(row) for row in good} == {(521, None, None, None, 132)}
    assert [row["parent_id"] for row in rows] == ["55", "55", None, None]
    assert {row["is_cache_known"] for row in rows} == {False}


def test_burstgpt_names_its_models_and_fails_with_no_response(con: Con, tmp_path: Path) -> None:
    row = {
        "Timestamp": "5",
        "Session ID": "s1",
        "Elapsed time": "2.5",
        "Model": "ChatGPT",
        "Request tokens": "472",
        "Response tokens": "18",
        "Total tokens": "490",
        "Log Type": "Conversation log",
    }
    none = {"Response tokens": "0", "Total tokens": "472"}
    failed = {**row, **none, "Log Type": "API log", "Timestamp": "5.5"}
    bad = {**row, "Request tokens": "-1", "Total tokens": "17"}

    rows = loaded(con, table(tmp_path / "a", [row, row, failed, bad]), assume=START)

    assert fates(rows) == ["accepted"] * 3 + ["tokens_negative"]
    assert buckets(rows[0]) == (472, None, None, None, 18)
    assert [row["status"] for row in rows[:3]] == ["success", "success", "failure"]
    assert [row["query_class"] for row in rows[:3]] == ["chat", "chat", None]
    assert rows[2]["occurred_at"] == "2026-10-01 00:00:05.5"
    assert (rows[0]["model_name"], rows[0]["latency_s"]) == ("ChatGPT", 2.5)


def test_the_first_burstgpt_has_fewer_columns(con: Con, tmp_path: Path) -> None:
    row = {"Timestamp": 5, "Model": "GPT-4", "Request tokens": 417, "Response tokens": 276}

    (found,) = loaded(con, table(tmp_path / "a", [row]), assume=START)

    assert buckets(found) == (417, None, None, None, 276)


@pytest.mark.parametrize(
    ("extra", "at"), [({}, "2026-10-01 00:00:00"), ({"arrived_at": 1.5}, "2026-10-01 00:00:01.5")]
)
def test_lengths_for_vidur_may_have_times(
    con: Con, tmp_path: Path, extra: dict[str, float], at: str
) -> None:
    row = {**extra, "num_prefill_tokens": 2_588, "num_decode_tokens": 291, "pd_ratio": 8.9}
    bad = {**row, "num_decode_tokens": "x"}

    rows = loaded(con, table(tmp_path / "a", [row, row, bad]), assume=ASSUME)

    assert fates(rows) == ["accepted", "accepted", "tokens_unreadable"]
    assert buckets(rows[0]) == (2_588, None, None, None, 291)
    assert rows[0]["occurred_at"] == at


def test_a_session_workload_reads_its_prefix_from_the_cache(con: Con, tmp_path: Path) -> None:
    row: dict[str, Any] = {"session_id": 1, "arrival_time": 200, "round_idx": 0}
    row |= {"prefix_len": 576, "input_len": 128, "output_len": 64, "tool_wait_after_ms": 100}
    bad = {**row, "input_len": -1}

    rows = loaded(con, table(tmp_path / "a", [row, row, bad]), assume=ASSUME)

    assert fates(rows) == ["accepted", "accepted", "tokens_negative"]
    assert buckets(rows[0]) == (128, 576, None, None, 64)
    assert rows[0]["occurred_at"] == "2026-10-01 00:00:00.2"
    assert rows[0]["task_id"] == "1"


def test_real_session_workloads_are_read_whole(con: Con, samples: Path) -> None:
    folder = samples / "usage"

    rows = loaded(con, folder / "tracelab_session_workload_example.csv", assume=ASSUME)
    assert fates(rows) == ["accepted"] * 11
    # Column sums of the file.
    assert sum(row["uncached_input_tokens"] for row in rows) == 54_780
    assert sum(row["cache_read_tokens"] for row in rows) == 480_497
    assert sum(row["output_tokens"] for row in rows) == 24_798

    rows = loaded(con, folder / "tracelab_multi_session_example.csv", assume=ASSUME)
    assert fates(rows) == ["accepted"] * 8
    assert {row["occurred_at"][14:] for row in rows} >= {"00:00", "00:00.2"}


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        ({"num_prefill_tokens": 1, "num_decode_tokens": 1}, "model=…,start=…"),
        ({"Timestamp": 1, "Model": "m", "Request tokens": 1, "Response tokens": 1}, "start=…"),
    ],
)
def test_what_a_trace_does_not_say_is_asked_for(
    con: Con, tmp_path: Path, row: dict[str, object], lacks: str
) -> None:
    with pytest.raises(WrongUseError, match=f"give --assume {lacks}"):
        loaded(con, table(tmp_path / "a", [row]))
