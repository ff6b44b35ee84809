"""The mart of the laws' errors is the stored table, and says where an error is no test."""

from collections.abc import Callable

import pytest
from conftest import Book, rows_of

from pipeline.validation import validate

NAMES = (*validate.KEY, "law", "form", "subset_kind", "subset_value", "row_count")


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of([{"input_tokens": 9, "output_tokens": 9}], targets=["mart_law_validation"])


def test_the_mart_has_every_stored_error_as_it_stands(book: Book) -> None:
    rows = rows_of(book, "select * from mart_law_validation")
    columns = (*NAMES, *validate.NUMBERS, "source", "source_date")

    def key(row: dict[str, object]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in columns)

    assert sorted(map(key, rows)) == sorted(map(key, validate.stored_rows()))


def test_an_error_on_rows_that_were_fitted_is_marked(book: Book) -> None:
    def is_fitted(law: str, form: str, dataset: str, gpu: str) -> bool:
        rows = rows_of(
            book,
            f"select is_fitted_here from mart_law_validation where law = '{law}' "
            f"and form = '{form}' and dataset = '{dataset}' and gpu = '{gpu}' "
            "and stack ilike 'vllm' and subset_kind = 'all'",
        )
        return bool(rows[0]["is_fitted_here"])

    assert is_fitted("simple", "published", "argonne", "H100-SXM")
    assert not is_fitted("simple", "published", "mlenergy_v3", "H100-SXM")
    assert is_fitted("linear", "refit", "mlenergy_v3", "H100-SXM")
    assert not is_fitted("ecologits_0_9", "published", "argonne", "H100-SXM")
