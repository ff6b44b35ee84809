"""JSON in the shapes that tools write it, taken apart into records."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest
from source_rows import fates, loaded

from pipeline.ingest.records import dotted_keys

GOOD = {
    "occurred_at": "2026-10-05T10:00:00Z",
    "model_name": "m",
    "input_tokens": 9,
    "output_tokens": 1,
    "team": "line\u2028separator",
}
TEXT = json.dumps(GOOD, ensure_ascii=False)
BAD = json.dumps({**GOOD, "output_tokens": -1})


@pytest.mark.parametrize(
    "text",
    [
        f"{TEXT}\n{BAD}",
        f"[{TEXT}, {BAD}]",
        f"[\n{TEXT},\n{BAD}\n]\n",
        json.dumps([GOOD, json.loads(BAD)], indent=2),
        f'{{"data": [{TEXT}, {BAD}], "next": null}}',
        json.dumps({"data": [GOOD, json.loads(BAD)], "total": 2}, indent=2),
        f'{{"data": [{TEXT}]}}\n{{"data": [{BAD}]}}\n',
    ],
    ids=["lines", "array", "array, one a line", "wide array", "page", "wide page", "pages"],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_records_are_read_in_every_shape(
    con: duckdb.DuckDBPyConnection, tmp_path: Path, text: str, is_packed: bool
) -> None:
    path = tmp_path / "log"
    content = text.encode("utf-8-sig")
    path.write_bytes(gzip.compress(content) if is_packed else content)

    rows = loaded(con, path)

    assert fates(rows) == ["accepted", "tokens_negative"]
    assert [row["source_line"] for row in rows] == [1, 2]
    assert rows[0]["team"] == "line\u2028separator"


def test_keys_within_objects_and_lists_are_dotted() -> None:
    record: dict[str, object] = {"a": {"b": 1}, "c": [1, {"d": {"e": 2}}], "f": []}

    assert list(dotted_keys(record)) == ["a", "a.b", "c", "c[].d", "c[].d.e", "f"]
