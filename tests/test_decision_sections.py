"""What the report says of lengths is what the marts hold, and never advice to write more."""

import pytest
from report_frames import FACTS, column_of, frames, report, section_of, spot_mart, table_of

from pipeline.report.assemble import build_report


def test_the_lines_of_most_energy_come_first_with_the_energy_of_a_task_before_all() -> None:
    table = table_of(report(), "sweet_spot")

    assert column_of(table, "model_id") == ["gpt-5", "llama-3.1-8b"]
    assert table.columns[3].name == "energy_j_per_task"
    assert column_of(table, "optimum_output_tokens") == [400, 400]


def test_the_section_says_how_much_lies_beyond_the_least_and_of_how_much_nothing_is_said() -> None:
    # 1.2 of 4.8 MJ
    assert section_of(report(), "decisions").statements[:3] == (
        "Answers are longer than the length of least energy per token on 1 of 2 lines, with 25.0% "
        "of their GPU energy: there shorter answers take less per token and per task. On the "
        "others they take less per task alone.",
        "Largest: gpt-5 · chat, 300 output tokens a request where the least is at 400; a token "
        "takes 20.0% more than there.",
        "Not enough to say on 1 of 3 lines.",
    )


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "shorter than the least: no reason to write more, a task takes less"),
        (
            {"mean_against_optimum": "longer"},
            "longer than the least: shorter takes less, per token and per task",
        ),
        ({"penalty_positive_frac": 0.89}, "within noise"),
    ],
)
def test_a_line_is_read_by_side_and_by_how_sure_it_is(
    change: dict[str, object], verdict: str
) -> None:
    table = table_of(report(mart_sweet_spot=spot_mart(change)), "sweet_spot")

    assert column_of(table, "verdict") == [verdict]


def test_the_page_shows_thirty_lines_and_says_where_the_others_are() -> None:
    many = spot_mart(*({"model_id": f"m{n}", "gpu_energy_j": 100.0 * n} for n in range(33)))
    table = table_of(report(mart_sweet_spot=many), "sweet_spot")

    assert column_of(table, "model_id") == [f"m{n}" for n in range(32, 2, -1)]
    assert "; 3 more lines in mart_sweet_spot. " in table.note


def test_a_month_without_lengths_says_what_would_fill_it() -> None:
    section = section_of(build_report(frames(), "2025-01", FACTS), "decisions")

    assert (section.tables, section.statements) == ((), ())
    assert "two requests with output" in section.empty_reason
