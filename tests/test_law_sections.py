"""The sections on laws say what the rows say: won beside lost, ties in words, a test marked."""

import polars as pl
import pytest
from report_frames import (
    column_of,
    comparison_mart,
    reference_frames,
    report,
    section_of,
    table_of,
    validation_mart,
)

from pipeline.report.section import Bars, Dots, Points, Section


@pytest.fixture
def validation() -> Section:
    return section_of(report(), "law_validation")


def test_errors_on_rows_of_the_fit_are_no_test(validation: Section) -> None:
    assert validation.statements[0] == (
        "Law × bias, as this report uses it, on 2 sets of measurements that no coefficient has "
        "seen: mean error 10.0% to 30.0%, half of the sets below 20.0%."
    )


def test_lost_sets_are_told_beside_won_ones(validation: Section) -> None:
    assert validation.statements[2:4] == (
        "Against rivals with their published constants: nearest on 1 of 2 sets, lost on "
        "lost · H100 · vllm (EcoLogits 0.9 20.0%, ours 30.0%).",
        "With all laws refitted to the same rows: nearest on 1 of 2 sets, lost on "
        "lost · H100 · vllm (Linear in tokens 11.0%, ours 15.0%).",
    )
    assert column_of(table_of(report(), "law_duels"), "outcome") == ["won", "lost", None]


def test_a_tie_on_short_prompts_is_told_from_the_rows(validation: Section) -> None:
    # left out: 7 % and 5 %, two points apart
    assert validation.statements[4] == (
        "On up to 512 tokens in and out, a rival that never looks at the prompt can be as near: "
        "EcoLogits' form with batch ties on won · H100 · vllm (7.0%, ours 5.0%, 9 rows)."
    )


def test_without_a_tie_the_text_says_so() -> None:
    far = validation_mart().filter(pl.col("law") != "ecologits_batch")

    statements = section_of(report(mart_law_validation=far), "law_validation").statements

    assert statements[4] == (
        "On up to 512 tokens in and out, no rival that ignores the prompt is as near."
    )


def test_points_within_a_fifth_of_the_law_are_counted(validation: Section) -> None:
    # 11 for 10 is within, 150 for 100 is not; 20.1 for 20 is of the fit
    assert validation.statements[5] == (
        "Means of like measurements within ±20 % of the law: 1 of 2 (rows no coefficient has "
        "seen); 1 of 1 (rows of the fit, no test)."
    )


def test_every_law_has_its_mark_on_the_lines_it_was_asked_about(validation: Section) -> None:
    dots, points = validation.figures

    assert isinstance(dots, Dots)
    assert isinstance(points, Points)
    assert dots.labels == ("home · H100 · vllm", "lost · H100 · vllm", "won · H100 · vllm")
    assert dict(dots.series)["Our law, refitted"] == (0.02, 0.15, 0.05)
    assert dict(dots.series)["EcoLogits 0.9"] == (None, 0.20, 0.50)
    assert [len(each) for _, each in points.series] == [2, 1]


# Other methods -----------------------------------------------------------------------------------


def test_other_methods_are_set_beside_ours_like_with_like() -> None:
    section = section_of(report(), "comparison")

    assert section.statements[1] == (
        "EcoLogits to 0.8.2: 10 times our GPU energy, 8 times our electricity; inside our range "
        "on 0 of 1 lines. It ignores input tokens."
    )
    table = table_of(report(), "methods")
    assert column_of(table, "gpu_energy_kwh") == [1.0, 10.0]  # 3.6 and 36 MJ
    assert column_of(table, "facility_energy_kwh") == [2.0, 16.0]
    assert column_of(table, "ignores") == ["caps", "input tokens"]


def test_a_total_of_lines_divides_sums_and_never_averages_ratios() -> None:
    other = {"query_class": "rag", "own_gpu_energy_j": 10.8e6, "own_facility_energy_kwh": 6.0}
    rival = {"law": "ecologits_0_8", "gpu_energy_j": 18e6, "facility_energy_kwh": 8.0}
    more = comparison_mart(other | {"gpu_energy_j": 10.8e6}, other | rival)

    table = table_of(report(mart_method_comparison=more), "methods")

    assert column_of(table, "gpu_energy_ratio")[1] == pytest.approx((36 + 18) / (3.6 + 10.8))
    assert column_of(table, "facility_energy_ratio")[1] == pytest.approx((16 + 8) / (2 + 6))


def test_a_chat_request_stands_beside_the_published_ones() -> None:
    section = section_of(report(), "comparison")
    bars = section.figures[1]

    # 2 kWh over 10 requests
    assert "An average chat request of this month takes 200.0 Wh" in section.statements[-1]
    assert (
        "Google, median text prompt of the Gemini apps, May 2025: 0.24 Wh"
        in (section.statements[-1])
    )
    assert isinstance(bars, Bars)
    place = bars.labels.index("gpt-5, batch 64")
    assert bars.series[0][1][place] == 200
    assert (bars.lows[place], bars.highs[place]) == (100, 400)
    average = bars.labels.index("Ours: average chat request")
    assert bars.series[0][1][average] == 200
    assert bars.lows[average] is None  # a sum of lines has no range of its own here
    assert not any("chips alone" in label for label in bars.labels)  # another boundary


def test_a_month_without_energy_still_shows_the_published_figures() -> None:
    empty = comparison_mart().clear()

    section = section_of(report(mart_method_comparison=empty), "comparison")

    assert section.statements[0].startswith("No chat request of this month has an energy.")
    assert [table.name for table in section.tables] == ["anchors"]


# Method ------------------------------------------------------------------------------------------


def test_the_prices_in_use_have_values_and_intervals() -> None:
    table = table_of(report(), "method_prices")
    rows = {row[1]: row for row in table.rows}

    assert {row[0] for row in table.rows} == {"h100-sxm-vllm-1"}
    assert rows["a"][2] == 1.199e-12
    assert list(rows) == ["a", "b", "c", "s"]  # no price of a whole pass
    for low, value, high in zip(
        *(column_of(table, name) for name in ("low", "value", "high")), strict=True
    ):
        assert low < value < high


def test_a_set_of_ones_own_may_leave_out_what_it_was_fitted_to() -> None:
    unsaid = ("architecture_count", "mape_in_sample_frac", "input_tokens_low", "batch_high")
    sets = reference_frames()["law_coefficients"].with_columns(
        pl.lit(None, pl.String).alias(name) for name in unsaid
    )

    table = table_of(report(law_coefficients=sets), "method_sets")

    assert column_of(table, "architectures") == column_of(table, "error") == [None]
    assert column_of(table, "input_tokens") == ["… – 1024"]


def test_the_rows_of_the_method_carry_source_and_day() -> None:
    for name in ("method_sets", "method_bias", "method_grades", "method_dispersion"):
        table = table_of(report(), name)
        assert table.rows
        assert all(column_of(table, "source"))
        assert set(column_of(table, "source_date")) == {"2026-11-30"}


def test_only_bias_factors_that_can_be_in_use_are_shown() -> None:
    shown = column_of(table_of(report(), "method_bias"), "coefficient_set_id")

    assert set(shown) == {"h100-sxm-vllm-1", "*"}


def test_the_chain_to_the_meter_is_the_one_of_the_assumptions() -> None:
    table = table_of(report(), "method_chain")

    assert table.rows[0][:4] == ("pue_ratio", 1.2, 1.09, 1.35)


def test_every_figure_names_the_method() -> None:
    for section in report().sections:
        for figure in section.figures:
            assert figure.source.endswith("; method 1")
