"""Take JSON text apart into its records, and a record into the names of its keys."""

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

_LIST_HEAD = 2_000  # a page of usage has up to 1,440 buckets, and the first may be empty


def file_text(path: Path, is_gzip: bool) -> str:
    """Return a whole file as text, without the mark of its byte order."""
    content = path.read_bytes()
    return (gzip.decompress(content) if is_gzip else content).decode("utf-8-sig", errors="replace")


def document_records(path: Path, is_gzip: bool) -> list[dict[str, object]]:
    """Return the records of a file that is one JSON value: its own, or those of its array.

    Empty where the file is no JSON value, or holds no object.
    """
    try:
        value = json.loads(file_text(path, is_gzip))
    except (ValueError, RecursionError):
        return []
    return [
        each for each in (value if isinstance(value, list) else [value]) if isinstance(each, dict)
    ]


def page_records(path: Path, is_gzip: bool) -> list[dict[str, object]]:
    """Return the records on the pages of an API: one page in the file, or one a line."""
    pages = document_records(path, is_gzip)
    if not pages:
        pages = list(line_records(file_text(path, is_gzip).split("\n")))
    return list(on_pages(pages))


def on_pages(pages: Iterable[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Yield the records under `data`."""
    for page in pages:
        records = page.get("data")
        if isinstance(records, list):
            yield from (record for record in records if isinstance(record, dict))


def line_records(lines: Iterable[str]) -> Iterator[dict[str, object]]:
    """Yield the objects of a text that has one a line."""
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue  # a broken line is a bad row: ingest sets it aside with its number
        if isinstance(record, dict):
            yield record


def dotted_keys(record: dict[str, object], prefix: str = "") -> Iterator[str]:
    """Yield every key; `a.b` stands for b inside a, `a[].b` for b inside a list under a."""
    for key, value in record.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from dotted_keys(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            for each in value[:_LIST_HEAD]:
                if isinstance(each, dict):
                    yield from dotted_keys(each, f"{prefix}{key}[].")
