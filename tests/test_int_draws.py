"""A world's facility and own errors, from the scores of the reference."""

import statistics
from collections import Counter
from collections.abc import Callable

import pytest
from conftest import Book, rows_of

from pipeline.laws.ranges import drawn_value
from pipeline.reference import reference_rows
from pipeline.settings import Settings


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(assumptions={"pue_ratio": 1.5})
    return book_of(
        [{"input_tokens": 9, "output_tokens": 3}],
        settings=settings,
        targets=["int_draws", "int_own_errors"],
    )


def test_a_score_of_nothing_is_the_value_and_1_645_are_the_ends() -> None:
    assert [drawn_value(8, 1, 64, z) for z in (-1.645, 0, 1.645)] == [1, 8, 64]
    assert drawn_value(8, 2, 64, -1.645 / 2) == pytest.approx(4)  # equal steps, equal factors
    assert drawn_value(8, 8, 8, 2.5) == 8


def test_the_facility_of_the_first_world_is_as_by_hand(book: Book) -> None:
    [row] = rows_of(book, "select * from int_draws where draw = 1")

    # host −0.93915, idle 0.45051; the settings fix the cooling
    host = 1.43 * (1.25 / 1.43) ** (0.93915 / 1.645)
    idle = 1.12 * (1.5 / 1.12) ** (0.45051 / 1.645)
    assert row["facility_ratio"] == pytest.approx(host * idle * 1.5, rel=1e-12)


def test_every_class_of_architecture_and_every_tier_has_an_error_in_every_world(
    book: Book,
) -> None:
    worlds = Counter(row["error_of"] for row in rows_of(book, "select * from int_own_errors"))

    listed = {row["architecture_class"] for row in reference_rows("architectures")}
    listed |= {row["stand_in_tier"] for row in reference_rows("stand_ins")}
    assert worlds == dict.fromkeys(listed, 256)


@pytest.mark.parametrize("error_of", ["dense", "moe", "mla", "window", "hybrid", "small"])
def test_an_own_error_is_a_standard_score(book: Book, error_of: str) -> None:
    scores = [
        row["z_score"]
        for row in rows_of(book, f"select * from int_own_errors where error_of = '{error_of}'")
    ]

    assert statistics.median(scores) == pytest.approx(0, abs=0.01)
    assert statistics.quantiles(scores, n=20, method="inclusive")[-1] == pytest.approx(
        1.645, abs=0.02
    )
