"""What tests of log forms share: a file written, loaded, and its rows as the record has them."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
from conftest import Rows, rows_of

from pipeline.ingest.detect import recognise
from pipeline.ingest.load import find_files, load
from pipeline.settings import Input, Settings, parse_assume

COUNTS = (
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
)


def document(path: Path, value: object) -> Path:
    """Write one JSON value over many lines."""
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return path


def lines(path: Path, records: Iterable[object]) -> Path:
    """Write JSON records, one a line."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def table(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """Write a CSV file whose columns are those of its first row."""
    rows = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def loaded(con: duckdb.DuckDBPyConnection, *paths: Path, assume: str = "") -> Rows:
    """Load files and return every row with its fate: by file and line, there by model and size."""
    inputs = [Input(str(path), parse_assume(assume)) for path in paths]
    load(con, find_files(inputs, Path("/")), Settings())
    return rows_of(
        con,
        "select * replace (occurred_at::varchar as occurred_at, "
        "bucket_end_at::varchar as bucket_end_at, billed_cost_usd::varchar as billed_cost_usd) "
        "from raw_usage order by input_id, source_line, model_name, raw_usage.billed_cost_usd, "
        "output_tokens desc",
    )


def form(path: Path) -> str:
    """Return the name of the form that a file is taken for."""
    return recognise(path).source.name


def buckets(row: Mapping[str, Any]) -> tuple[int | None, ...]:
    """Return uncached input, cache read, cache written for 5 minutes and for 1 hour, and output."""
    return tuple(row[name] for name in COUNTS)


def fates(rows: Rows) -> list[str]:
    """Return what became of each row: accepted, duplicate, or its reasons."""
    return [
        row["reject_reasons"] or ("duplicate" if row["is_duplicate"] else "accepted")
        for row in rows
    ]
