"""Counts that contradict what their form declares: row by row, and as another dialect."""

from pathlib import Path

import duckdb
import pytest
from source_rows import fates, lines, loaded, table

from pipeline.errors import BadInputError
from pipeline.ingest import identities
from pipeline.ingest.sources import SOURCE_BY_NAME

Con = duckdb.DuckDBPyConnection

LITELLM: dict[str, object] = {
    "startTime": "2026-10-05T10:00:00Z",
    "model": "claude-sonnet-4-5",
    "custom_llm_provider": "anthropic",
    "prompt_tokens": 1_200,
    "completion_tokens": 300,
    "total_tokens": 1_500,
    "metadata": {"additional_usage_values": {"cache_read_input_tokens": 1_000}},
}
# The same request as Anthropic counts it: 200 beside 1,000 read from the cache.
EXCLUDING = {**LITELLM, "prompt_tokens": 200, "total_tokens": 500}


def litellm(path: Path, *kinds: tuple[int, dict[str, object]]) -> Path:
    """Write so many rows of each kind, under ids of their own."""
    rows = [row for count, row in kinds for _ in range(count)]
    return lines(path, [{**row, "request_id": f"r{n}"} for n, row in enumerate(rows)])


def test_a_log_that_leaves_cached_tokens_out_where_its_form_has_them_in_stops(
    con: Con, tmp_path: Path
) -> None:
    path = litellm(tmp_path / "log", (90, LITELLM), (10, EXCLUDING))

    with pytest.raises(BadInputError) as caught:
        loaded(con, path)

    text = str(caught.value)
    assert "wrong dialect? cache_exceeds_input" in text
    assert "input includes cached tokens" in text
    assert "10 of 100 rows that can be checked" in text
    # 200 − 1,000 = −800 uncached, so all input is the 200 that were logged
    assert "line 91: 200 input, 1,000 cached, 300 output" in text
    assert "uncached_input_tokens" in text
    assert "\n" not in text


def test_the_share_is_of_the_rows_that_can_be_checked(con: Con, tmp_path: Path) -> None:
    plain = {key: value for key, value in LITELLM.items() if key != "metadata"}
    # 10 broken of 2,000 rows are half a percent, and half of the 20 with cached tokens
    path = litellm(tmp_path / "log", (1_980, plain), (10, LITELLM), (10, EXCLUDING))

    with pytest.raises(BadInputError, match="10 of 20 rows that can be checked"):
        loaded(con, path)


def test_nine_such_rows_are_bad_rows_and_no_dialect(con: Con, tmp_path: Path) -> None:
    rows = loaded(con, litellm(tmp_path / "log", (91, LITELLM), (9, EXCLUDING)))

    assert fates(rows).count("cache_exceeds_input") == 9
    assert fates(rows).count("accepted") == 91


def test_a_total_that_is_not_the_sum_of_its_parts_stops(con: Con, tmp_path: Path) -> None:
    # reasoning beside the output: 1,200 + 300 + 40 = 1,540
    beside = {**LITELLM, "total_tokens": 1_540}
    path = litellm(tmp_path / "log", (10, beside), (90, LITELLM))

    with pytest.raises(BadInputError) as caught:
        loaded(con, path)

    assert "parts_differ_from_total: expected input + output = total" in str(caught.value)
    assert "line 1: 1,200 input, 1,000 cached, 300 output" in str(caught.value)


def test_a_dashboards_input_is_all_its_parts(con: Con, tmp_path: Path) -> None:
    row = {
        "start_time": 1759622400,
        "end_time": 1759708800,
        "start_time_iso": "2025-10-05T00:00:00+00:00",
        "end_time_iso": "2025-10-06T00:00:00+00:00",
        "num_model_requests": 1,
        "model": "gpt-4o",
        "input_tokens": 100,
        "output_tokens": 3,
        "input_cached_tokens": 60,
        "input_uncached_tokens": 40,
    }
    excluding = {**row, "input_tokens": 40}

    rows = loaded(con, table(tmp_path / "log", [row, excluding]))

    assert sorted(fates(rows)) == ["accepted", "parts_differ_from_input"]
    assert identities.checked(con, 1) == [
        {
            "identity": "uncached + cached input = input",
            "rule": "parts_differ_from_input",
            "rows_checked": 2,
            "rows_broken": 1,
        }
    ]


def test_each_file_says_what_was_checked_on_how_many_rows(con: Con, tmp_path: Path) -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 20}}
    thinking = {**LITELLM, "metadata": {"additional_usage_values": details}}
    silent = {
        key: value for key, value in LITELLM.items() if key not in ("metadata", "total_tokens")
    }

    loaded(con, litellm(tmp_path / "log", (3, LITELLM), (2, thinking), (4, silent)))

    checked = {each["identity"]: each["rows_checked"] for each in identities.checked(con, 1)}
    assert checked == {"input + output = total": 5, "cached ≤ input": 3, "reasoning ≤ output": 2}
    assert all(each["rows_broken"] == 0 for each in identities.checked(con, 1))


def test_where_input_excludes_the_cache_more_may_be_cached_than_not(
    con: Con, tmp_path: Path
) -> None:
    usage = {"input_tokens": 3, "cache_read_input_tokens": 9_000, "output_tokens": 5}
    row = {
        "timestamp": "2026-10-05T10:00:00Z",
        "message": {"id": "m", "model": "x", "usage": usage},
    }

    rows = loaded(con, lines(tmp_path / "log", [row]))

    assert fates(rows) == ["accepted"]
    assert identities.checked(con, 1) == []


def test_what_a_form_means_is_said_in_words() -> None:
    assert identities.meaning(SOURCE_BY_NAME["langfuse_observations"]) == (
        "input excludes cached tokens, output excludes reasoning"
    )


def test_real_logs_keep_every_identity(con: Con, samples: Path) -> None:
    kept = {
        "tracelab_codex_session.jsonl.gz": {"input + output = total": 9, "cached ≤ input": 9,
                                            "reasoning ≤ output": 9},
        "litellm_spendlogs_shape.jsonl": {"input + output = total": 2, "cached ≤ input": 2,
                                          "reasoning ≤ output": 1},
        "openai_completions_usage_2025-10-05_2025-10-12.csv": {
            "uncached + cached input = input": 6},
    }  # fmt: skip
    for name, expected in kept.items():
        loaded(con, samples / "logs" / name)
        found = identities.checked(con, 1)
        assert {each["identity"]: each["rows_checked"] for each in found} == expected, name
        assert sum(each["rows_broken"] for each in found) == 0, name
