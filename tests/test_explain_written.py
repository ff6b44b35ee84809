"""Numbers that write down what is done with them: values, formulas, numbers put in."""

from decimal import Decimal
from fractions import Fraction

import pytest
from arithmetic import evaluated, is_kept, printed
from conftest import Book, rows_of
from hypothesis import given
from hypothesis import strategies as st

from pipeline import warehouse
from pipeline.explain.architecture import sizes_of
from pipeline.explain.lines import Explanation, Fact, Part, step
from pipeline.explain.text import text_of
from pipeline.explain.warehouse_rows import rows
from pipeline.explain.written import as_number, least, most, number, rounded, shown, unless
from pipeline.laws import work


def test_a_law_called_with_written_numbers_writes_itself() -> None:
    # 2 · 3 weights · 900 tokens + 5 · 405,450 pairs + 2 · 7 head weights
    found = work.prefill_flop(
        number("P", 3), number("Ph", 7), number("Q", 5), number("p", 900), number("q", 405_450), 1
    )

    assert found.formula == "2·P·p + Q·q + 2·Ph"
    assert found.numbers == "2·3·900 + 5·405,450 + 2·7"
    assert found.value == 5_400 + 2_027_250 + 14


def test_once_and_nothing_are_not_written() -> None:
    cached, requests = unless(0, "k", 0), unless(1, "r", 1)

    found = work.prefilled_tokens(number("n", 900), cached, requests)

    assert (found.formula, found.numbers) == ("n", "900")
    assert found.is_atom


def test_what_would_fall_apart_stands_in_brackets() -> None:
    a, b, c = (number(name, value) for name, value in (("a", 12), ("b", 5), ("c", 2)))

    assert ((a - b) * c).numbers == "(12 − 5)·2"
    assert (a - (b - c)).numbers == "12 − (5 − 2)"
    assert (a / (b * c)).numbers == "12/(5·2)"
    assert (1 - (1 - c / a) ** b).numbers == "1 − (1 − 2/12)^5"
    assert ((a + b) // c).numbers == "floor((12 + 5)/2)"


def test_half_of_a_number_and_its_size_is_the_larger_of_it_and_nothing() -> None:
    steps = work.decode_steps(number("m", 300), 1)

    assert (steps.formula, steps.value) == ("max(m − 1, 0)", 299)
    assert work.decode_steps(number("m", 0), 1).value == 0


def test_smallest_largest_and_rounded_are_named() -> None:
    half = number("a", 7) / number("b", 2)

    assert least(half, 4).numbers == "min(7/2, 4)"
    assert most(half, 0).value == Fraction(7, 2)
    assert (rounded(half).numbers, rounded(half).value) == ("round(7/2)", 4)


def test_whole_numbers_stay_whole_and_money_stays_exact() -> None:
    tokens, price = number("i", 1_234_567), number("p", Decimal("0.250000000"))

    assert as_number(number("n", 7) * number("m", 2)) == 14
    assert (tokens * price).value == Decimal("308641.750000000")
    assert (tokens * price).numbers == "1,234,567·0.25"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12_776_402_583_552, "12,776,402,583,552"),
        (1.199e-12, "1.199e-12"),
        (0.0227, "0.0227"),
        (8.706075406014384e-06, "0.00000870607540601"),
        (850.9904863575409, "850.990486358"),
        (Decimal("0.001783500000000"), "0.0017835"),
        (-0.5, "−0.5"),
        (0.0, "0"),
    ],
)
def test_a_number_is_shown_with_twelve_figures_and_whole_ones_in_full(
    value: float | Decimal, text: str
) -> None:
    assert shown(value) == text


def test_a_line_that_computes_nothing_is_a_fact() -> None:
    assert step("n", "input", number("n", 5), "tokens") == Fact("n", "input", 5, "tokens")
    assert step("n", "input", 0, "tokens") == Fact("n", "input", 0, "tokens")


@given(
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.floats(1e-12, 1e12, allow_nan=False),
    st.floats(1e-3, 1e6, allow_nan=False),
)
def test_a_printed_line_comes_to_its_printed_result(n: int, m: int, a: float, b: float) -> None:
    pairs = work.decode_pairs(number("n", n), number("m", m), 1, 1, 1)
    shared = (number("a", a) * number("n", n) + number("b", b) / number("m", m)) / number("B", 64)
    lines = (step("pairs", "pairs", pairs, ""), step("j", "energy", shared, "J"))

    text = text_of(Explanation("x", "X", {}, (Part("p", "P", lines),)))

    assert work.decode_pairs(n, m, 1, 1, 1) == pairs.value
    for numbers, result, unit in printed(text):
        assert is_kept(numbers, result, unit), (numbers, result, evaluated(numbers))


def test_every_architecture_of_the_catalog_has_the_sizes_that_the_warehouse_computes(
    con: Book,
) -> None:
    con.execute(
        "create table int_batches as select 'p' as provider, 'm' as model_id, 7::double as batch"
    )
    con.execute(
        "create table int_batch_ladder as select 'p' as provider, 'm' as model_id, "
        "unnest([1.5, 7, 64])::double as batch"
    )
    con.execute(
        "create table int_deployments as select 'p' as provider, 'm' as model_id, "
        "architecture_id, bytes_per_weight::double as bytes_per_weight from raw_architectures"
    )
    warehouse.build(con, ["int_architectures"])
    con.execute(f"create view int_model_work as {warehouse.models()['int_model_work'].sql}")
    shapes = {each["architecture_id"]: each for each in rows(con, "from stg_architectures")}
    names = ("body_params", "head_params", "attention_flop_per_pair", "kv_bytes_per_position")
    found = rows_of(con, "select * from int_model_work")

    assert len(found) == 3 * len(shapes)
    for each in found:
        shape = shapes[each["architecture_id"]]
        sizes = sizes_of(shape, each["bytes_per_weight"], each["batch"])
        terms = (sizes.body_params, sizes.head_params, sizes.flop_per_pair, sizes.kv_bytes)
        assert [as_number(term) for term in terms] == [each[name] for name in names]
        assert as_number(sizes.state_bytes) == each["state_bytes"]
        assert as_number(sizes.weight_bytes) == pytest.approx(each["weight_bytes"], abs=1)
