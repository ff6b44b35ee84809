"""A line of a generated file beside what a right reader must make of it."""

import gzip
from dataclasses import dataclass
from typing import Literal

from pipeline.sample.traffic import Request

Outcome = Literal["accepted", "duplicate", "rejected", "not_a_row"]


@dataclass(frozen=True)
class Line:
    """Text without its line end; reason is set where the outcome is `rejected`.

    not_a_row: a header, or a line of a session log that carries no usage.
    """

    text: str
    outcome: Outcome = "accepted"
    reason: str = ""
    request: Request | None = None


@dataclass(frozen=True)
class SampleFile:
    """A generated file: its name, the form it is in and its lines."""

    name: str
    form: str
    lines: tuple[Line, ...]
    line_end: str = "\n"

    @property
    def content(self) -> bytes:
        """Return the bytes of the file before compression."""
        return "".join(line.text + self.line_end for line in self.lines).encode()


def packed(content: bytes) -> bytes:
    """Return gzip bytes that hold neither a time nor a file name."""
    return gzip.compress(content, compresslevel=9, mtime=0)
