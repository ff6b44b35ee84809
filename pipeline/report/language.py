"""The language of a report: its English texts looked up in a catalog, its numbers marked anew.

A catalog is one file, `templates/lang/CODE.toml`, keyed by the English text. A sentence with values
is keyed by its template, such as `Agents read {number_part} of their input tokens …`: what stands
in the place of a brace is carried over, a number with the marks of the language, a text by its
own entry where it has one. A text that the catalog lacks stays English. Names from logs are values:
a cell is looked up only in a column that holds our own words, so no team called "Cost" is renamed.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from pipeline.report.numbers import (
    ENGLISH_MARKS,
    NOT_A_NUMBER,
    UNKNOWN,
    Marks,
    show,
    show_range,
    with_marks,
)
from pipeline.report.section import Column, Kind, Value
from pipeline.settings import bundled

_PLACE = re.compile(r"\{(\w+)\}")
_NUMBERS = "number_"  # how the name of a place begins that holds a number and nothing else
_LISTS = {"list_": ", ", "lines_": "; "}  # … that holds several texts, and what parts them
_PAGE = "page"  # the part of a catalog whose values the page itself fills in
_LONGEST_SENTENCE = 2_000  # letters; a longer one holds a name that is no text of ours
_NUMBER = re.compile(r"[<>+−±-]*\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?%?(?: – \d[\d,]*(?:\.\d+)?%?)?")
# Columns whose cells are words of ours in every table; no name of a log stands in them.
_OWN_CELLS = frozenset(
    (
        *("assumption", "baseline", "basis", "batch_source", "bound_reason", "bound_verdict"),
        *("boundary", "cause", "certainty", "charge_kind", "check_name", "claim"),
        *("clock_class", "component", "consequence", "cost_items_limit", "cost_verdict"),
        *("crossing_meaning", "definition", "description", "domain", "effect"),
        *("energy_verdict", "factor_source", "form", "gap_cause", "growth", "ignores"),
        *("inside", "kind", "law", "lever", "line_kind", "look", "meaning", "measure"),
        *("metric", "moved", "note", "outcome", "ownership", "part", "phase", "policy"),
        *("proposal", "quantity", "reason", "refit_outcome", "refit_rival", "rival"),
        *("setting", "severity", "shown", "source", "state", "step", "step_name", "text"),
        *("topic", "unit", "unpriced_reason", "verbosity_source"),
        *("verdict", "waste_kind", "what_to_add"),
    )
)


_NUMBER_CELLS = ("batch", "input_tokens")  # spreads of numbers, written as text


@dataclass(frozen=True)
class Language:
    """The marks of numbers and the texts of one language."""

    code: str
    marks: Marks = ENGLISH_MARKS
    texts: Mapping[str, str] = field(default_factory=dict)  # English → this language
    templates: tuple[tuple[re.Pattern[str], str], ...] = ()  # English with values → this language

    def text(self, english: str) -> str:
        """Return a text in this language, as it is where the catalog has no entry for it."""
        found = self.entry(english)
        return english if found is None else found

    def entry(self, english: str) -> str | None:
        """Return a text in this language, None where the catalog has no entry for it."""
        if english in self.texts:
            return self.texts[english]
        for pattern, template in self.templates if len(english) <= _LONGEST_SENTENCE else ():
            if found := pattern.fullmatch(english):
                values = {name: self._value(name, part) for name, part in found.groupdict().items()}
                return _PLACE.sub(lambda place, values=values: values[place[1]], template)  # type: ignore[misc]
        return None

    def words(self, formula: str, english: Iterable[str]) -> str:
        """Return a formula with some of its quoted words in this language."""
        for word in english:
            formula = formula.replace(f'"{word}"', f'"{self.text(word)}"')
        return formula

    def show(self, value: Value, kind: Kind, unknown: str = UNKNOWN) -> str:
        """Return the text that a reader of this language sees for a value of a kind."""
        shown = show(value, kind, unknown, self.marks)
        is_word = isinstance(value, bool) or kind == "status" or shown == NOT_A_NUMBER
        return self.text(shown) if is_word else shown

    def show_range(self, low: Value, high: Value, kind: Kind) -> str:
        """Return a low–high range, or nothing where either end is unknown."""
        return show_range(low, high, kind, self.marks)

    def cell(self, value: Value, column: Column) -> Value:
        """Return a cell's value, in this language where its column holds words of ours."""
        if not isinstance(value, str):
            return value
        if column.name in _NUMBER_CELLS and _NUMBER.fullmatch(value):
            return with_marks(value, self.marks)
        return self.text(value) if column.name in _OWN_CELLS else value

    def _value(self, name: str, english: str) -> str:
        for start, separator in _LISTS.items():
            if name.startswith(start):
                return separator.join(map(self.text, english.split(separator)))
        if _NUMBER.fullmatch(english):
            return with_marks(english, self.marks)
        return self.text(english)


ENGLISH = Language("en")


@cache
def language_of(code: str) -> Language:
    """Return the language of a code of `settings.LANGUAGES`, read from its catalog."""
    if code == ENGLISH.code:
        return ENGLISH
    path = bundled("templates/lang") / f"{code}.toml"
    catalog = tomllib.loads(path.read_text(encoding="utf-8"))
    parts = {name: part for name, part in catalog.items() if isinstance(part, dict)}
    entries = {english: text for part in parts.values() for english, text in part.items()}
    filled_in = {e for name, part in parts.items() if name != _PAGE for e in part}
    with_values = sorted((e for e in filled_in if _PLACE.search(e)), key=lambda e: (-len(e), e))
    return Language(
        code,
        Marks(catalog["decimal_mark"], catalog["group_mark"]),
        entries,
        tuple((_pattern(english), entries[english]) for english in with_values),
    )


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
