"""Recalculate a workbook with an office program, without trusting a single stored result."""

import functools
import io
import math
import re
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any
from xml.etree import ElementTree

import openpyxl
from need import need_program

Cells = Mapping[tuple[str, str], Any]  # (sheet, cell) → value
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATIVE, NEARLY_NOTHING = 1e-9, 1e-15


@functools.cache
def stored(workbook: bytes) -> Cells:
    """Return every formula cell with the result that stands in the file."""
    cells: dict[tuple[str, str], Any] = {}
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        texts = [_shown(each) for each in _part(archive, "sharedStrings", f"{_MAIN}si")]
        sheets = [str(each.get("name")) for each in _part(archive, "workbook", f"{_MAIN}sheet")]
        for number, sheet in enumerate(sheets, start=1):
            for cell in _part(archive, f"worksheets/sheet{number}", f"{_MAIN}c"):
                if cell.find(f"{_MAIN}f") is not None:
                    cells[sheet, str(cell.get("r"))] = _value(cell, texts)
    return MappingProxyType(cells)


@functools.cache
def opened(workbook: bytes) -> Any:  # noqa: ANN401  # the library carries no types
    """Return a workbook as the library reads it, formulas and all, to be read only."""
    return openpyxl.load_workbook(io.BytesIO(workbook))


def dearer(workbook: bytes, column: str) -> dict[str, float | str]:
    """Return the cells of a column of list prices, each ten dollars more."""
    prices = opened(workbook)["Prices"]
    number = [cell.value for cell in prices[2]].index(column) + 1
    cells = [prices.cell(row, number) for row in range(3, prices.max_row + 1)]
    return {f"Prices!{cell.coordinate}": float(cell.value) + 10 for cell in cells}


def _part(archive: zipfile.ZipFile, name: str, tag: str) -> list[ElementTree.Element]:
    """Return the elements of a part of the file, none where it has no such part."""
    member = f"xl/{name}.xml"
    if member not in archive.namelist():
        return []
    root = ElementTree.fromstring(archive.read(member))  # noqa: S314 our own
    return list(root.iter(tag))


def _shown(item: ElementTree.Element) -> str:
    return "".join(each.text or "" for each in item.iter(f"{_MAIN}t"))


def _value(cell: ElementTree.Element, texts: list[str]) -> float | str | bool | None:
    text, kind = cell.findtext(f"{_MAIN}v"), cell.get("t", "n")
    if not text:
        return None
    if kind == "n":
        return float(text)
    if kind == "b":
        return text == "1"
    return texts[int(text)] if kind == "s" else text  # else a text or an error of its own


def recalculated(workbook: bytes, folder: Path, **inputs: float | str) -> Cells:
    """Return every formula cell as LibreOffice computes it, some named inputs changed."""
    return recalculated_each(workbook, folder, [inputs])[0]


def recalculated_each(
    workbook: bytes,
    folder: Path,
    cases: Iterable[Mapping[str, float | str]],
    sheets: Iterable[str] = (),
) -> list[Cells]:
    """Return the formula cells for each case of inputs, of one run of LibreOffice.

    An input is named, or a cell such as `Prices!B3`. The library drops all stored results when it
    saves, so nothing can be read back. To save time only some sheets may be kept: those that refer
    to one another alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    book = openpyxl.load_workbook(io.BytesIO(workbook))
    for name in set(book.sheetnames) - set(sheets or book.sheetnames):
        del book[name]
    bare = []
    for number, inputs in enumerate(cases):
        cells = {_cell(book, name): value for name, value in inputs.items()}
        before = {cell: cell.value for cell in cells}
        _set(cells)
        bare.append(folder / f"bare{number}.xlsx")
        book.save(bare[-1])
        _set(before)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    subprocess.run(
        [
            *(need_program("soffice"), "--headless", profile, "--convert-to"),
            *("xlsx:Calc MS Excel 2007 XML", "--outdir", str(folder / "out"), *map(str, bare)),
        ],
        check=True,
        timeout=600,
        capture_output=True,
    )
    return [stored((folder / "out" / path.name).read_bytes()) for path in bare]


def _cell(book: Any, name: str) -> Any:  # noqa: ANN401  # the library carries no types
    place = name if "!" in name else book.defined_names[name].attr_text
    sheet, _, cell = place.partition("!")
    return book[sheet][cell.replace("$", "")]


def _set(values: Mapping[Any, object]) -> None:
    for cell, value in values.items():
        cell.value = value


def differences(expected: Cells, found: Cells, relative: float = RELATIVE) -> list[str]:
    """Return where two sets of cells do not agree, one line a cell."""
    return [
        f"{sheet}!{cell}: {expected.get((sheet, cell))!r}, recalculated {value!r}"
        for (sheet, cell), value in sorted(found.items())
        if not agree(expected.get((sheet, cell)), value, relative)
    ] + [f"{sheet}!{cell}: gone" for sheet, cell in sorted(set(expected) - set(found))]


def agree(one: object, other: object, relative: float = RELATIVE) -> bool:
    """Return whether two values are the same number, or the same text."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=relative, abs_tol=NEARLY_NOTHING)
    return one == other


def planted(workbook: bytes, sheet: str, cell: str, result: str) -> bytes:
    """Return a workbook in which the stored result of one formula is another number."""
    book = openpyxl.load_workbook(io.BytesIO(workbook), read_only=True)
    member = f"xl/worksheets/sheet{book.sheetnames.index(sheet) + 1}.xml"
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            text = old.read(name)
            if name == member:
                pattern = rf'(<c r="{cell}"[^>]*><f>[^<]*</f><v>)[^<]*'.encode()
                text, count = re.subn(pattern, rb"\g<1>" + result.encode(), text)
                assert count == 1
            new.writestr(name, text)
    return buffer.getvalue()
