"""What the page and the workbook say of models beside each other."""

from decimal import Decimal
from typing import Any

from report_frames import (
    FACTS,
    SMALL_MODEL,
    column_of,
    frames,
    model_mart,
    report,
    reversal_mart,
    section_of,
    table_of,
)

from pipeline.report.assemble import build_report
from pipeline.report.section import Bars

SAVED = {
    **SMALL_MODEL,
    "cost_saving_usd": Decimal("0.9045"),
    "facility_energy_saving_low_kwh": -0.5,
    "facility_energy_saving_p50_kwh": 1.6,
    "facility_energy_saving_high_kwh": 3.0,
    "energy_saving_positive_frac": 0.85,
    "energy_saving_verdict": "within noise",
    "equal_request_count": 10,
    "saving_reason": None,
}


def test_each_class_names_its_cheapest_and_its_leanest_model() -> None:
    lean: dict[str, Any] = {
        "model_id": "own",
        "provider": "vllm",
        **{"list_cost_usd": None, "cost_usd": None, "cost_usd_per_task": None},
        "is_on_front": False,
    }
    lean |= {"gpu_energy_j": 1e5, "energy_j_per_task": 1e4}
    table = table_of(
        report(mart_model_comparison=model_mart({}, SMALL_MODEL, lean)), "model_choice"
    )

    assert column_of(table, "cheapest") == ["gpt-5-nano at openai"]
    assert column_of(table, "cheapest_usd_per_task") == [0.01005]
    assert column_of(table, "leanest") == ["own at vllm"]
    assert column_of(table, "leanest_j_per_task") == [1e4]
    assert column_of(table, "compared_count") == [2]
    assert column_of(table, "front_count") == [1]


def test_the_page_has_what_was_used_and_the_front_and_a_sheet_has_all() -> None:
    other = {**SMALL_MODEL, "model_id": "gpt-4o", "is_on_front": False}
    book = report(mart_model_comparison=model_mart({}, SMALL_MODEL, other))

    assert column_of(table_of(book, "model_front"), "model_id") == ["gpt-5", "gpt-5-nano"]
    everything = table_of(book, "model_comparison")
    assert sorted(column_of(everything, "model_id")) == ["gpt-4o", "gpt-5", "gpt-5-nano"]
    assert everything.sheet == "Models_compared"


def test_ranges_are_of_one_task() -> None:
    table = table_of(report(), "model_front")

    # 1.8 and 7.2 MJ over ten tasks
    assert column_of(table, "low_j_per_task")[0] == 1.8e5
    assert column_of(table, "high_j_per_task")[0] == 7.2e5


def test_a_label_of_the_figure_says_the_cost_beside_the_energy() -> None:
    [figure] = section_of(report(), "model_comparison").figures

    assert isinstance(figure, Bars)
    assert figure.labels == ("0.01005 USD · gpt-5-nano", "0.1005 USD · gpt-5")


def test_without_equal_quality_the_section_says_why_no_saving_stands_there() -> None:
    section = section_of(report(), "model_comparison")

    assert "model_savings" not in [table.name for table in section.tables]
    assert "nobody said which models answer a class equally well" in section.statements[1]


def test_a_saving_stands_with_its_range_and_its_verdict() -> None:
    book = report(mart_model_comparison=model_mart({}, SAVED))
    table = table_of(book, "model_savings")

    assert column_of(table, "cost_saving_usd") == [Decimal("0.9045")]
    assert column_of(table, "energy_saving_verdict") == ["within noise"]
    assert section_of(book, "model_comparison").statements[1] == (
        "Largest saving among models told to be equal: chat on gpt-5-nano at openai would have "
        "cost 0.90 USD less at list price; for the electricity: within noise."
    )


def test_without_requests_the_section_says_what_would_fill_it() -> None:
    section = section_of(build_report(frames(), "2025-01", FACTS), "model_comparison")

    assert len(section.tables) + len(section.figures) == 0
    assert "logs with tokens" in section.empty_reason


def test_a_reversal_says_its_parts_its_cause_and_where_it_ends() -> None:
    table = table_of(report(), "price_reversals")

    assert column_of(table, "reasoning_usd_per_task") == [0.003]
    assert column_of(table, "cause") == ["more reasoning"]
    assert column_of(table, "threshold_output_tokens_per_request") == [1_950]
    assert section_of(report(), "price_reversals").statements[1] == (
        "Largest: chat on gpt-5-nano costs 0.001245 USD per task, on gpt-5-mini 0.0008250 USD: "
        "more reasoning."
    )


def test_pairs_count_once_and_those_without_verdict_apart() -> None:
    few = {"reason": "too few requests", "is_reversal": None}
    turned = {"is_reversal": False}
    mart = reversal_mart({}, turned, few, few)

    section = section_of(report(mart_price_reversals=mart), "price_reversals")
    assert section.statements[0] == (
        "Of 2 pairs of models that served the same class, 1 have enough requests; in 1 of them the "
        "one that is cheaper per token is dearer per task."
    )


def test_pairs_of_too_few_requests_say_how_many_are_needed() -> None:
    few = {"reason": "too few requests", "is_reversal": None}
    section = section_of(report(mart_price_reversals=reversal_mart(few, few)), "price_reversals")

    assert (section.tables, section.statements) == ((), ())
    assert "Each needs 30 requests" in section.empty_reason
