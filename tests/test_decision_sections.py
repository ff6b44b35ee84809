"""What the report says of lengths and waste is what the marts hold; never advice to write more."""

import pytest
from report_frames import (
    FACTS,
    column_of,
    frames,
    items_mart,
    levers_mart,
    report,
    section_of,
    spot_mart,
    table_of,
    total_of,
    waste_mart,
)

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
        "takes 20.0% (5.0% – 40.0%) more than there.",
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


def test_the_section_counts_where_several_items_take_less() -> None:
    one = {"model_id": "one", "best_items": 1, "saving_positive_frac": 0.0}
    book = report(mart_items_per_call=items_mart({}, {"saving_positive_frac": 0.8}, one))

    assert section_of(book, "decisions").statements[-1] == (
        "Of 3 lines that share a part of their input, several items a call take less energy on 1, "
        "one item takes least on 1, and on 1 the saving is within noise."
    )


def test_items_per_call_come_with_their_range_and_how_sure_they_are() -> None:
    table = table_of(report(), "items_per_call")

    assert column_of(table, "model_id") == ["gpt-5", "llama-3.1-8b"]
    assert column_of(table, "positive_frac") == [0.95, 0.8]
    assert column_of(table, "verdict") == ["several items a call take less", "within noise"]
    assert "shared_input_frac_" in table.note


def test_without_work_that_shares_input_there_is_no_table_of_items() -> None:
    book = report(mart_items_per_call=items_mart({"reason": "a single request"}))

    assert [table.name for table in section_of(book, "decisions").tables] == ["sweet_spot"]


def test_waste_is_told_by_kind_and_adds_up() -> None:
    table = table_of(report(), "waste")

    assert column_of(table, "waste_kind") == ["cut off", "failed"]
    assert total_of(table, "facility_energy_kwh") == pytest.approx(0.6)
    assert total_of(table, "energy_frac") == 0.1875
    assert total_of(table, "facility_energy_low_kwh") is None
    assert section_of(report(), "waste").statements == (
        "Failed requests: 1, 0.2000 kWh (6.3% of the month's GPU energy), 0.10 USD.",
        "Cut-off answers: 2, 0.4000 kWh (12.5% of the month's GPU energy), an unknown number of "
        "USD.",
    )


def test_a_kind_of_waste_without_a_line_is_told_as_not_known() -> None:
    section = section_of(report(mart_waste=waste_mart({})), "waste")

    assert section.statements[1] == "Cut-off answers: none that a log tells."


def test_the_total_of_waste_counts_lines_that_are_not_shown() -> None:
    many = waste_mart(*({"model_id": f"m{n}"} for n in range(31)))
    table = table_of(report(mart_waste=many), "waste")

    assert (len(table.rows), total_of(table, "request_count")) == (30, 31)
    assert "1 more lines in mart_waste, counted in the total" in table.note


def test_a_month_without_waste_says_which_columns_would_tell_it() -> None:
    section = section_of(report(mart_waste=waste_mart({}).clear()), "waste")

    assert section.tables == ()
    assert "status and finish_reason" in section.empty_reason


def test_the_levers_stand_under_their_reference() -> None:
    deep = {"variant": "deep", "lever": "depth and width", "step_count": 1}
    alone = {"variant": "alone", "batch": 1.0}
    mha = {"variant": "mha", "lever": "KV heads", "step_count": 1}
    book = report(mart_architecture_levers=levers_mart(deep, mha, {}, alone))

    table = table_of(book, "architecture_levers")
    assert column_of(table, "variant") == ["alone", "gqa_8", "mha", "deep"]
    assert section_of(book, "levers").statements[0] == (
        "At the mean request of the class with most GPU energy, chat: 900 input tokens, 0 of them "
        "cached, 300 output tokens."
    )


def test_a_month_without_energy_has_no_levers_and_says_why() -> None:
    section = section_of(build_report(frames(), "2025-01", FACTS), "levers")

    assert section.tables == ()
    assert "models in the catalog" in section.empty_reason
