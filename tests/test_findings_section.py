"""The findings of a month: the three largest savings that are more than noise."""

from decimal import Decimal

from report_frames import column_of, findings_mart, report, section_of, table_of

from pipeline.report.section import KeyFigure

LINE = {"cost_saving_low_usd": None, "cost_saving_p50_usd": None, "cost_saving_high_usd": None}


def test_at_most_three_findings_are_shown_in_the_order_of_their_ranks() -> None:
    ranked = findings_mart(*({"finding_rank": n, "model_id": f"m{n}"} for n in (4, 2, 3, 1)))

    section = section_of(report(mart_findings=ranked), "findings")

    assert [each.title for each in section.findings] == [
        f"Let every agent step of m{n} find its context in the cache" for n in (1, 2, 3)
    ]
    assert section.statements[0] == (
        "4 of 4 proposals save with the assumed probability; the 3 largest are shown, money first."
    )


def test_exact_money_has_no_range_and_electricity_has_one() -> None:
    [finding] = section_of(report(mart_findings=findings_mart({})), "findings").findings

    assert finding.savings == (
        KeyFigure("Money", Decimal("9.5"), "usd", "USD", note="exact at these prices and lengths"),
        KeyFigure("Electricity", 1.0, "kwh", "kWh", 0.3, 3.4, "probability 95.0%"),
    )
    assert finding.basis == ("Grade D, batch 5; 816 requests behind it. Assumes: cache_life_s.")
    assert finding.section_name == "agents"


def test_money_that_rests_on_an_assumed_share_has_its_range() -> None:
    ends = {"cost_saving_low_usd": Decimal("1"), "cost_saving_high_usd": Decimal("12")}
    items = {"finding_kind": "more_items_per_call", "source_mart": "mart_items_per_call"}

    [finding] = section_of(report(mart_findings=findings_mart(ends | items)), "findings").findings

    assert (finding.savings[0].low, finding.savings[0].high) == (Decimal("1"), Decimal("12"))
    assert finding.title == "Put more items of agentic into a call of claude-opus-4-8"


def test_noise_and_what_costs_more_stand_in_the_table_alone() -> None:
    noise = {"finding_rank": None, "is_within_noise": True}
    dearer = noise | {"cost_saving_p50_usd": Decimal("-2")}
    book = report(mart_findings=findings_mart(noise | LINE, dearer))

    section = section_of(book, "findings")
    assert section.findings == ()
    assert section.statements[0] == "None of 2 proposals saves with the assumed probability."
    assert sorted(column_of(table_of(book, "findings"), "verdict")) == [
        "costs more",
        "within noise",
    ]


def test_a_month_without_proposals_says_which_logs_would_tell_them() -> None:
    section = section_of(report(mart_findings=findings_mart({}).clear()), "findings")

    assert (section.tables, section.findings) == ((), ())
    assert "cached tokens, status of requests" in section.empty_reason
