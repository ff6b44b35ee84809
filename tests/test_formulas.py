"""A printed formula is the law: read back and evaluated, it gives the law's own number."""

import inspect
import math
import random
from typing import Any

import pytest

from pipeline.formulas import formula, meaning
from pipeline.laws import facility, rivals, simple, work
from pipeline.report.sections import method

SHOWN = {law.__name__: law for _, laws in method.STEPS for law in laws}
SYMBOL = {name: symbol for name, symbol, _, _ in method.SYMBOLS}


def value_of(lines: tuple[str, ...], given: dict[str, float]) -> Any:  # noqa: ANN401
    """Evaluate printed lines, one after the other, and return what the last one names."""
    known: dict[str, Any] = {**given, "max": max, "floor": math.floor, "sqrt": math.sqrt}
    for line in lines:
        name, _, text = line.partition(" = ")
        for sign, code in (("·", "*"), ("−", "-"), ("^", "**")):
            text = text.replace(sign, code)
        known[name] = eval(text, {"__builtins__": {}}, known)  # noqa: S307 our own lines
    return known[lines[-1].partition(" = ")[0]]


@pytest.mark.parametrize("name", SHOWN)
def test_a_printed_formula_gives_the_number_of_its_law(name: str) -> None:
    law, dice = SHOWN[name], random.Random(name)  # noqa: S311 no secret
    arguments = list(inspect.signature(law).parameters)
    lines = formula(law, SYMBOL)

    for _ in range(20):
        drawn = sorted(dice.uniform(1, 50) for _ in arguments)
        # larger first: caches are smaller than prompts, experts in use fewer than all
        given = dict(zip(arguments, reversed(drawn), strict=True))
        expected = law(**given)
        found = value_of(lines, {SYMBOL.get(each, each): value for each, value in given.items()})
        assert found == pytest.approx(expected, rel=1e-12)


def test_every_law_of_the_program_is_printed_but_those_of_rivals() -> None:
    own = (*simple.LAWS, *facility.LAWS, *work.EXACT_LAWS, *work.LAWS)

    assert list(SHOWN.values()) == list(own)


def test_the_section_prints_the_formulas_of_the_code() -> None:
    table = method._formula_table()
    printed = {row[1] for row in table.rows}

    assert "prefill_energy_j = a · prefill_flop" in printed
    assert (
        "shared = c · weight_read_bytes + s · layer_steps + s1 · steps; "
        "next_token_energy_j = a · decode_flop + shared / B"
    ) in printed
    assert {"; ".join(formula(law, SYMBOL)) for law in SHOWN.values()} == printed


def test_every_symbol_of_a_formula_is_explained_or_is_a_word() -> None:
    explained = {symbol for _, symbol, _, _ in method.SYMBOLS}
    words = {name for law in SHOWN.values() for name in inspect.signature(law).parameters}

    for law in SHOWN.values():
        for name in inspect.signature(law).parameters:
            assert SYMBOL.get(name, name) in explained | words
    assert len({(symbol, text) for _, symbol, text, _ in method.SYMBOLS}) == len(explained)


def test_what_a_helper_spells_is_printed_as_what_it_means() -> None:
    assert formula(work.decode_steps, {"output_tokens": "m"}) == (
        "decode_steps = request_count · max(0, m − 1)",
    )
    assert formula(work.weight_bytes, {}) == (
        "weight_bytes = floor((2 · bytes_per_weight · params + 1) / 2)",
    )
    assert formula(rivals.closed_form_j, {"input_tokens": "n", "output_tokens": "m"}) == (
        "closed_form_j = prefill_j_per_token2 · n · n + prefill_j_per_token · n + "
        "context_j_per_token2 · (n · m + m · (m − 1) / 2) + output_j_per_token · m",
    )


def test_the_meaning_of_a_law_is_the_first_sentence_of_its_text() -> None:
    assert meaning(work.head_params) == "The weights of the output head."
