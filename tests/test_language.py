"""A report can be said in Spanish: what is claimed is complete, nothing is left over or renamed."""

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from report_frames import report, team_mart

from pipeline.report.language import ENGLISH, language_of
from pipeline.report.page_words import SCRIPT_WORDS, WORDS
from pipeline.report.section import Bars, Dots, Figure, Lines, Points, Report, Steps
from pipeline.report.translation import translated
from pipeline.report.workbook.calculator import _INPUTS, _WORK_STEPS, WORDS_OF_FORMULAS
from pipeline.report.workbook.calculator_answer import ANSWERS
from pipeline.report.workbook.reasons import reason_of

SPANISH = language_of("es")
ROOT = Path(__file__).parent.parent
_TRIPLES_OF_A_SENTENCE = 4  # fewer are a head, whose seams may all be new
WORD = re.compile(r"\w+")
NAMES = {"equal_quality.csv", *"abcs"}  # said alike in every language
PLACE = re.compile(r"\{\w*\}")


def entries() -> dict[str, str]:
    catalog = tomllib.loads((ROOT / "templates/lang/es.toml").read_text(encoding="utf-8"))
    parts = [part for part in catalog.values() if isinstance(part, dict)]
    found = {english: text for part in parts for english, text in part.items()}
    assert len(found) == sum(map(len, parts)), "an English text stands there twice"
    return found


def texts(made: Report) -> Iterator[tuple[str, str]]:
    """Yield every text of a report with where it stands; names from logs are none."""
    for section in made.sections:
        yield from ((section.name, text) for text in (section.title, section.question))
        yield from ((section.name, text) for text in (*section.statements, section.empty_reason))
        figures = [*section.key_figures]
        for finding in section.findings:
            yield from ((section.name, text) for text in (finding.title, finding.basis))
            figures += finding.savings
        for figure in figures:
            yield from ((section.name, text) for text in (figure.label, figure.note))
        for table in section.tables:
            yield from ((table.name, text) for text in (table.caption, table.note))
            for column in table.columns:
                told = (column.header, column.meaning, column.unknown, reason_of(column))
                yield from ((table.name, text) for text in told)
        for drawn in section.figures:
            yield from ((drawn.name, text) for text in figure_texts(drawn))
    yield from (("report", text) for text in (made.title, made.subtitle))


def figure_texts(figure: Figure) -> Iterator[str]:
    yield from (figure.title, figure.source, figure.alt, figure.as_table().caption)
    if isinstance(figure, Lines):
        yield from (figure.over, figure.mark_label)
    elif isinstance(figure, Steps):
        yield from figure.labels
    elif isinstance(figure, Points):
        yield from (figure.x_label, figure.y_label)
    is_ours = figure.name == "predicted_against_measured"  # other points are named after models
    if isinstance(figure, Bars | Dots) or (isinstance(figure, Points) and is_ours):
        yield from (name for name, _ in figure.series)


def untranslated(told: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(
        {
            (where, text)
            for where, text in told
            if text not in ("", "–") and text not in NAMES and SPANISH.entry(text) is None
        }
    )


def in_code() -> set[str]:
    """Return every text of the code, the SQL and the references, cut where a value is put in."""
    found = set()
    for path in (ROOT / "pipeline").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.JoinedStr):
                values = [each.value for each in node.values if isinstance(each, ast.Constant)]
                found |= {str(value) for value in values}
    for folder, ending in (("sql", "sql"), ("data/reference", "csv")):
        found |= {path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob(f"*.{ending}")}
    checks = (path.stem.replace("_", " ") for path in (ROOT / "sql/checks").glob("*.sql"))
    return found | set(checks)


def test_every_text_of_a_report_is_in_the_catalog() -> None:
    assert untranslated(texts(report())) == []


def test_every_word_around_the_sections_is_in_the_catalog() -> None:
    steps = [(step.name, step.label) for step in _WORK_STEPS]
    steps += [(answer.name, answer.label) for answer in ANSWERS]
    inputs = [(name, text) for name, label, _, note in _INPUTS for text in (label, note)]
    formulas = [("formula", words) for words in WORDS_OF_FORMULAS]
    page = [*WORDS.items(), *SCRIPT_WORDS.items()]
    words = [*page, *steps, *inputs, *formulas]

    assert untranslated(words) == []


def test_every_entry_is_a_text_of_the_project() -> None:
    """Its words, and of a sentence at least half of all three in a row, stand in the project."""
    words, triples = set(), set()
    for text in in_code():
        told = WORD.findall(text.lower())
        words |= set(told)
        triples |= set(zip(told, told[1:], told[2:], strict=False))

    def is_used(english: str) -> bool:
        pieces = [WORD.findall(piece.lower()) for piece in PLACE.split(english)]
        own = [t for told in pieces for t in zip(told, told[1:], told[2:], strict=False)]
        is_sentence = len(own) >= _TRIPLES_OF_A_SENTENCE
        are_known = sum(triple in triples for triple in own) >= len(own) / 2
        return all(words.issuperset(piece) for piece in pieces) and (are_known or not is_sentence)

    assert [english for english in entries() if not is_used(english)] == []


# Literals of SQL that no reader sees as a sentence: parts of others, names of columns of exports.
_NO_SENTENCES = (
    *("class and team", " and ", ", carried over from ", "assumed for ", "Cache Read Input Tokens"),
    *("Cache Write 5m Input Tokens", "Cache Write 1h Input Tokens"),
    "a step finds the input of the step before it in the cache and writes the rest for 5 ",
)
_LITERAL = re.compile(r"'((?:[^'\n]|'')+)'")
_CODE = re.compile(r"[=%(]|^,")


def test_every_sentence_that_sql_says_is_in_the_catalog() -> None:
    models = [
        path for folder in ("marts", "intermediate") for path in (ROOT / "sql" / folder).iterdir()
    ]
    said = {
        (path.stem, literal.replace("''", "'"))
        for path in models
        for literal in _LITERAL.findall(re.sub("--.*", "", path.read_text(encoding="utf-8")))
        if literal.count(" ") > 1 and not _CODE.search(literal)
    }

    assert len(said) > 60
    assert untranslated((where, text) for where, text in said if text not in _NO_SENTENCES) == []


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
