"""The section on measured power reads like a careful lab report, or says what would fill it."""

from report_frames import audit_frames, hours_mart, linearity_mart, report, section_of


def test_the_section_reads_like_a_report_of_a_measurement() -> None:
    section = section_of(report(), "measured_power")
    said = " ".join(section.statements)

    for words in (
        "divergence is |E − T| / T",
        "corrected for 1 cells (Holm)",
        "Of 1 cells: 1 beyond the band.",
        "the law explains 18.6",
        "mean watts need not grow at all",
        "cancels",
        "3 gaps",
        "names no cause",
        "a drift",
    ):
        assert words in said
    assert "generated" not in said
    names = [table.name for table in section.tables]
    assert names[0] == "token_linearity"
    assert names[-1] == "linearity_claims"


def test_generated_runs_are_said_to_be_so_first() -> None:
    section = section_of(
        report(mart_token_linearity=linearity_mart({"is_generated": True})), "measured_power"
    )

    assert section.statements[0].startswith("The power log and its runs are generated")


def test_without_logs_the_section_says_what_would_fill_it() -> None:
    empty = {name: frame.clear() for name, frame in audit_frames().items()}

    section = section_of(
        report(
            mart_token_linearity=linearity_mart({}).clear(),
            mart_measured_hours=hours_mart({}).clear(),
            **empty,
        ),
        "measured_power",
    )

    assert "`telemetry` and `runs`" in section.empty_reason
    assert not (section.tables or section.figures or section.statements)
