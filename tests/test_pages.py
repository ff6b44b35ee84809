"""Pages of an API: where every page says that more follow, the last one is missing."""

import json
from pathlib import Path

import duckdb
import pytest

from pipeline.ingest.files import find_files
from pipeline.ingest.load import load
from pipeline.settings import Input, Settings

Con = duckdb.DuckDBPyConnection
HOUR_S = 3_600
START_S = 1_790_985_600  # 3 October 2026, 00:00 UTC


def openai_page(hour: int, *, has_more: bool) -> str:
    result = {
        "object": "organization.usage.completions.result",
        "input_tokens": 100,
        "output_tokens": 10,
        "input_cached_tokens": 0,
        "num_model_requests": 1,
        "model": "gpt-5-mini",
    }
    start = START_S + hour * HOUR_S
    bucket = {"object": "bucket", "start_time": start, "end_time": start + HOUR_S}
    page = {"object": "page", "data": [{**bucket, "results": [result]}], "has_more": has_more}
    return json.dumps({**page, "next_page": "page_x" if has_more else None})


@pytest.mark.parametrize(
    ("more", "is_told"),
    [([True], True), ([True, True], True), ([True, False], False), ([False], False)],
)
def test_a_last_page_that_is_missing_is_told(
    con: Con, tmp_path: Path, more: list[bool], is_told: bool
) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for hour, has_more in enumerate(more):
        (folder / f"{hour}.json").write_text(openai_page(hour, has_more=has_more), "utf-8")
    said: list[str] = []

    load(con, find_files([Input("pages", {})], tmp_path), Settings(), said.append)

    notes = [text for text in said if "has_more" in text]
    assert len(notes) == is_told
    assert all("the last one is missing" in note and "next_page" in note for note in notes)
    (counted,) = con.sql("select sum(output_tokens) from raw_usage").fetchall()[0]
    assert counted == 10 * len(more)
