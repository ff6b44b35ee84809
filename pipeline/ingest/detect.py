"""Recognise a file by its content: container, compression and log form, never by its name."""

import csv
import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import polars as pl

from pipeline.errors import BadInputError, IncompleteInputError
from pipeline.ingest import prometheus
from pipeline.ingest.column_names import listed
from pipeline.ingest.containers import (
    UnknownFormError,
    require_readable_name,
    require_unpacked,
    require_utf_8,
)
from pipeline.ingest.records import document_records, dotted_keys, line_records, on_pages
from pipeline.ingest.sources import SOURCES, Source
from pipeline.ingest.sources.general import LEAST_COLUMNS
from pipeline.ingest.telemetry import forms as telemetry_forms

HEAD_BYTES = 1_000_000
_MOST_HEAD_BYTES = 64_000_000  # where a first line is that long
_CHUNK_BYTES = 1 << 20
_RUN_COLUMNS = {"run_id", "started_at", "ended_at", "model", "category"}
_DELIMITERS = (",", "\t", ";", "|")


@dataclass(frozen=True)
class Recognised:
    """What a file is: its form, how to open it, and the columns of its head."""

    path: Path
    source: Source
    # csv, parquet, metrics (Prometheus text), json (one object a line), document (one JSON value)
    # or pages (records under `data` of JSON values)
    file_kind: str
    is_gzip: bool
    delimiter: str
    columns: tuple[str, ...]
    sha256: str
    head_keys: frozenset[str] = frozenset()  # of the JSON records that its head holds
    line_count: int = 0  # of the unpacked text, the last one too where it has no end
    longest_line_bytes: int = 0


class _Lines:
    """Counts the lines of a text that comes in pieces, and knows the longest."""

    def __init__(self) -> None:
        self.count = self.longest = self._open = 0

    def take(self, chunk: bytes) -> None:
        """Go on with the next piece."""
        first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
        if first < 0:
            self._open += len(chunk)
        else:
            self.longest = max(self.longest, self._open + first)
            self._open = len(chunk) - last - 1
            self.count += chunk.count(b"\n")
            # Between the two lies no line that is longer than a piece, which is all that matters.
            self.longest = max(self.longest, min(last - first, len(chunk)))

    def end(self) -> None:
        """Count a last line without an end."""
        self.longest = max(self.longest, self._open)
        self.count += self._open > 0


def recognise(path: Path) -> Recognised:
    """Say what a file is.

    Raises:
        IncompleteInputError: For an empty file.
        UnknownFormError: For a file of no known form.
        BadInputError: For a file that cannot be read to its end.
    """
    require_readable_name(path)
    lines = _Lines()
    sha256 = _sha256(path, lines)
    with path.open("rb") as file:
        magic = file.read(16)
    if magic[:4] == b"PAR1":
        return _recognise_parquet(path, sha256)
    require_unpacked(path, magic)
    is_gzip = magic[:2] == b"\x1f\x8b"
    if is_gzip:
        lines = _Lines()
    head = _head(path, is_gzip, lines)
    lines.end()
    try:
        require_utf_8(path, head)
        if not head.strip():
            raise IncompleteInputError(
                f"{path}: expected usage rows, found an empty file. Export it again, or leave it "
                "out."
            )
        found = _recognise_text(path, head, is_gzip, sha256)
    except UnknownFormError:
        _require_no_power_log(path, head)
        raise
    return replace(found, line_count=lines.count, longest_line_bytes=lines.longest)


def _recognise_text(path: Path, head: bytes, is_gzip: bool, sha256: str) -> Recognised:
    text = head.decode("utf-8-sig", errors="replace")
    if text.lstrip()[:1] in "{[":
        return _recognise_json(path, text, is_gzip, sha256)
    names = prometheus.metric_names(text)
    source = _match("metrics", names)
    if source is not None:
        columns = tuple(sorted(names))
        return Recognised(path, source, "metrics", is_gzip, "", columns, sha256)
    return _recognise_csv(path, text, is_gzip, sha256)


def unpacked_sha256(found: Recognised) -> str:
    """Return the hash of a file's content, so that a log and its packed copy are one."""
    if not found.is_gzip:
        return found.sha256
    digest = hashlib.sha256()
    with gzip.open(found.path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _recognise_parquet(path: Path, sha256: str) -> Recognised:
    try:
        columns = tuple(pl.read_parquet_schema(path))
    except pl.exceptions.PolarsError as error:
        raise BadInputError(
            f"{path}: expected a whole Parquet file, found damage: {_first_line(error)}. "
            "Write it again."
        ) from None
    source = _match("table", set(columns)) or _match_empty("table", set(columns))
    if source is None:
        raise _unknown(path, "table", columns)
    return Recognised(path, source, "parquet", False, "", columns, sha256)


def _recognise_csv(path: Path, text: str, is_gzip: bool, sha256: str) -> Recognised:
    header = next((line for line in text.splitlines() if line.strip()), "")
    if not text.splitlines()[0].strip():
        raise UnknownFormError(
            f"{path}: expected a header in the first line, found a blank one. Remove it."
        )
    delimiter = max(_DELIMITERS, key=header.count)
    columns = tuple(next(csv.reader(io.StringIO(header), delimiter=delimiter)))
    source = _match("table", set(columns)) or _match_empty("table", set(columns))
    if source is None:
        source, columns = _match_otherwise_spelt(columns)
    if source is None:
        raise _unknown(path, "table", columns)
    _require_once(path, source, columns)
    return Recognised(path, source, "csv", is_gzip, delimiter, columns, sha256)


def _match_otherwise_spelt(columns: tuple[str, ...]) -> tuple[Source | None, tuple[str, ...]]:
    """Find the form of a header in other case or with blanks; return its columns as it has them."""
    plain = [name.strip().casefold() for name in columns]
    for source in SOURCES:
        known = {name.casefold(): name for name in (*source.columns, *source.signature)}
        spelt = tuple(known.get(name, found) for name, found in zip(plain, columns, strict=True))
        if "table" in source.containers and set(spelt).issuperset(source.signature):
            return source, spelt
    return None, columns


def _require_once(path: Path, source: Source, columns: tuple[str, ...]) -> None:
    twice = [name for name in source.columns if columns.count(name) > 1]
    if twice:
        raise BadInputError(
            f"{path}: expected each column of the {source.title} once, found {twice[0]} "
            f"{columns.count(twice[0])} times. Remove or rename all but the right one."
        )


def _recognise_json(path: Path, text: str, is_gzip: bool, sha256: str) -> Recognised:
    is_array = text.lstrip().startswith("[")
    file_kind, records = "json", [] if is_array else list(line_records(text.split("\n")))
    if not records:
        file_kind, records = "document", document_records(path, is_gzip)
    seen = []
    for record in records:
        keys = set(dotted_keys(record))
        source = _match("json", keys)
        if source is not None:
            columns, all_keys = tuple(sorted(keys)), frozenset().union(*records)
            return Recognised(path, source, file_kind, is_gzip, "", columns, sha256, all_keys)
        seen.append(keys)
    for record in on_pages(records):
        keys = set(dotted_keys(record))
        source = _match("json", keys)
        if source is not None:
            return Recognised(path, source, "pages", is_gzip, "", tuple(sorted(keys)), sha256)
    for keys in seen:
        source = _match_empty("json", keys)
        if source is not None:
            return Recognised(path, source, file_kind, is_gzip, "", tuple(sorted(keys)), sha256)
    raise _unknown(path, "json", tuple(sorted(set().union(*seen))))


def _match(container: str, keys: set[str]) -> Source | None:
    return next(
        (
            source
            for source in SOURCES
            if container in source.containers and keys.issuperset(source.signature)
        ),
        None,
    )


def _match_empty(container: str, keys: set[str]) -> Source | None:
    return next(
        (
            source
            for source in SOURCES
            if container in source.containers
            and source.empty_columns
            and keys == set(source.empty_columns)
        ),
        None,
    )


def _require_no_power_log(path: Path, head: bytes) -> None:
    """Say of a power log, or of the runs measured by one, which command reads it."""
    tool = telemetry_forms.title_of(head)
    if tool is not None:
        found, option = f"a power log of {tool}", "--telemetry"
    elif set(head.partition(b"\n")[0].decode(errors="replace").strip().split(",")) >= _RUN_COLUMNS:
        found, option = "the runs of a measuring session", "--runs"
    else:
        return
    raise UnknownFormError(
        f"{path}: expected a usage log, found {found}. Read it with "
        f"`joulebook audit {option} FILE`."
    ) from None


def _sha256(path: Path, lines: _Lines) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                lines.take(chunk)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read: {error.strerror}.") from None
    return digest.hexdigest()


def _head(path: Path, is_gzip: bool, lines: _Lines) -> bytes:
    """Return the first bytes of the text; a compressed file is read to its end, to prove it."""
    if not is_gzip:
        with path.open("rb") as file:
            return _first_lines(file)
    try:
        with gzip.open(path) as file:
            head = _first_lines(file)
            lines.take(head)
            while chunk := file.read(_CHUNK_BYTES):
                lines.take(chunk)
            return head
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(
            f"{path}: expected a whole gzip file, found damage: {_first_line(error)}. "
            "Copy or export it again."
        ) from None


def _first_lines(file: BinaryIO | gzip.GzipFile) -> bytes:
    head = file.read(HEAD_BYTES)
    return head if b"\n" in head else head + file.readline(_MOST_HEAD_BYTES)


def _unknown(path: Path, container: str, keys: tuple[str, ...]) -> UnknownFormError:
    """Say what a file lacks of the form it comes nearest to, or which forms there are."""
    if not keys:
        found = (
            "text that begins like JSON but is no whole JSON value: it is cut off, or no JSON. "
            "Export it again, one object a line or one array"
        )
    else:
        word = "columns" if container == "table" else "JSON keys"
        found = f"{word} {listed(keys)}"
    forms = [source for source in SOURCES if container in source.containers]
    near = [form for form in forms if len(_lacking(form, keys)) * 2 <= len(form.signature)]
    if near:
        nearest = min(near, key=lambda form: (len(_lacking(form, keys)), -len(form.signature)))
        expected = f"the {nearest.title} with {listed(_lacking(nearest, keys))}"
    else:
        expected = f"a usage log ({', '.join(sorted({form.title for form in forms}))})"
    return UnknownFormError(
        f"{path}: expected {expected}, found {found}. Name the columns as the general form does "
        f"(at least {', '.join(LEAST_COLUMNS)}; all of them stand in README, 'Your own logs'), or "
        "leave the file out."
    )


def _lacking(source: Source, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key for key in source.signature if key not in keys)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
