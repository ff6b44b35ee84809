"""Recalculate a workbook with an office program, without trusting a single stored result."""

import io
import math
import re
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
from need import need_program

Cells = dict[tuple[str, str], Any]  # (sheet, cell) → value
RELATIVE, NEARLY_NOTHING = 1e-9, 1e-15


def stored(workbook: bytes) -> Cells:
    """Return every formula cell with the result that stands in the file."""
    formulas = openpyxl.load_workbook(io.BytesIO(workbook))
    values = openpyxl.load_workbook(io.BytesIO(workbook), data_only=True)
    return {
        (sheet.title, cell.coordinate): values[sheet.title][cell.coordinate].value
        for sheet in formulas
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }


def recalculated(workbook: bytes, folder: Path, **inputs: float | str) -> Cells:
    """Return every formula cell as LibreOffice computes it, some named inputs changed."""
    return recalculated_each(workbook, folder, [inputs])[0]


def recalculated_each(
    workbook: bytes,
    folder: Path,
    cases: Iterable[Mapping[str, float | str]],
    sheets: Iterable[str] = (),
) -> list[Cells]:
    """Return the formula cells for each case of named inputs, of one run of LibreOffice.

    The library drops all stored results when it saves, so nothing can be read back. To save time
    only some sheets may be kept: those that refer to one another alone.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bare = []
    for number, inputs in enumerate(cases):
        book = openpyxl.load_workbook(io.BytesIO(workbook))
        for name, value in inputs.items():
            sheet, _, cell = book.defined_names[name].attr_text.partition("!")
            book[sheet][cell.replace("$", "")].value = value
        for name in set(book.sheetnames) - set(sheets or book.sheetnames):
            del book[name]
        bare.append(folder / f"bare{number}.xlsx")
        book.save(bare[-1])
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
