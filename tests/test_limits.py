"""What the catalog or the price list does not know is listed, and stops a job above a limit."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, Rows, rows_of

from pipeline.errors import BadInputError, WrongUseError
from pipeline.job import make_report
from pipeline.limits import require_within_limits, unresolved_notes
from pipeline.settings import Input, Settings, read_settings

pytestmark = pytest.mark.slow

GPT = {"provider": "openai", "model_name": "gpt-4o"}
# October, in tokens of 1,000: 60 known and priced, 25 unknown (5 of them billed), 15 known but
# unpriced. November knows all.
ROWS: Rows = [
    {**GPT, "input_tokens": 50_000, "output_tokens": 10_000},
    {
        "provider": "azure",
        "model_name": "gpt-4o-prod",
        "input_tokens": 9_000,
        "output_tokens": 1_000,
    },
    {
        "provider": "azure",
        "model_name": "gpt-4o-prod",
        "input_tokens": 9_000,
        "output_tokens": 1_000,
    },
    {"model_name": "=zzzz", "input_tokens": 5_000, "output_tokens": 0, "billed_cost_usd": "0.5"},
    {"provider": "vllm", "input_tokens": 10_000, "output_tokens": 5_000},
    {**GPT, "occurred_at": "2026-11-05T10:00:00Z", "input_tokens": 9, "output_tokens": 3},
]


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    return book_of(ROWS)


def unresolved(book: Book) -> Rows:
    return rows_of(book, "select * from mart_unresolved_models order by model_name")


def test_names_without_a_model_are_listed_with_requests_tokens_and_money(book: Book) -> None:
    zzzz, prod = unresolved(book)

    assert (zzzz["month"], zzzz["provider"], zzzz["model_name"]) == (
        "2026-10",
        "self-hosted",
        "=zzzz",
    )
    assert (zzzz["request_count"], zzzz["input_tokens"], zzzz["output_tokens"]) == (1, 5_000, 0)
    assert (zzzz["token_frac"], zzzz["cost_usd"]) == (0.05, Decimal("0.5"))
    assert (prod["request_count"], prod["input_tokens"], prod["output_tokens"]) == (
        2,
        18_000,
        2_000,
    )
    assert (prod["token_frac"], prod["cost_usd"], prod["unpriced_request_count"]) == (0.2, None, 2)


def test_the_unresolved_and_the_known_models_are_all_requests(book: Book) -> None:
    [counts] = rows_of(
        book,
        "select request_count - known_model_request_count as unknown from mart_coverage "
        "where month = '2026-10'",
    )

    assert counts["unknown"] == sum(row["request_count"] for row in unresolved(book)) == 3


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        pytest.param("gpt-4o-prod", "gpt-4o", id="begins with a name"),
        pytest.param("gpt-4o-mini-prod", "gpt-4o-mini", id="begins with a longer name"),
        pytest.param("acme/claude-sonet-4-5", "claude-sonnet-4-5", id="one letter missing"),
        pytest.param("zzzz", None, id="near to nothing"),
        pytest.param("gpt-4o-" + "x" * 100, None, id="too long to be a name"),
    ],
)
def test_the_nearest_name_is_suggested(
    book_of: Callable[..., Book], name: str, nearest: str | None
) -> None:
    row = {"provider": "azure", "model_name": name, "input_tokens": 9, "output_tokens": 3}
    book = book_of([row], targets=["mart_unresolved_models"])

    assert [each["nearest_model_id"] for each in unresolved(book)] == [nearest]


def test_a_suggestion_is_never_used(book: Book) -> None:
    rows = rows_of(book, "select * from mart_energy_per_class where model_id = 'gpt-4o-prod'")

    assert [row["gpu_energy_j"] for row in rows] == [None]


@pytest.mark.parametrize(
    ("limits", "month"),
    [
        pytest.param({}, "2026-10", id="no limit"),
        pytest.param({"max_unmapped_frac": 0.25}, "2026-10", id="unmapped at the limit"),
        pytest.param({"max_unpriced_frac": 0.35}, "2026-10", id="unpriced at the limit"),
        pytest.param(
            {"max_unmapped_frac": 0.0, "max_unpriced_frac": 0.0}, "2026-11", id="another month"
        ),
    ],
)
def test_a_month_within_its_limits_passes(book: Book, limits: dict[str, float], month: str) -> None:
    require_within_limits(book, Settings(**limits), month)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        (
            {"max_unmapped_frac": 0.2499},
            "max_unmapped_frac = 24.99% of its tokens, but 25.00% are of models that the catalog "
            "does not know: 'gpt-4o-prod' at azure 20.0%, '=zzzz' at self-hosted 5.0%. Map them",
        ),
        (
            {"max_unpriced_frac": 0.3499},
            "max_unpriced_frac = 34.99% of its tokens, but 35.00% have no price and no bill: "
            "'gpt-4o-prod' at azure 20.0%, 'meta-llama/Llama-3.1-8B' at vllm 15.0%. ",
        ),
    ],
)
def test_a_month_over_a_limit_names_the_largest(
    book: Book, limits: dict[str, float], fault: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        require_within_limits(book, Settings(**limits), "2026-10")  # type: ignore[arg-type]

    assert fault in str(caught.value)
    assert caught.value.exit_code == 3


def test_over_a_limit_nothing_is_written(log: Callable[..., Path], tmp_path: Path) -> None:
    settings = Settings(inputs=(Input(str(log(ROWS))),), max_unmapped_frac=0.1)

    with pytest.raises(BadInputError, match="max_unmapped_frac"):
        make_report(settings, "2026-10", tmp_path / "reports", lambda text: None)
    assert list((tmp_path / "reports").iterdir()) == []


def note_of(*changes: dict[str, Any]) -> list[str]:
    line = {"provider": "azure", "request_count": 1_200, "nearest_model_id": None}
    return unresolved_notes([line | change for change in changes])


def test_a_note_names_the_largest_and_how_to_map_them() -> None:
    [note] = note_of(
        {"model_name": "b", "token_frac": 0.125},
        {"model_name": "a", "token_frac": 0.25, "nearest_model_id": "gpt-4o"},
    )

    assert note == (
        "not in the catalog, so without energy: 'a' at azure (tokens 25.0%, requests 1,200, "
        "nearest name gpt-4o); 'b' at azure (tokens 12.5%, requests 1,200, nearest name none). "
        "Map them under [model_names] in the settings or in model_names.csv of the overlay folder, "
        "or add them with `joulebook models --add`."
    )


def test_a_note_names_five_and_counts_the_rest() -> None:
    [note] = note_of(*({"model_name": f"m{n}", "token_frac": 0.1} for n in range(7)))

    assert "'m4'" in note
    assert "'m5'" not in note
    assert " and 2 more. " in note


def test_a_note_cuts_a_name_that_is_no_name() -> None:
    [note] = note_of({"model_name": "x" * 10_000 + "\n", "token_frac": None})

    assert f"'{'x' * 79}…' at azure (tokens 0.0%, requests 1,200, " in note


def test_without_unresolved_names_there_is_no_note() -> None:
    assert unresolved_notes([]) == []


def test_a_limit_is_a_share(tmp_path: Path) -> None:
    path = tmp_path / "joulebook.toml"
    path.write_text("max_unpriced_frac = 5\n", encoding="utf-8")

    with pytest.raises(WrongUseError, match="max_unpriced_frac = 5; expected a share from 0 to 1"):
        read_settings(path)
