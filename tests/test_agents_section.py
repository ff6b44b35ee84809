"""The section on agents says what tasks take, what caches save and when compacting pays."""

from decimal import Decimal

from report_frames import agentic_mart, column_of, compaction_mart, report, section_of, table_of

QWEN = {"model_id": "qwen3-8b", "gpu_energy_j": None, "energy_j_per_task": None}


def test_a_model_has_one_line_with_what_caching_saved_and_has_left_to_save() -> None:
    table = table_of(report(), "agents")

    assert column_of(table, "cached_saved_kwh") == [1.0]
    assert column_of(table, "left_kwh") == [1.0]
    assert column_of(table, "cached_saved_usd") == [Decimal(1)]
    assert column_of(table, "left_usd") == [Decimal("0.5")]


def test_states_stand_from_no_cache_to_all_on_a_sheet_of_their_own() -> None:
    table = table_of(report(), "agents_by_cache")

    assert table.sheet == "Agents_by_cache"
    assert column_of(table, "state") == ["no cache", "as logged", "fully cached"]


def test_the_answer_names_shares_savings_and_the_horizon() -> None:
    said = " ".join(section_of(report(), "agents").statements)

    assert "(prefill 50" in said
    assert "Caching as logged saves 1" in said
    assert "40 tokens were cached and never read back" in said
    assert "pays in energy after 12.5" in said


def test_a_saving_within_noise_is_called_so() -> None:
    book = report(mart_agentic=agentic_mart({"is_within_noise": True}))

    assert column_of(table_of(book, "agents_by_cache"), "noise") == ["within noise"] * 3
    assert "2 of these savings are within noise." in section_of(book, "agents").statements


def test_a_model_without_energy_stands_last() -> None:
    book = report(mart_agentic=agentic_mart(QWEN, {}))

    assert column_of(table_of(book, "agents"), "model_id") == ["llama-3.1-8b", "qwen3-8b"]


def test_without_agents_the_section_says_which_log_would_fill_it() -> None:
    book = report(
        mart_agentic=agentic_mart({}).clear(), mart_compaction=compaction_mart({}).clear()
    )

    agents = section_of(book, "agents")
    assert (agents.tables, agents.statements) == ((), ())
    assert "task_id and cache_read_tokens" in agents.empty_reason
