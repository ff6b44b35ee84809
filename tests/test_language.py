"""A report can be said in Spanish: what is claimed is complete, nothing is left over or renamed."""

import ast
import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from report_frames import bridge_mart, report, team_mart

from pipeline.report.language import ENGLISH, language_of, translated
from pipeline.report.section import Report
from pipeline.report.workbook_reasons import reason_of

SPANISH = language_of("es")
ROOT = Path(__file__).parent.parent
_LEAST_LETTERS = 12  # of a text around its values, to tell it from others
PLACE = re.compile(r"\{\w*\}")


def entries() -> dict[str, str]:
    catalog = tomllib.loads((ROOT / "templates/lang/es.toml").read_text(encoding="utf-8"))
    parts = [part for part in catalog.values() if isinstance(part, dict)]
    found = {english: text for part in parts for english, text in part.items()}
    assert len(found) == sum(map(len, parts)), "an English text stands there twice"
    return found


def claimed(made: Report) -> Iterator[str]:
    """Yield every text that is claimed: titles, questions, captions, heads, words for unknown."""
    for section in made.sections:
        yield from (section.title, section.question)
        yield from (figure.label for figure in section.key_figures)
        for table in section.tables:
            yield table.caption
            for column in table.columns:
                yield from (column.header, column.unknown, reason_of(column))


def said(made: Report) -> Iterator[str]:
    for section in made.sections:
        yield from section.statements


def in_code() -> set[str]:
    """Return every text of the reports' code, with {} where a value is put in."""
    found = set()
    for path in (ROOT / "pipeline/report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value.strip())
            elif isinstance(node, ast.JoinedStr):
                parts = (
                    str(part.value) if isinstance(part, ast.Constant) else "{}"
                    for part in node.values
                )
                found.add("".join(parts).strip())
    return found


def test_every_text_that_is_claimed_is_in_spanish() -> None:
    known = entries()

    assert sorted({text for text in claimed(report()) if text not in ("", "–", *known)}) == []


def test_every_entry_is_a_text_of_the_reports() -> None:
    fallen = bridge_mart(
        cost_before_usd=Decimal("9.00"), facility_energy_before_kwh=Decimal("90.000000000")
    )
    told = [*said(report()), *said(report(mart_month_bridge=fallen))]
    code = in_code() | {text.lower() for text in in_code()}

    templates = [
        re.compile(".*".join(map(re.escape, text.split("{}"))), re.DOTALL)
        for text in code
        if "{}" in text and len(text.replace("{}", "").strip()) > _LEAST_LETTERS
    ]

    def is_used(english: str) -> bool:
        if english in code or any(template.fullmatch(english) for template in templates):
            return True
        pattern = re.compile(".*".join(map(re.escape, PLACE.split(english))))
        return any(pattern.search(text) for text in told)

    assert [english for english in entries() if not is_used(english)] == []


def test_each_entry_carries_over_the_values_of_its_sentence() -> None:
    for english, text in entries().items():
        assert text.strip()
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(text)), english


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        (
            "Most money: gpt-4.1 · rag, 1,234.50 USD, 24.0% of the priced cost.",
            "Más dinero: gpt-4.1 · rag, 1.234,50 USD, el 24,0% del coste con precio.",
        ),
        (
            "Cost rose from 122.00 to 199.11 USD: most by more or fewer requests +28.21 USD, "
            "then other models −1,005.78 USD.",
            "El coste subió de 122,00 a 199,11 USD: sobre todo por más o menos solicitudes "
            "+28,21 USD, después por otros modelos −1.005,78 USD.",
        ),
        ("Teams", "Equipos"),
        ("A text that nobody has translated.", "A text that nobody has translated."),
        ("", ""),
    ],
)
def test_a_text_is_looked_up_and_its_numbers_are_marked_anew(english: str, spanish: str) -> None:
    assert SPANISH.text(english) == spanish
    assert ENGLISH.text(english) == english


def test_a_name_that_looks_like_a_sentence_is_carried_over_as_it_is() -> None:
    name = "{cost} USD, 1% of x\n" + "(" * 300
    found = SPANISH.text(f"Most money: {name}, 0.10 USD, 5% of the priced cost.")

    assert found == f"Más dinero: {name}, 0,10 USD, el 5% del coste con precio."
    assert SPANISH.text("Most money: " + "x" * 40_000) == "Most money: " + "x" * 40_000


def test_cells_are_not_looked_up_so_no_team_is_renamed() -> None:
    made = report(mart_team_chargeback=team_mart({"team": "Cost"}))
    section = next(
        section for section in translated(made, SPANISH).sections if section.name == "teams"
    )
    [table] = [table for table in section.tables if table.name == "team_chargeback"]

    assert section.title == "Equipos"
    assert table.columns[0].header == "Equipo"
    assert "Cost" in [row[0] for row in table.rows]


def test_english_is_the_report_itself() -> None:
    assert translated(report(), ENGLISH) is report()


def test_heads_stay_different_from_one_another_in_spanish() -> None:
    for section in translated(report(), SPANISH).sections:
        for table in section.tables:
            heads = [f"{c.header} ({c.unit})".lower() for c in table.columns]
            assert len(set(heads)) == len(heads), table.name
