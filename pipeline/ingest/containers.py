"""Refuse files that are no text in UTF-8 as they stand, with how to make one of them."""

from pathlib import Path

from pipeline.errors import BadInputError

# How files begin that hold no text as they stand, and what to do with them.
_PACKED = (
    (b"PK\x03\x04", "a ZIP archive or a workbook", "Unpack it, or save the sheet as CSV"),
    (b"\x28\xb5\x2f\xfd", "a file packed by zstd", "Unpack it: zstd -d FILE"),
    (b"BZh", "a file packed by bzip2", "Unpack it: bunzip2 FILE"),
    (b"\xfd7zXZ\x00", "a file packed by xz", "Unpack it: unxz FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "Save the sheet as CSV"),
    (b"SQLite format 3", "a SQLite database", "Export its table as CSV"),
    (b"%PDF", "a PDF", "Ask its sender for the figures as CSV"),
    (b"\x89PNG", "an image", "Leave it out"),
)


class UnknownFormError(BadInputError):
    """A readable file that is no usage log we know."""


def require_readable_name(path: Path) -> None:
    """Refuse a name that is not UTF-8.

    Raises:
        UnknownFormError: With the name as far as it can be shown.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = str(path).encode(errors="replace").decode()
        raise UnknownFormError(
            f"{shown}: expected a file name in UTF-8, found other bytes. Rename the file."
        ) from None


def require_unpacked(path: Path, magic: bytes) -> None:
    """Refuse archives, workbooks and the like by their first bytes; gzip is read.

    Raises:
        UnknownFormError: With what it is, and how to make a log of it.
    """
    for begin, what, how in _PACKED:
        if magic.startswith(begin):
            raise UnknownFormError(f"{path}: expected a usage log, found {what}. {how}.")


def require_utf_8(path: Path, head: bytes) -> None:
    """Refuse a text that is UTF-16 or UTF-32, with a mark or without.

    Raises:
        UnknownFormError: With how to convert it.
    """
    marks = {b"\xff\xfe\x00\x00": "UTF-32", b"\x00\x00\xfe\xff": "UTF-32",
             b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # fmt: skip
    found = next((name for mark, name in marks.items() if head.startswith(mark)), "")
    if not found and head[:2_000].count(0) * 3 >= len(head[:2_000]) > 0:
        found = "UTF-16"
    if found:
        raise UnknownFormError(
            f"{path}: expected text in UTF-8, found {found}. Convert it: "
            f"iconv -f {found} -t UTF-8 FILE > NEW_FILE, or save it as UTF-8."
        )
