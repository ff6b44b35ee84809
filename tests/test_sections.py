"""A section is a pure function of a month's rows; unknown stays unknown and totals are exact."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from report_frames import (
    FACTS,
    MONTH,
    bridge_mart,
    column_of,
    concurrency_mart,
    cost_bridge_mart,
    cost_mart,
    coverage_mart,
    energy_mart,
    frames,
    implied_mart,
    may_line,
    project_mart,
    reconciliation_mart,
    report,
    section_of,
    table_of,
    team_mart,
    total_of,
    unresolved_mart,
)

from pipeline.report.assemble import build_report
from pipeline.report.section import Bars, Lines, Table
from pipeline.report.sections import bridge
from pipeline.report.sections.reading import known_sum, month_before, overall_grade, told_apart


@pytest.mark.parametrize(
    "name", ["cost_per_task", "usage_and_cost", "summary_by_class", "summary_by_model"]
)
def test_the_cost_total_is_the_exact_sum_of_the_priced_lines(name: str) -> None:
    table = table_of(report(), name)

    assert total_of(table, "cost_usd") == Decimal("1.504999")  # 1.005 + 0.499999


def test_the_headline_figures_are_the_totals_of_the_month() -> None:
    figures = {f.label: f for f in section_of(report(), "summary").key_figures}

    assert figures["Cost"].value == Decimal("1.504999")
    assert figures["Electricity"].value == 2.0 + 1.0
    # of the joint draws: not the sums of the lines' ends, which are 1.5 and 7
    assert (figures["Electricity"].low, figures["Electricity"].high) == (1.875, 5.25)
    assert figures["Carbon"].value == (946 + 473) / 1000
    assert figures["Requests"].value == 10 + 6 + 4
    assert figures["Tasks"].value == 10 + 2 + 4 - 1  # one of them in two lines


# Tables with an energy and no range of it, each with its reason.
WITHOUT_RANGE = {
    "methods": "laws of others have none; ours stands line by line in method_lines",
    "anchors": "published figures, as published",
    "policy_cells": "as a meter read them; what a setting changes has its intervals",
}


def test_every_energy_of_the_report_has_its_range_grade_batch_and_method_beside_it() -> None:
    kinds = {"j", "wh", "kwh", "gco2e", "kgco2e"}
    lacking = {}
    for section in report(mart_project_chargeback=project_mart({})).sections:
        for table in section.tables:
            energies = [column.name for column in table.columns if column.kind in kinds]
            names = {column.name for column in table.columns}
            lacks = {"evidence_grade", "batch"} - names
            lacks |= {end for end in ("low_", "high_") if not any(end in name for name in energies)}
            if "method_version" not in names and not table.note.endswith("Method 1."):
                lacks.add("method")
            if energies and lacks:
                lacking[table.name] = lacks

    assert {name: lacks for name, lacks in lacking.items() if name not in WITHOUT_RANGE} == {}
    assert set(lacking) == set(WITHOUT_RANGE)


@pytest.mark.parametrize(
    "name", ["cost_per_task", "energy_per_class", "summary_by_class", "summary_by_model"]
)
def test_the_range_of_a_total_is_that_of_the_joint_draws(name: str) -> None:
    table = table_of(report(), name)

    ends = [total_of(table, f"facility_energy_{end}_kwh") for end in ("low", "high")]
    assert ends == [1.875, 5.25]


@pytest.mark.parametrize(
    "name", ["cost_per_task", "summary_by_class", "summary_by_model", "team_chargeback"]
)
def test_a_task_of_several_lines_is_one_task_of_the_total(name: str) -> None:
    assert total_of(table_of(report(), name), "task_count") == 10 + 2 + 4 - 1


def test_a_line_of_the_summary_has_the_range_of_its_own_total() -> None:
    table = table_of(report(), "summary_by_model")

    assert column_of(table, "facility_energy_low_kwh") == [1.25, 0.625, None]


def test_the_batch_and_the_grade_stand_beside_the_electricity() -> None:
    figures = {f.label: f for f in section_of(report(), "summary").key_figures}

    assert figures["Electricity"].note.startswith("estimate at batch 8 – 64, grade D")


def test_the_summary_compares_with_the_month_before() -> None:
    cost = section_of(report(), "summary").key_figures[0]

    assert cost.note == "unpriced requests: 4; +25.0% on the month before"  # 1.504999 / 1.2039992


def test_months_of_two_methods_are_not_compared() -> None:
    book = report(mart_cost_per_task=cost_mart({}, may_line(method_version="0")))

    summary = section_of(book, "summary")

    assert summary.key_figures[0].note == "every request priced"
    assert any("by method 0, this one by 1" in sentence for sentence in summary.statements)


def test_the_summary_names_the_largest_lines_and_what_is_missing() -> None:
    statements = section_of(report(), "summary").statements

    assert statements == (
        "Cost is that of the requests alone, 1.50 USD; idle GPUs, credits and the like make the "
        "month's −3.25 USD: see From list to cost (sheet Costs).",
        "Most money: gpt-5 · chat, 1.01 USD, 66.8% of the priced cost.",
        "Most electricity: gpt-5 · chat, 2.000 kWh (1.000 – 4.000), 66.7% of the month's, "
        "at batch 64, grade D.",
        "Of the possible worlds, each drawn once for all lines, half take more than 3.375 kWh, one "
        "in twenty less than 1.875 and one in twenty more than 5.250.",
        "Without price: 4 of 20 requests (20.0%); no cost sum holds them.",
        "Without energy: 4 of 20 requests (20.0%); no energy sum holds them.",
        "Agents read 90.0% of their input tokens from a prompt cache.",  # 900 / (80 + 900 + 20)
        "Checks of the run: 1 of 3 failed, 1 warned; see Checks.",
    )


def test_a_month_that_cost_what_its_requests_did_has_one_cost() -> None:
    same = pl.when(pl.col("step_id") == "14").then(pl.lit(Decimal("1.504"))).otherwise("cost_usd")
    book = report(mart_cost_bridge=cost_bridge_mart().with_columns(same.alias("cost_usd")))

    # 1.504 and 1.504999 − 0.000999: the same cent as the cost of the requests
    assert section_of(book, "summary").statements[0].startswith("Most money: ")


def test_refused_requests_are_no_cheap_model_and_hosts_of_one_model_are_told_apart() -> None:
    refused = {"model_id": "refused", "cost_usd_per_task": 0.0, "output_tokens": 0} | dict.fromkeys(
        ("uncached_input_tokens", "cache_read_tokens", "cache_write_tokens"), 0
    )
    lines = cost_mart(
        refused,
        {"provider": "novita", "cost_usd_per_task": 0.25},
        {"provider": "openai", "cost_usd_per_task": 0.5},
    )

    section = section_of(report(mart_cost_per_task=lines), "cost_per_task")

    assert section.statements == (
        "chat: from 0.2500 USD (gpt-5 at novita) to 0.5000 USD (gpt-5 at openai) a task.",
    )
    assert told_apart(("a", "b", "a"), ("x", "x", "y")) == ("a at x", "b", "a at y")


@pytest.mark.parametrize(
    ("gap", "side"),
    [
        ("0", "as much as the tokens cost"),
        ("0.25", "0.25 USD more than the tokens cost"),
        ("-0.25", "0.25 USD less than the tokens cost"),
    ],
)
def test_the_bill_is_more_or_less_than_the_tokens_or_as_much(gap: str, side: str) -> None:
    mart = reconciliation_mart().with_columns(gap_usd=pl.lit(Decimal(gap)))

    first = section_of(report(mart_reconciliation=mart), "reconciliation").statements[0]

    assert first.endswith(f"USD were billed, {side} at list price.")


def test_an_unpriced_line_is_unknown_and_comes_last() -> None:
    table = table_of(report(), "cost_per_task")

    assert column_of(table, "model_id") == ["gpt-5", "llama-3.1-8b", "mystery"]
    assert column_of(table, "cost_usd")[-1] is None
    assert {c.name: c.unknown for c in table.columns}["cost_usd"] == "unpriced"


def test_a_total_of_nothing_known_is_unknown() -> None:
    book = report(mart_cost_per_task=cost_mart({"cost_usd": None}))

    assert total_of(table_of(book, "cost_per_task"), "cost_usd") is None
    assert section_of(book, "summary").key_figures[0].value is None
    assert section_of(book, "cost_per_task").figures == ()


def test_not_a_number_spreads_to_the_total() -> None:
    broken = {"facility_energy_kwh": float("nan"), "query_class": "rag"}
    book = report(mart_energy_per_class=energy_mart({}, broken))

    total = total_of(table_of(book, "energy_per_class"), "facility_energy_kwh")

    assert total != total


def test_cost_per_task_of_a_class_divides_by_the_tasks_that_have_a_cost() -> None:
    priced = {"cost_usd": Decimal(3), "task_count": 4}
    unpriced = {"cost_usd": None, "task_count": 100, "model_id": "mystery"}
    book = report(mart_cost_per_task=cost_mart(priced, unpriced))

    assert column_of(table_of(book, "summary_by_class"), "cost_usd_per_task") == [3 / 4]


def test_the_cached_share_counts_every_input_token() -> None:
    shares = column_of(table_of(report(), "usage_and_cost"), "cached_frac")

    assert shares == [0.0, 0.9, 0.0]


def test_the_bars_of_a_line_add_up_to_its_gpu_energy() -> None:
    (bars,) = section_of(report(), "energy").figures

    assert isinstance(bars, Bars)
    assert bars.labels[0] == "gpt-5 · chat"
    assert [name for name, _ in bars.series] == ["Prefill", "KV cache", "Next token"]
    assert [values[0] for _, values in bars.series] == pytest.approx([0.25, 0.05, 0.7])  # of 1 kWh
    assert (bars.lows[0], bars.highs[0]) == (0.5, 2.0)


def test_the_unmeasured_line_is_counted_and_not_drawn() -> None:
    section = section_of(report(), "energy")

    assert section.tables[1].note == "Unmeasured requests: 4 of 20. Method 1."
    assert "mystery · rag" not in str(section.figures[0])


def test_the_shares_of_the_three_terms_are_told() -> None:
    statement = section_of(report(), "energy").statements[0]

    assert statement == "Of the GPU energy: prefill 25.0%, KV cache 5.0%, next token 70.0%."


def test_requests_without_a_team_keep_a_line_of_their_own() -> None:
    book = report()
    table = table_of(book, "team_chargeback")

    assert column_of(table, "team") == ["support", None]
    assert table.columns[0].unknown == "unattributed"
    assert total_of(table, "cost_usd") == Decimal("1.504999")  # 1.000000 + 0.504999


def test_the_teams_say_whether_they_add_up_to_the_month() -> None:
    short = report(mart_team_chargeback=team_mart({}))

    assert section_of(report(), "teams").statements[-1] == (
        "The teams' costs add up to the month's cost exactly."
    )
    assert section_of(short, "teams").statements[-1] == (
        "The teams' costs add up to 1.00 USD, the month's cost is 1.50 USD."
    )


def test_rows_read_are_accepted_duplicate_and_rejected() -> None:
    book = report()
    table = table_of(book, "intake")

    assert section_of(book, "intake").statements == (
        "Rows read: 26 = 20 accepted + 3 duplicate + 3 rejected; files: 2.",
        "Columns that may hold tokens or money and that no figure counts: swift_tokens.",
    )
    assert table.rows[0][:6] == ("logs/june.csv", "openai_usage", 12 + 3 + 2 + 1, 12, 3, 3)
    assert column_of(table_of(book, "intake_reasons"), "row_count") == [3, 2, 1]


def test_columns_that_may_cost_stand_first_among_those_that_are_not_read() -> None:
    table = table_of(report(), "unknown_columns")

    assert table.rows == (
        ("logs/own.jsonl", "swift_tokens", 5, 4, "may be tokens or money that no figure counts"),
        ("logs/june.csv", "mood", 9, 0, None),
    )


def test_coverage_counts_what_is_not_known() -> None:
    book = report()
    table = table_of(book, "coverage")

    assert table.rows[0][:5] == ("Requests with a cost", 16, 20, 4, 0.8)
    assert section_of(book, "coverage").statements == ("Least known: requests of a team, 25.0%.",)


def test_names_that_the_catalog_does_not_know_are_listed_largest_first() -> None:
    names = unresolved_mart(
        {"model_name": "small", "token_frac": 0.125, "nearest_model_id": "smol"},
        {"cost_usd": Decimal("1.25"), "unpriced_request_count": 1},
        {"model_name": "small", "provider": "acme", "token_frac": 0.125},
    )
    book = report(mart_unresolved_models=names)
    table = table_of(book, "unresolved_models")

    assert column_of(table, "model_name") == ["mystery", "small", "small"]
    assert column_of(table, "provider") == ["self-hosted", "acme", "self-hosted"]
    assert column_of(table, "nearest_model_id") == [None, None, "smol"]
    assert total_of(table, "request_count") == 3 * 4
    assert total_of(table, "cost_usd") == Decimal("1.25")
    assert section_of(book, "coverage").statements[-1] == (
        "Names that the catalog does not know: 2, with 75.0% of the tokens."
    )


def test_what_could_attribute_usage_to_a_team_is_counted() -> None:
    # 10 requests of no team, 7 of them with a key, 3 with a route; 10 of 20 in all
    nobody = {"team": None, "cost_usd": Decimal("0.5")}

    assert section_of(report(mart_team_chargeback=team_mart({}, nobody)), "teams").statements[
        1
    ] == (
        "Not attributed: 10 requests (50.0%), 0.50 USD. Of them 7 name a key, 3 name a route, so "
        "attribution.csv can give them a team."
    )


def test_projects_are_listed_by_cost_with_what_belongs_to_none() -> None:
    rest = {"project": None, "cost_usd": Decimal("0.25"), "carbon_gco2e": 236.5}
    table = table_of(report(mart_project_chargeback=project_mart(rest, {})), "project_chargeback")

    assert column_of(table, "project") == ["checkout", None]
    assert total_of(table, "cost_usd") == 1
    assert total_of(table, "carbon_kgco2e") == pytest.approx(0.946)


def test_without_a_project_there_is_no_table_of_projects() -> None:
    nobody = report(mart_project_chargeback=project_mart({"project": None}))

    assert [table.name for table in section_of(nobody, "teams").tables] == ["team_chargeback"]


def test_where_nothing_could_attribute_usage_it_is_said() -> None:
    nobody = {"team": None, "api_key_request_count": 0, "route_request_count": 0}

    assert section_of(report(mart_team_chargeback=team_mart(nobody)), "teams").statements[0] == (
        "Not attributed: 10 requests (100%), 1.00 USD. Their logs name no key, project, user or "
        "route; assume a team for their files."
    )


def test_full_coverage_is_said_in_words() -> None:
    counts = [n for n in coverage_mart().columns if n.endswith("_request_count")]
    tokens = [n for n in coverage_mart().columns if n.endswith("_output_tokens")]
    full = coverage_mart().with_columns(
        *(pl.col("request_count").alias(name) for name in counts),
        *(pl.col("output_tokens").alias(name) for name in tokens),
    )

    statements = section_of(report(mart_coverage=full), "coverage").statements

    assert statements == ("Every fact is known of every request.",)


def test_what_a_user_filled_in_stands_before_the_assumptions() -> None:
    tables = section_of(report(), "assumptions").tables

    assert [table.name for table in tables] == ["assumed", "assumptions", "region_multipliers"]
    assert tables[0].rows == (("logs/own.jsonl", "model", "llama-3.1-8b"),)
    assert column_of(tables[1], "assumption") == ["batch_api", "pue_ratio"]


def test_failed_checks_come_first() -> None:
    table = table_of(report(), "checks")

    assert column_of(table, "status") == ["fail", "warn", "pass"]
    assert column_of(table, "check_name")[0] == "terms add up"


def test_the_inputs_are_named_with_their_hashes() -> None:
    assert table_of(report(), "about_inputs").rows == (("logs/june.csv", "9f86d081"),)


def test_a_month_without_rows_says_so_and_shows_no_table() -> None:
    empty = build_report(frames(), "2025-01", FACTS)

    for name in ("summary", "cost_per_task", "energy", "teams", "coverage"):
        section = section_of(empty, name)
        assert section.empty_reason == "No accepted request falls in this month."
        assert (section.tables, section.figures) == ((), ())


def test_a_line_stands_at_its_batch_alone_and_at_the_largest_asked() -> None:
    table = table_of(report(), "concurrency")

    assert column_of(table, "model_id") == ["gpt-5", "llama-3.1-8b"]  # 6,000 and 3,600 J
    assert column_of(table, "batch_source") == ["assumed for api", "logged latencies"]
    assert column_of(table, "alone_j_per_request") == [1_000, 1_000]
    assert column_of(table, "energy_j_per_request") == [600, 600]
    assert column_of(table, "low_j_per_request") == [500, 500]  # 3,000 J of 6 requests
    assert column_of(table, "most_batch") == [4, 4]
    assert column_of(table, "saving_frac") == [0.5, 0.5]  # 300 of 600 J
    assert column_of(table, "saving_positive_frac") == [0.95, 0.95]
    assert column_of(table, "verdict") == ["saves", "saves"]


def test_the_section_of_batches_says_where_they_come_from() -> None:
    assert section_of(report(), "concurrency").statements == (
        "Of the GPU energy, by where its batch comes from: assumed for api 62.5%, "
        "logged latencies 37.5%.",
        "Largest on own servers: llama-3.1-8b · agentic, at batch 2; at batch 4 a request would "
        "take 50.0% less GPU energy.",
        "List prices imply batches of 55 where the report takes 64; 1 of 2 lines of other hosts "
        "imply none.",
        "Usage cost 4 USD per kWh of electricity behind it; ranges rank 0 of 1 pairs of lines, all "
        "others overlap.",
    )


def test_own_servers_are_drawn_with_the_batch_in_force_marked() -> None:
    (lines,) = section_of(report(), "concurrency").figures
    assert isinstance(lines, Lines)

    assert dict(lines.series) == {"llama-3.1-8b · agentic": ((1, 1_000), (2, 600), (4, 300))}
    assert list(lines.marks) == [(2, 600)]


def test_without_own_servers_the_assumed_batches_are_drawn_as_such() -> None:
    book = report(mart_concurrency=concurrency_mart({"hosting_kind": "api"}))

    (lines,) = section_of(book, "concurrency").figures
    assert lines.title == "GPU energy per request by batch, at assumed batches"


def test_at_most_seven_lines_are_drawn() -> None:
    changes = [{"model_id": f"m{n}", "gpu_energy_j": 100.0 * n} for n in range(9)]
    book = report(mart_concurrency=concurrency_mart(*changes))

    (lines,) = section_of(book, "concurrency").figures
    assert isinstance(lines, Lines)
    assert [name for name, _ in lines.series] == [f"m{n} · agentic" for n in range(8, 1, -1)]
    assert lines.title.endswith("the 7 largest")


def test_a_batch_that_prices_do_not_imply_comes_last_with_its_reason() -> None:
    table = table_of(report(), "implied_batch")

    assert column_of(table, "implied_batch") == [55, None]
    assert column_of(table, "batch") == [64, 64]
    assert column_of(table, "reason") == [
        None,
        "no batch is large enough for so low a price of output",
    ]


def test_own_servers_have_no_list_price_to_imply_a_batch() -> None:
    book = report(mart_implied_batch=implied_mart({"hosting_kind": "self_hosted"}))

    assert "implied_batch" not in [t.name for t in section_of(book, "concurrency").tables]


def test_without_a_batch_the_section_says_what_would_fill_it() -> None:
    section = section_of(build_report(frames(), "2025-01", FACTS), "concurrency")

    assert len(section.tables) + len(section.figures) == 0
    assert "latency_s" in section.empty_reason


def test_counts_may_come_as_decimals() -> None:
    sums = frames()["mart_cost_per_task"].with_columns(
        pl.col("request_count", "output_tokens").cast(pl.Decimal(38, 0))
    )
    book = report(mart_cost_per_task=sums)

    assert section_of(book, "summary").key_figures[3].value == 20
    assert section_of(book, "summary").statements == section_of(report(), "summary").statements


def test_the_order_of_the_rows_given_changes_nothing() -> None:
    turned = {name: frame.reverse() for name, frame in frames().items()}

    assert build_report(turned, MONTH, FACTS) == report()


def test_tables_have_names_of_their_own_and_rows_as_wide_as_their_heads() -> None:
    tables: list[Table] = [t for section in report().sections for t in section.tables]

    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}, table.name
        assert table.total is None or len(table.total) == len(table.columns)


def test_the_month_may_be_given_as_its_first_day() -> None:
    dated = frames()["mart_cost_per_task"].with_columns(
        pl.concat_str("month", pl.lit("-01")).str.to_date()
    )

    assert table_of(report(mart_cost_per_task=dated), "cost_per_task") == table_of(
        report(), "cost_per_task"
    )


def test_the_month_before_january_is_december() -> None:
    assert month_before("2026-01") == "2025-12"
    assert month_before("2026-06") == "2026-05"


@pytest.mark.parametrize(
    ("lines", "grade"),
    [
        ([("A", 96.0), ("D", 4.0)], "A"),  # 4 % is less than the 5 % that counts
        ([("A", 95.0), ("D", 5.0)], "D"),
        ([("U", None)], "U"),
        ([("B", 1.0), ("U", None)], "B"),
    ],
)
def test_a_total_takes_the_worst_grade_that_carries_energy(
    lines: list[tuple[str, float | None]], grade: str
) -> None:
    frame = pl.DataFrame(
        lines, schema={"evidence_grade": pl.String, "energy": pl.Float64}, orient="row"
    )

    assert overall_grade(frame, "energy") == grade


@pytest.mark.parametrize(
    ("values", "total"),
    [([None, None], None), ([], None), ([0, None], 0), ([0.1] * 10, 1.0)],
)
def test_a_sum_is_of_what_is_known(values: list[Any], total: float | None) -> None:
    frame = pl.DataFrame(
        {"value": values}, schema_overrides=None if values else {"value": pl.Int64}
    )

    assert known_sum(frame, "value") == total


def test_the_bridge_shows_each_part_and_how_it_is_worked_out() -> None:
    table = table_of(report(), "month_bridge")

    assert column_of(table, "cost_usd") == [
        Decimal(text) for text in ("1.20", "0.50", "0.10", "-0.40", "0", "0.15", "-0.05", "1.50")
    ]
    assert column_of(table, "carbon_kgco2e")[-1] == Decimal("1.419")  # 3 kWh of 473 g
    assert column_of(table, "carbon_low_kgco2e")[-1] == pytest.approx(0.7095)  # half of it
    assert column_of(table, "carbon_high_kgco2e")[1] == pytest.approx(1.419)  # twice 1.5 kWh
    assert all(column_of(table, "definition"))


def test_the_bridge_says_in_two_sentences_what_moved_most() -> None:
    assert section_of(report(), "bridge").statements == (
        "Cost rose from 1.20 to 1.50 USD: most by more or fewer requests +0.50 USD, "
        "then other models −0.40 USD.",
        "Electricity rose from 1.500 to 3.000 kWh: most by more or fewer requests +1.500 kWh, "
        "then longer or shorter requests +0.2500 kWh.",
    )


def test_what_another_method_moved_the_month_before_by_is_a_line_of_its_own() -> None:
    # said: 1.10 USD, 1.25 kWh, 600 g; by the method of now: 1.20 USD, 1.5 kWh, 709.5 g
    issued = {
        "issue": "R1",
        "method_version": "older 3",
        "cost_usd": "1.100000000",
        "facility_energy_kwh": "1.250000000",
        "carbon_gco2e": "600.000000000",
    }

    found = bridge.section(bridge_mart(), issued)

    [table] = found.tables
    for name, before, moved in (
        ("cost_usd", "1.10", "0.10"),
        ("facility_energy_kwh", "1.25", "0.25"),
        ("carbon_kgco2e", "0.6", "0.1095"),
    ):
        values = column_of(table, name)
        assert (values[0], values[4]) == (Decimal(before), Decimal(moved))
        assert sum(values[:-1]) == values[-1]
    # nobody drew the ends of another method
    assert [column_of(table, "facility_energy_low_kwh")[n] for n in (0, 4)] == [None, None]
    assert found.statements[-1] == (
        "The month before stands as its report R1 said, by method older 3; another method holds "
        "all that has moved it since."
    )


def test_a_month_before_of_a_few_requests_is_no_base_for_a_bridge() -> None:
    # 16 requests now; 5 % of them are 0.8
    few = bridge_mart(priced_request_before_count=0)

    assert "too few requests" in section_of(report(mart_month_bridge=few), "bridge").empty_reason


def test_the_months_are_one_and_the_twelve_before_it() -> None:
    lines = [{"month": month} for month in ("2025-05", "2025-06", "2026-05", "2026-07")]

    book = report(mart_cost_per_task=cost_mart({}, *lines))

    months = column_of(table_of(book, "months"), "month")
    assert [f"{month:%Y-%m}" for month in months] == ["2025-06", "2026-05", "2026-06"]


def test_one_month_is_no_trend() -> None:
    section = section_of(report(mart_cost_per_task=cost_mart({})), "trend")

    assert section.tables == ()
    assert section.empty_reason == "The logs hold one month; a second one would show a trend."


def test_a_month_is_shown_with_its_change() -> None:
    # May 1.2039992 USD and June 1.504999 USD: 1.504999 / 1.2039992 - 1 = 25.0 %
    statements = section_of(report(), "trend").statements

    assert statements[0] == "Cost: 1.20 to 1.50 USD (+25.0%) from 2026-05 to 2026-06."


def test_carbon_on_another_grid_is_the_same_electricity_at_its_factor() -> None:
    grids = pl.DataFrame(
        {
            **{"zone": ["France", "France", "World"], "year": ["2023", "2024", "2024"]},
            **{"basis": ["life-cycle"] * 3, "method": ["location"] * 3},
            **{"carbon_gco2e_per_kwh": ["60", "40", "473"], "source": ["s"] * 3},
            "source_date": ["2026-01-01"] * 3,
        }
    )

    table = table_of(report(grid_factors=grids), "carbon_by_grid")

    # 2 + 1 kWh: the latest year of each zone, 3 · 40 g and 3 · 473 g, cleanest first
    assert column_of(table, "zone") == ["France", "World"]
    assert column_of(table, "grid_carbon_kgco2e") == [pytest.approx(0.12), pytest.approx(1.419)]


def test_the_carbon_of_lines_adds_up_to_the_month() -> None:
    table = table_of(report(), "carbon")

    assert total_of(table, "carbon_kgco2e") == pytest.approx(1.419)  # 946 + 473 g
    assert column_of(table, "carbon_frac")[:2] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]
