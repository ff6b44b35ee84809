"""Counters of serving engines, from scrape to scrape and file to file, and replies of runners."""

import gzip
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, document, fates, form, lines, loaded

from pipeline.ingest.prometheus import metric_names, scrapes_of

Con = duckdb.DuckDBPyConnection
START = "start=2026-10-01T00:00:00Z"


def scrape(
    prompt: float, generation: float, requests: float, hits: float | None = None, **labels: str
) -> str:
    """Return a scrape of vLLM."""
    told = {"engine": "0", "model_name": "m", **labels}
    shown = ",".join(f'{key}="{value}"' for key, value in told.items())
    cache = "" if hits is None else f"vllm:prefix_cache_hits_total{{{shown}}} {hits}\n"
    return (
        "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.\n"
        "# TYPE vllm:prompt_tokens_total counter\n"
        f"vllm:prompt_tokens_total{{{shown}}} {prompt}\n"
        f"vllm:generation_tokens_total{{{shown}}} {generation}\n"
        f'vllm:request_success_total{{finished_reason="stop",{shown}}} {requests}\n'
        f'vllm:request_success_total{{finished_reason="length",{shown}}} 1.0\n'
        f"vllm:num_requests_running{{{shown}}} 3.0\n{cache}"
    )


def wrote(path: Path, *texts: str) -> Path:
    """Write a file of scrapes."""
    path.write_text("".join(texts), encoding="utf-8")
    return path


def times(rows: list[dict[str, Any]]) -> list[tuple[str | None, str | None]]:
    """Return hours and minutes of the buckets."""
    return [
        (row["occurred_at"] and row["occurred_at"][11:16],
         row["bucket_end_at"] and row["bucket_end_at"][11:16])
        for row in rows
    ]  # fmt: skip


def test_one_scrape_is_everything_since_the_start_that_is_told(con: Con, tmp_path: Path) -> None:
    path = wrote(tmp_path / "a", scrape(1_000, 300, 4, hits=700))

    (row,) = loaded(con, path, assume=START)

    assert buckets(row) == (300, 700, None, None, 300)
    assert row["request_count"] == 5  # 4 stopped, 1 at its length
    assert (row["provider"], row["model_name"]) == ("vllm", "m")
    assert times([row]) == [("00:00", None)]
    assert row["is_cache_known"] is True
    assert row["source_line"] == 3


def test_running_requests_are_a_mean_and_no_counter(con: Con, tmp_path: Path) -> None:
    def ran(running: int, at: int, tokens: int) -> str:
        text = scrape(tokens, tokens, tokens).replace("_running{", "_waiting{")
        return f"# 2026-10-01T{at}:00:00Z\n{text}" + "".join(
            f'vllm:num_requests_running{{engine="0",model_name="m",lora="{lora}"}} {running / 2}\n'
            for lora in ("a", "b")
        )

    texts = [ran(12, 10, 100), ran(4, 11, 200), ran(6, 12, 300), ran(8, 13, 50), ran(8, 14, 60)]
    rows = loaded(con, wrote(tmp_path / "a", *texts), assume="start=2026-10-01T09:00:00Z")

    # fewer run at 11 than at 10, which is no restart; the counters fall at 13, which is one
    assert [row["output_tokens"] for row in rows] == [100, 100, 100, 50, 10]
    assert [row["running_requests"] for row in rows] == [None, 8, 5, None, 8]


def test_one_scrape_without_a_start_is_set_aside_for_want_of_a_time(
    con: Con, tmp_path: Path
) -> None:
    assert fates(loaded(con, wrote(tmp_path / "a", scrape(1_000, 300, 4)))) == [
        "occurred_at_missing"
    ]


def test_a_server_that_says_when_it_started_needs_to_be_told_nothing(
    con: Con, tmp_path: Path
) -> None:
    started = "process_start_time_seconds 1.7908488e+09\n"  # 2026-10-01T10:00:00Z

    rows = loaded(con, wrote(tmp_path / "a", scrape(1_000, 300, 4), started))

    assert times(rows) == [("10:00", None)]


def test_counters_that_say_when_they_were_made_do_as_well(con: Con, tmp_path: Path) -> None:
    made = 'vllm:prompt_tokens_created{engine="0",model_name="m"} 1790848800.5\n'

    rows = loaded(con, wrote(tmp_path / "a", scrape(1_000, 300, 4), made))

    assert times(rows) == [("10:00", None)]


def test_between_scrapes_with_times_lies_a_bucket(con: Con, tmp_path: Path) -> None:
    path = wrote(
        tmp_path / "a",
        "# scraped at 2026-10-01T10:00:00Z\n", scrape(1_000, 300, 4, hits=700),
        "# scraped at 2026-10-01T11:00:00Z\n", scrape(1_600, 350, 6, hits=900),
        "# scraped at 2026-10-01T12:00:00Z\n", scrape(1_600, 350, 6, hits=900),
    )  # fmt: skip

    rows = loaded(con, path)

    # What came before the first scrape is of an unknown time: it is no row.
    assert times(rows) == [("10:00", "11:00"), ("11:00", "12:00")]
    assert [buckets(row) for row in rows] == [(400, 200, None, None, 50), (0, 0, None, None, 0)]
    assert [row["request_count"] for row in rows] == [2, None]

    rows = loaded(con, path, assume="start=2026-10-01T09:00:00Z")
    assert times(rows) == [("09:00", "10:00"), ("10:00", "11:00"), ("11:00", "12:00")]
    assert sum(row["output_tokens"] for row in rows) == 350


@pytest.mark.parametrize("unit", [1, 1_000])
def test_samples_may_tell_their_times_themselves(con: Con, tmp_path: Path, unit: int) -> None:
    def at(text: str, seconds: int) -> str:
        return "".join(
            line if line.startswith("#") else f"{line.rstrip()} {seconds * unit}\n"
            for line in text.splitlines(keepends=True)
        )

    path = wrote(
        tmp_path / "a",
        at(scrape(1_000, 300, 4), 1_790_848_800),
        at(scrape(1_600, 350, 6), 1_790_852_400),
    )

    assert times(loaded(con, path)) == [("10:00", "11:00")]


def test_a_restart_begins_at_zero(con: Con, tmp_path: Path) -> None:
    texts = [scrape(1_000, 300, 4), scrape(1_600, 350, 6), scrape(200, 40, 2)]

    rows = loaded(con, wrote(tmp_path / "a", *texts), assume=START)

    assert [row["output_tokens"] for row in rows] == [300, 50, 40]
    assert [row["uncached_input_tokens"] for row in rows] == [1_000, 600, 200]


def test_engines_and_models_are_told_apart(con: Con, tmp_path: Path) -> None:
    path = wrote(
        tmp_path / "a",
        scrape(1_000, 300, 4),
        scrape(100, 30, 3, engine="1"),
        scrape(10, 3, 2, model_name='a \\"quoted\\" name'),
    )

    rows = loaded(con, path, assume=START)

    assert sorted(row["output_tokens"] for row in rows) == [3, 30, 300]
    assert len({row["request_id"] for row in rows}) == 3


def test_hits_that_run_ahead_of_their_prompts_are_no_more_than_them(
    con: Con, tmp_path: Path
) -> None:
    (row,) = loaded(con, wrote(tmp_path / "a", scrape(1_000, 300, 4, hits=1_200)), assume=START)

    assert buckets(row) == (0, 1_000, None, None, 300)


def test_cached_prompt_tokens_are_better_than_hits(con: Con, tmp_path: Path) -> None:
    cached = 'vllm:prompt_tokens_cached_total{engine="0",model_name="m"} 650\n'

    (row,) = loaded(
        con, wrote(tmp_path / "a", scrape(1_000, 300, 4, hits=1_200), cached), assume=START
    )

    assert buckets(row) == (350, 650, None, None, 300)


def test_files_of_one_server_follow_each_other_where_they_tell_times(
    con: Con, tmp_path: Path
) -> None:
    files = [
        wrote(tmp_path / f"{hour}", f"# 2026-10-01T{hour}:00:00Z\n", text)
        for hour, text in (
            (10, scrape(1_000, 300, 4)),
            (11, scrape(1_600, 350, 6)),
            (12, scrape(50, 5, 1)),
        )
    ]

    rows = loaded(con, *files, assume="start=2026-10-01T09:00:00Z")
    assert times(rows) == [("09:00", "10:00"), ("10:00", "11:00"), ("11:00", "12:00")]
    assert [row["output_tokens"] for row in rows] == [300, 50, 5]

    # In any order nothing counts twice: what is older is within what was read.
    rows = loaded(con, files[1], files[0], assume="start=2026-10-01T09:00:00Z")
    assert [row["output_tokens"] for row in rows] == [350]


def test_servers_started_at_different_times_are_different_servers(con: Con, tmp_path: Path) -> None:
    files = [
        wrote(tmp_path / str(start), scrape(1_000, 300, 4), f"process_start_time_seconds {start}\n")
        for start in (1_790_848_800, 1_790_848_860)
    ]

    assert [row["output_tokens"] for row in loaded(con, *files)] == [300, 300]


def test_of_files_without_times_the_fullest_counts(con: Con, tmp_path: Path) -> None:
    before = wrote(tmp_path / "a", scrape(1_000, 300, 4))
    after = wrote(tmp_path / "b", scrape(1_600, 350, 6))

    rows = loaded(con, before, after, assume=START)

    assert fates(rows) == ["duplicate", "accepted"]


def test_a_line_that_is_no_sample_is_named(con: Con, tmp_path: Path) -> None:
    text = scrape(1_000, 300, 4) + "vllm:prompt_tokens_total{engine=\n\n# EOF\n"

    rows = loaded(con, wrote(tmp_path / "a", text), assume=START)

    assert [(row["source_line"], fate) for row, fate in zip(rows, fates(rows), strict=True)] == [
        (3, "accepted"),
        (8, "not_metrics"),
    ]


def test_sglang_counts_by_kind_of_stream_and_of_cache(con: Con, tmp_path: Path) -> None:
    path = wrote(
        tmp_path / "a",
        'sglang:prompt_tokens_total{model_name="m",is_streaming="true"} 800\n',
        'sglang:prompt_tokens_total{model_name="m",is_streaming="false"} 200\n',
        'sglang:generation_tokens_total{model_name="m"} 300\n',
        'sglang:cached_tokens_total{model_name="m",cache_source="device"} 500\n',
        'sglang:cached_tokens_total{model_name="m",cache_source="host"} 100\n',
        'sglang:num_requests_total{model_name="m"} 4\n',
    )

    (row,) = loaded(con, path, assume=START)

    assert buckets(row) == (400, 600, None, None, 300)
    assert (row["provider"], row["request_count"]) == ("sglang", 4)


def test_tgi_names_no_model(con: Con, tmp_path: Path) -> None:
    path = wrote(
        tmp_path / "a",
        "tgi_request_input_length_sum 1000\n",
        "tgi_request_generated_tokens_sum 300\n",
        "tgi_request_generated_tokens_count 4\n",
    )

    assert fates(loaded(con, path, assume=START)) == ["model_missing"]
    (row,) = loaded(con, path, assume=f"{START},model=Qwen/Qwen3-8B")
    assert buckets(row) == (1_000, None, None, None, 300)
    assert (row["provider"], row["request_count"]) == ("tgi", 4)


def test_metrics_are_recognised_by_content_packed_or_not(tmp_path: Path) -> None:
    packed = tmp_path / "metrics.png"
    packed.write_bytes(gzip.compress(scrape(1, 1, 1).encode()))
    bare = wrote(tmp_path / "a", scrape(1, 1, 1).split("counter\n")[1])

    assert form(packed) == form(bare) == "prometheus_metrics"


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "remember the milk\n", "# only a comment\n"])
def test_other_texts_are_no_metrics(text: str) -> None:
    assert metric_names(text) == set()


def test_a_text_of_metrics_keeps_odd_but_legal_lines() -> None:
    text = 'a 1\nb{x="}"} NaN\nc{y="1",} +Inf 1790848800000\nd{} 1e3 # {t="1"} 0.5\n'

    scrapes, bad_lines = scrapes_of(text)

    assert metric_names(text) == {"a", "b", "c", "d"}
    assert bad_lines == []
    (found,) = scrapes
    assert found.at == 1_790_848_800
    assert found.values["d", ""] == 1_000


def test_the_trimmed_scrape_of_a_real_server_is_read(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "vllm_metrics.txt", assume=START)

    # 3 stopped + 1 at its length + 0 failed; the hits in it are of another model.
    assert buckets(row) == (343, None, None, None, 826)
    assert row["request_count"] == 4
    assert row["model_name"] == "meta-llama/Llama-3.1-8B-Instruct"


LMSTUDIO: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_790_848_800,
    "model": "granite-3.0-2b-instruct",
    "choices": [{"message": {"content": "SECRET"}}],
    "usage": {"prompt_tokens": 24, "completion_tokens": 53, "total_tokens": 77},
    "stats": {"time_to_first_token": 0.25, "generation_time": 1.5, "stop_reason": "eosFound"},
}


def test_lm_studio_replies_tell_their_seconds(con: Con, tmp_path: Path) -> None:
    own = {
        "response_id": "resp_1",
        "model_instance_id": "qwen3-8b",
        "timestamp": "2026-10-01T10:00:00Z",
        "stats": {
            "input_tokens": 100,
            "total_output_tokens": 60,
            "reasoning_output_tokens": 20,
            "time_to_first_token_seconds": 0.5,
        },
    }
    bad = {**LMSTUDIO, "id": "chatcmpl-2", "usage": {"prompt_tokens": "x", "completion_tokens": 1}}

    rows = loaded(con, lines(tmp_path / "a", [LMSTUDIO, LMSTUDIO, own, bad]))

    assert fates(rows) == ["accepted", "duplicate", "accepted", "tokens_unreadable"]
    assert [buckets(row) for row in rows[1:3]] == [
        (24, None, None, None, 53),
        (100, None, None, None, 60),
    ]
    assert (rows[0]["latency_s"], rows[0]["ttft_s"]) == (1.75, 0.25)
    assert {row["occurred_at"] for row in rows} == {"2026-10-01 10:00:00"}
    assert (rows[0]["provider"], rows[0]["finish_reason"]) == ("lmstudio", "eosFound")
    assert rows[2]["reasoning_tokens"] == 20


def test_a_reply_of_lm_studios_own_api_without_a_time_takes_the_start(
    con: Con, tmp_path: Path
) -> None:
    own = {"model_instance_id": "m", "stats": {"input_tokens": 1, "total_output_tokens": 2}}

    assert fates(loaded(con, document(tmp_path / "a", own))) == ["occurred_at_missing"]
    assert fates(loaded(con, document(tmp_path / "a", own), assume=START)) == ["accepted"]


def test_the_shape_of_an_lm_studio_reply_is_read(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "lmstudio_chat_completion_shape.json")

    assert buckets(row) == (24, None, None, None, 53)
    assert row["occurred_at"] == "2024-11-19 04:28:08"
    assert (round(row["latency_s"], 3), row["ttft_s"]) == (1.065, 0.111)
