"""The bytes of a power log as numbered lines, whatever their encoding."""

import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.errors import BadInputError, IncompleteInputError, WrongUseError

_MARKS = ((b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"),
          (b"\xfe\xff", "utf-16"))  # fmt: skip
_HEAD_LINES = 200


@dataclass(frozen=True)
class Log:
    """A power log: its lines (source_line, text) without blank ones, as the file orders them."""

    path: Path
    lines: pl.DataFrame
    columns: tuple[str, ...] | None = None  # of a log without a head, as the user tells them
    notes: tuple[str, ...] = ()

    @property
    def head(self) -> list[str]:
        """Return the first lines."""
        texts: list[str] = self.lines["text"].head(_HEAD_LINES).to_list()
        return texts

    def refusal(self, expected: str, found: str, remedy: str) -> BadInputError:
        """Return the error that says why this file cannot be read."""
        return BadInputError(f"{self.path}: expected {expected}, found {found}. {remedy}")


def read_log(path: Path, columns: tuple[str, ...] | None) -> Log:
    """Read a log, gzip-packed or not.

    Raises:
        WrongUseError: Where there is no such file.
        IncompleteInputError: Where it is empty.
        BadInputError: Where it cannot be read to its end.
    """
    data = _bytes(path)
    text, notes = _decoded(data)
    lines = pl.read_lines(io.BytesIO(text)) if text.strip() else pl.DataFrame({"lines": [""]})
    numbered = lines.select(
        (pl.int_range(pl.len(), dtype=pl.Int64) + 1).alias("source_line"),
        pl.first().str.strip_chars_end("\r\n").alias("text"),
    ).filter(pl.col("text").str.strip_chars() != "")
    if numbered.is_empty():
        raise IncompleteInputError(
            f"{path}: expected rows of a power log, found an empty file. Log again, or leave it "
            "out."
        )
    return Log(path, numbered, columns, notes)


def head_of(data: bytes) -> list[str]:
    """Return the first lines of a text of unknown encoding."""
    lines = _decoded(data)[0].decode(errors="replace").splitlines()
    return [line for line in lines if line.strip()][:_HEAD_LINES]


def as_utf_8(text: str) -> str:
    """Return a text that was read byte by byte as the UTF-8 it is, where it is that."""
    try:
        return text.encode("latin-1").decode("utf-8-sig")
    except UnicodeError:
        return text


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise WrongUseError(f"{path}: no such file. Check the path of the power log.")
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        raise BadInputError(
            f"{path}: cannot be read to its end: {error}. Copy or log it again."
        ) from None


def _decoded(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the text in UTF-8, and what had to be done for it.

    A log may mix encodings line by line (a head in UTF-8 over rows in GBK). What is not UTF-8 as
    a whole is taken byte by byte: numbers are the same in all, and names are mended one by one.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if not encoding and _is_utf_16(data):
        encoding = "utf-16-le" if data[1] == 0 else "utf-16-be"
    if encoding:
        return data.decode(encoding, errors="replace").encode(), (f"read as {encoding.upper()}",)
    notes = []
    if zeros := data.count(0):
        data = data.replace(b"\0", b"")
        notes.append(f"{zeros:,} NUL bytes left out: the file was emptied while it was written")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode("latin-1").encode()
    return data, tuple(notes)


def _is_utf_16(data: bytes) -> bool:
    """Say whether every second byte of the beginning is 0, and only every second."""
    head = data[:200]
    if len(head) < 4 or len(head) % 2:
        return False
    even, odd = head[::2].count(0), head[1::2].count(0)
    return min(even, odd) == 0 and max(even, odd) * 2 > len(head) * 0.9
