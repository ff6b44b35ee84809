"""Ranges, batches and names explained: draws by place, what is unsure, who says so."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Book, rows_of
from test_explain_request import READ, amount, explained, line_of, of_one, step_of

from pipeline.explain.group import group_of
from pipeline.explain.group_range import drawn_line, range_lines
from pipeline.explain.lines import Fact, Step
from pipeline.explain.text import text_of
from pipeline.settings import Deployment, Settings

pytestmark = pytest.mark.slow

H200 = "meta-llama/Llama-3.1-8B"
GROUP = "month, provider, model_id, query_class"


# Ends of draws --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "percent", "value"),
    # 21 draws 0, 10, … 200: the 5 % end is place 1, the 95 % end place 19
    [("low", "5 %", 10), ("high", "95 %", 190)],
)
def test_an_end_that_falls_on_a_draw_is_that_draw(end: str, percent: str, value: int) -> None:
    found = drawn_line([10.0 * number for number in range(20, -1, -1)], end, "x", value, "J")

    assert isinstance(found, Fact)
    assert found.value == value
    assert found.note.startswith(f"{percent} of 21 joint draws")


def test_an_end_between_two_draws_is_its_share_of_the_way() -> None:
    # 5 % of places 0 to 10 is 0.5: half the way from 0 to 10
    found = drawn_line([10.0 * number for number in range(11)], "low", "x", 5.0, "J")

    assert isinstance(found, Step)
    assert found.numbers == "0 + 0.5·(10 − 0)"
    assert "place 0.5 of them" in found.note


def test_a_value_that_no_draw_reaches_ends_its_own_range() -> None:
    found = drawn_line([10.0 * number for number in range(11)], "low", "x", -1.0, "J")

    assert isinstance(found, Fact)
    assert found.value == -1
    assert "the value itself" in found.note


# Requests and classes -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book_of(book_of: Callable[..., Book]) -> Callable[..., Book]:
    """Build what explanations read, at once: they lay temporary tables over the models."""
    return functools.partial(book_of, targets=READ)


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    """One open model on own servers, told batch; three requests of one class, two teams."""
    rows = [
        *of_one(request_id="small", model_name=H200, team="a", input_tokens=90),
        *of_one(request_id="large", model_name=H200, team="b", output_tokens=400),
        *of_one(request_id="unsure", model_name="gpt-5", provider="openai", team="b"),
    ]
    told = (Deployment(H200, gpu="H200-SXM", batch=8),)
    return book_of(rows, settings=Settings(deployments=told))


def test_a_request_has_its_share_of_both_ends_of_its_class(book: Book) -> None:
    (whole,) = rows_of(book, f"select * from int_class_energy where model_id = '{H200}'")
    made = explained(book, "large")
    share = amount(made.facts["gpu_energy_j"]) / whole["gpu_energy_j"]

    assert 0.5 < share < 1
    for end in ("low", "high"):
        found = step_of(made, f"energy_{end}_j")
        assert found.formula == f"E·{end}/class"
        assert found.value == pytest.approx(share * whole[f"energy_{end}_j"], rel=1e-12)
        assert line_of(made, f"class_energy_{end}_j").value == whole[f"energy_{end}_j"]
        assert made.facts[f"facility_energy_{end}_kwh"] == pytest.approx(
            share * whole[f"facility_energy_{end}_kwh"], rel=1e-12
        )


def test_a_range_names_its_draws_and_what_is_unsure(book: Book) -> None:
    told, unsure = explained(book, "large"), explained(book, "unsure")

    assert "5 % and 95 % of 256 joint draws" in str(line_of(told, "range").value)
    assert line_of(told, "doubt_batch").value == "told: none"
    assert line_of(told, "doubt_own").label == "doubt: dense architectures"
    assert "serving stack" in str(line_of(unsure, "doubt_law").value)
    assert line_of(unsure, "doubt_own").label == "doubt: large stand-ins"
    assert " to " in str(line_of(unsure, "doubt_batch").value)


def test_an_a_that_spreads_too_far_says_why_it_is_a_b(book: Book) -> None:
    key = rows_of(book, f"select {GROUP} from int_class_energy where model_id = '{H200}'")[0]
    group = group_of(book, key)
    inside = dict.fromkeys(("mean_input_tokens", "mean_output_tokens"), 100)
    spread = replace(
        group,
        moments=group.moments | inside,
        energy=group.energy | {"evidence_grade": "B"},
    )

    (grade,) = [
        line
        for line in range_lines(spread, group.energy["gpu_energy_j"])
        if line.name == "evidence_grade"
    ]

    assert grade.note == "else an A, but its draws spread beyond 20 % either way"


def test_a_batch_that_the_log_tells_says_from_what(book_of: Callable[..., Book]) -> None:
    # two requests of 60 s in the same minute: two at once all of the time
    rows = [
        *of_one(request_id="one", latency_s=60, provider="vllm"),
        *of_one(request_id="two", latency_s=60, provider="vllm"),
    ]
    made = explained(book_of(rows), "one")

    assert made.facts["batch"] == 2
    assert "told by the log itself, hour by hour: logged latencies" in text_of(made)


# Names and teams ------------------------------------------------------------------------------


def test_names_and_teams_that_the_company_gives_say_so(
    book_of: Callable[..., Book], tmp_path: Path
) -> None:
    (tmp_path / "model_names.csv").write_text(
        "name,model,provider,valid_from,valid_to\n"
        "house-model,gpt-5-mini,,,2026-10-05\nhouse-model,gpt-5,,2026-10-05,\n",
        encoding="utf-8",
    )
    (tmp_path / "attribution.csv").write_text(
        "api_key_id,team,project,query_class\nk-1,red,search,rag\n", encoding="utf-8"
    )
    rows = [
        of_one(
            request_id=f"day-{day}",
            model_name="house-model",
            provider="openai",
            api_key_id="k-1",
            occurred_at=f"2026-10-0{day}T10:00:00Z",
        )[0]
        for day in (4, 6)
    ]
    book = book_of(rows, settings=Settings(overlay_folder=tmp_path))

    before, after = explained(book, "day-4"), explained(book, "day-6")

    assert (before.facts["model_id"], after.facts["model_id"]) == ("gpt-5-mini", "gpt-5")
    assert "by the company's own names" in line_of(after, "model_id").note
    assert (line_of(after, "team").value, line_of(after, "team").note) == (
        "red",
        "by attribution.csv",
    )
    assert line_of(after, "project").value == "search"
    assert line_of(after, "query_class").note == "by attribution.csv"
