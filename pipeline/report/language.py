"""The language of a report: English texts looked up in a catalog, numbers in them marked anew.

A catalog is one file, `templates/lang/CODE.toml`, keyed by the English text. A sentence with values
is keyed by its template, such as `Agents read {number_part} of their input tokens …`: what stands
in the place of a brace is carried over, a number with the marks of the language, a text by its
own entry where it has one. A text that the catalog lacks stays English. Names from logs are values,
and cells of tables are never looked up, so no team called "Cost" is renamed.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from pipeline.report.section import Report, Section, Table
from pipeline.settings import bundled

_PLACE = re.compile(r"\{(\w+)\}")
_NUMBERS = "number_"  # how the name of a place begins that holds a number and nothing else
_LONGEST_SENTENCE = 2_000  # letters; a longer one holds a name that is no text of ours
_NUMBER = re.compile(r"[<>+−-]*\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?%?")


@dataclass(frozen=True)
class Language:
    """The marks of numbers and the texts of one language."""

    code: str
    decimal_mark: str = "."
    group_mark: str = ","
    texts: Mapping[str, str] = field(default_factory=dict)  # English → this language
    templates: tuple[tuple[re.Pattern[str], str], ...] = ()  # English with values → this language

    def text(self, english: str) -> str:
        """Return a text in this language, as it is where the catalog has no entry for it."""
        if not self.texts or not english:
            return english
        if english in self.texts:
            return self.texts[english]
        for pattern, template in self.templates if len(english) <= _LONGEST_SENTENCE else ():
            if found := pattern.fullmatch(english):
                values = {name: self._value(value) for name, value in found.groupdict().items()}
                return _PLACE.sub(lambda place, values=values: values[place[1]], template)  # type: ignore[misc]
        return english

    def _value(self, english: str) -> str:
        if _NUMBER.fullmatch(english):
            marks = {ord("."): self.decimal_mark, ord(","): self.group_mark}
            return english.translate(marks)
        return self.text(english)


ENGLISH = Language("en")


@cache
def language_of(code: str) -> Language:
    """Return the language of a code of `settings.LANGUAGES`, read from its catalog."""
    if code == ENGLISH.code:
        return ENGLISH
    path = bundled("templates/lang") / f"{code}.toml"
    catalog = tomllib.loads(path.read_text(encoding="utf-8"))
    entries = {
        english: text
        for part in catalog.values()
        if isinstance(part, dict)
        for english, text in part.items()
    }
    with_values = sorted((e for e in entries if _PLACE.search(e)), key=lambda e: (-len(e), e))
    return Language(
        code,
        catalog["decimal_mark"],
        catalog["group_mark"],
        {english: text for english, text in entries.items() if not _PLACE.search(english)},
        tuple((_pattern(english), entries[english]) for english in with_values),
    )


def translated(report: Report, language: Language) -> Report:
    """Return a report whose sections are said in a language; names and cells stay what they are."""
    if language == ENGLISH:
        return report
    return replace(report, sections=tuple(_section(each, language) for each in report.sections))


def _section(section: Section, language: Language) -> Section:
    text = language.text
    return replace(
        section,
        title=text(section.title),
        question=text(section.question),
        statements=tuple(text(statement) for statement in section.statements),
        key_figures=tuple(
            replace(figure, label=text(figure.label), note=text(figure.note))
            for figure in section.key_figures
        ),
        tables=tuple(_table(table, language) for table in section.tables),
        empty_reason=text(section.empty_reason),
    )


def _table(table: Table, language: Language) -> Table:
    text = language.text
    columns = tuple(
        replace(
            column,
            header=text(column.header),
            meaning=text(column.meaning),
            unknown=text(column.unknown),
        )
        for column in table.columns
    )
    return replace(table, caption=text(table.caption), columns=columns, note=text(table.note))


def _pattern(template: str) -> re.Pattern[str]:
    pieces = _PLACE.split(template)  # text, name, text, name, …, text
    return re.compile(
        "".join(
            f"(?P<{piece}>{_NUMBER.pattern if piece.startswith(_NUMBERS) else '.*?'})"
            if number % 2
            else re.escape(piece)
            for number, piece in enumerate(pieces)
        ),
        re.DOTALL,
    )
