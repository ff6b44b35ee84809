"""A Spanish workbook holds no English sentence, but for texts that README leaves in English.

Those are names and codes, data sheets and the dictionary, and texts of reference tables.
"""

import io
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pytest
from conftest import Book
from live_book import ROWS, rendered
from openpyxl.worksheet.worksheet import Worksheet
from recalculation import opened

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
ENGLISH = re.compile(
    r"\b(the|of|and|with|which|from|than|by|is|are|that|this|without|their|its|was|run|or|at|not)\b"
)
LEFT_IN_ENGLISH = ("Data_", "Dictionary", "Prices", "Catalog")  # lists of rows as they are
TRANSLATED = ("law_validation", "power_policies")  # tables whose sentences the catalog knows
HEADS_IN_FORMULAS = {"Value of the run", "What is compared"}
# A model at a provider, several codes of where a cost comes from.
NAMES = re.compile(r"[\w./-]+ at \w+.*|[a-z]+( and [a-z]+)+|.* · [\w./-]+ at \w+")


@pytest.fixture(scope="module")
def spanish(book_of: Callable[..., Book]) -> bytes:
    return rendered(book_of, language="es")


@pytest.fixture(scope="module")
def references() -> str:
    """Return all that reference tables and the log of the test say, but for what is translated."""
    tables = (ROOT / "data/reference").glob("*.csv")
    paths = sorted(path for path in tables if path.stem not in TRANSLATED)
    texts = [path.read_text(encoding="utf-8").replace('""', '"') for path in paths]
    return "\n".join((*texts, *(str(value) for row in ROWS for value in row.values())))


def said(sheet: Worksheet) -> Iterator[tuple[str, str]]:
    """Yield the texts of a sheet with where they stand: cells, comments, warnings, footers."""
    for row in sheet.iter_rows():
        for cell in row:
            if isinstance(cell.value, str) and cell.data_type != "f":
                yield cell.coordinate, cell.value
            if cell.comment:
                yield f"comment of {cell.coordinate}", cell.comment.text
    for rule in sheet.data_validations.dataValidation:
        yield from (("rule", text) for text in (rule.error, rule.errorTitle) if text)


def is_english(text: str, references: str) -> bool:
    return (
        bool(ENGLISH.search(text))
        and text not in HEADS_IN_FORMULAS
        and not NAMES.fullmatch(text)
        and (text.partition(": ")[2] or text)
        not in references  # a publisher, then what it published
    )


def test_no_cell_and_no_comment_is_left_in_english(spanish: bytes, references: str) -> None:
    book = openpyxl.load_workbook(io.BytesIO(spanish), data_only=True)

    left = [
        f"{sheet.title}!{where}: {text}"
        for sheet in book
        if not sheet.title.startswith(LEFT_IN_ENGLISH)
        for where, text in said(sheet)
        if is_english(text, references)
    ]

    assert left == []


def test_statuses_are_said_in_spanish(spanish: bytes) -> None:
    sheet = openpyxl.load_workbook(io.BytesIO(spanish))["Checks"]
    said = {str(cell.value) for row in sheet.iter_rows() for cell in row}

    assert "✓ cumple" in said
    assert not said & {"✓ pass", "! warn", "✗ fail"}


def test_severities_and_the_words_of_papers_are_said_in_spanish(spanish: bytes) -> None:
    book = openpyxl.load_workbook(io.BytesIO(spanish))
    cells = {
        name: {str(cell.value) for row in book[name].iter_rows() for cell in row}
        for name in ("Checks", "Power_papers", "Law_errors")
    }

    assert "aviso" in cells["Checks"]
    assert not cells["Checks"] & {"warn", "issue"}
    assert {"cambio de energía", "límite de 175 W", "-23,2 %"} <= cells["Power_papers"]
    assert (
        "ajuste a estas filas: 2; dividido por el lote; energía con CPU y memoria"
        in (cells["Law_errors"])
    )


def test_a_comment_of_a_data_sheet_is_in_spanish_too(spanish: bytes) -> None:
    catalog = tomllib.loads((ROOT / "templates/lang/es.toml").read_text(encoding="utf-8"))
    known = {text for part in catalog.values() if isinstance(part, dict) for text in part.values()}
    book = openpyxl.load_workbook(io.BytesIO(spanish))
    comments = [
        (sheet.title, cell.value, cell.comment.text)
        for sheet in book
        if sheet.title.startswith((*LEFT_IN_ENGLISH, "Coefficients", "Bias_factors"))
        for row in sheet.iter_rows(max_row=8)
        for cell in row
        if cell.comment
    ]

    assert len(comments) > 250
    assert [each for each in comments if each[2] not in known] == []


def test_formulas_give_the_words_of_the_language(spanish: bytes) -> None:
    book = opened(spanish)

    words = {
        word
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
        for word in re.findall(r'"([^"]*)"', str(cell.value))
        if ENGLISH.search(word)
    }

    assert words == set()


def test_footers_and_charts_are_said_in_spanish(spanish: bytes) -> None:
    book = opened(spanish)
    with zipfile.ZipFile(io.BytesIO(spanish)) as parts:
        drawn = [
            text
            for name in parts.namelist()
            if name.startswith(("xl/charts/", "xl/drawings/"))
            for text in re.findall(r'<a:t>(.*?)</a:t>|descr="(.*?)"', parts.read(name).decode())
        ]
    footers = {sheet.oddFooter.left.text for sheet in book}
    pages = {sheet.oddFooter.right.text for sheet in book}

    assert {text.rpartition(" ")[0] for text in footers} == {
        "Joulebook 2026-10, método method, ejecución"
    }
    assert pages == {"Página &P de &N"}
    texts = [one or other for one, other in drawn]
    assert len(texts) > 20
    assert [text for text in texts if ENGLISH.search(text)] == []
