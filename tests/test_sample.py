"""The bundled demo months: generated, labelled, and as their truth table says."""

import csv
import functools
import gzip
import importlib
import io
import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Book, built, rows_of

from pipeline.sample.__main__ import main
from pipeline.sample.company import Model
from pipeline.sample.prices import PRICES
from pipeline.settings import bundled, read_settings

SAMPLE = bundled("data/sample")
MONTHS = ("2026-09", "2026-10")
CLASSES = {
    "chat", "rag", "summarization", "code_completion",
    "reasoning", "agentic", "batch_extraction", "other",
}  # fmt: skip
PROVIDER_IN_PRICES = {"gemini": "google", "together_ai": "together"}

Totals = dict[str, int]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((SAMPLE / "expected.json").read_text(encoding="utf-8"))
    return facts


@pytest.fixture(scope="module")
def written_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    main([str(folder)])
    return folder


@functools.cache
def content(name: str, folder: Path = SAMPLE) -> bytes:
    held = (folder / name).read_bytes()
    return gzip.decompress(held) if name.endswith(".gz") else held


def csv_rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(name).decode(), newline="")))


def usage_lines(name: str) -> Iterator[dict[str, Any]]:
    """Read the messages of a session log, skipping what is broken or has no usage."""
    for line in content(name).decode().splitlines():
        try:
            message = json.loads(line).get("message", {})
        except json.JSONDecodeError:
            continue
        if "usage" in message:
            yield message


def usage_sums(messages: list[dict[str, Any]]) -> Totals:
    usages = [message["usage"] for message in messages]
    return {
        "uncached_input_tokens": sum(usage["input_tokens"] for usage in usages),
        "cache_read_tokens": sum(usage["cache_read_input_tokens"] for usage in usages),
        "cache_write_tokens": sum(usage["cache_creation_input_tokens"] for usage in usages),
        "output_tokens": sum(usage["output_tokens"] for usage in usages),
    }


@pytest.mark.slow
def test_generating_again_gives_the_committed_files(written_again: Path) -> None:
    def files(folder: Path) -> list[str]:
        return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())

    names = files(SAMPLE)

    assert files(written_again) == names
    for name in names:
        # Packed bytes depend on the zlib at hand, so the contents are compared.
        assert content(name, written_again) == content(name), name


def test_packed_files_hold_neither_a_time_nor_a_file_name(written_again: Path) -> None:
    packed = [*written_again.glob("*.gz"), *SAMPLE.glob("*.gz")]

    assert len(packed) == 2 * 8
    for path in packed:
        flags_and_time = path.read_bytes()[3:8]

        assert flags_and_time == bytes(5), path.name


def test_the_settings_name_every_log_once_and_call_it_generated(expected: dict[str, Any]) -> None:
    settings = tomllib.loads((SAMPLE / "joulebook.toml").read_text(encoding="utf-8"))

    assert settings["is_generated_sample"] is True
    assert sorted(given["path"] for given in settings["inputs"]) == sorted(expected["files"])


def test_all_files_together_stay_below_three_megabytes() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*")) <= 3_000_000


def test_both_months_together_hold_at_least_30_000_requests(expected: dict[str, Any]) -> None:
    counts = [expected["months"][month]["request_count"] for month in MONTHS]

    assert sum(counts) >= 30_000
    assert counts[0] < counts[1] < 1.25 * counts[0]


def test_every_month_has_all_teams_and_all_classes(expected: dict[str, Any]) -> None:
    teams = {"", "support", "search", "engineering", "finance-ops"}
    for month in MONTHS:
        assert set(expected["months"][month]["requests_by_team"]) == teams
        assert set(expected["months"][month]["requests_by_class"]) == CLASSES


def test_some_classes_are_said_and_some_show_only_in_the_shape(expected: dict[str, Any]) -> None:
    for key in ("requests_by_said_class", "requests_by_unsaid_class"):
        found = {name for facts in expected["files"].values() for name in facts[key]}

        assert found == CLASSES, key


def test_at_least_eight_models_are_used_and_two_of_them_are_in_no_catalog(
    expected: dict[str, Any],
) -> None:
    unknown = {"acme-internal-7b", "ft:gpt-4o:acme"}

    assert unknown < set(expected["models"])
    assert len(set(expected["models"]) - unknown) >= 8


def test_the_price_change_has_requests_on_both_sides(expected: dict[str, Any]) -> None:
    change = expected["price_change"]
    starts = [
        datetime.fromisoformat(row["startTime"])
        for month in MONTHS
        for row in litellm_rows(f"litellm-{month}.jsonl.gz")
        if row["model"] == change["model"] and row["custom_llm_provider"] == change["provider"]
    ]
    cut = datetime.fromisoformat(change["date"]).replace(tzinfo=UTC)

    assert change["date"] == "2026-10-18"
    assert sum(start < cut for start in starts) == change["requests_before"] >= 500
    assert sum(start >= cut for start in starts) == change["requests_after"] >= 500


@pytest.mark.parametrize("month", MONTHS)
def test_a_naive_sum_of_session_logs_is_more_than_twice_the_truth(
    expected: dict[str, Any], month: str
) -> None:
    name = f"claude-code-{month}.jsonl.gz"
    facts = expected["files"][name]
    lines = list(usage_lines(name))

    naive, right = usage_sums(lines), usage_sums(list({m["id"]: m for m in lines}.values()))

    assert right == {key: facts[key] for key in right}
    assert naive == {key: facts["naive"][key] for key in naive}
    assert all(naive[key] > 2 * right[key] for key in right)
    assert len(lines) == facts["rows_accepted"] + facts["rows_duplicate"]


@pytest.mark.parametrize("month", MONTHS)
def test_agents_read_about_95_percent_of_their_input_from_the_cache(
    expected: dict[str, Any], month: str
) -> None:
    facts = expected["files"][f"claude-code-{month}.jsonl.gz"]
    kinds = ("uncached_input_tokens", "cache_read_tokens", "cache_write_tokens")

    assert facts["cache_read_tokens"] / sum(facts[kind] for kind in kinds) == pytest.approx(
        0.95, abs=0.02
    )


@pytest.mark.parametrize("month", MONTHS)
def test_the_proxy_log_adds_up_to_its_truth_when_read_by_hand(
    expected: dict[str, Any], month: str
) -> None:
    name = f"litellm-{month}.jsonl.gz"
    facts = expected["files"][name]
    rows = litellm_rows(name)
    reads, writes, reasoning = zip(*map(cache_and_reasoning, rows), strict=True)
    prompts = sum(row["prompt_tokens"] for row in rows)

    assert len(rows) == facts["rows_accepted"]
    assert sum(reads) == facts["cache_read_tokens"]
    assert sum(writes) == facts["cache_write_tokens"]
    assert sum(reasoning) == facts["reasoning_tokens"]
    assert prompts - sum(reads) - sum(writes) == facts["uncached_input_tokens"]
    assert sum(row["completion_tokens"] for row in rows) == facts["output_tokens"]
    billed = sum((Decimal(repr(row["spend"])) for row in rows), Decimal(0))
    assert billed == Decimal(facts["billed_cost_usd"])


@pytest.mark.parametrize("month", MONTHS)
def test_the_dashboard_export_adds_up_to_its_truth_when_read_by_hand(
    expected: dict[str, Any], month: str
) -> None:
    name = f"openai-dashboard-{month}.csv"
    facts = expected["files"][name]
    rows = csv_rows(name)
    used = [row for row in rows if row["num_model_requests"]]

    assert len(rows) - len(used) == facts["rejected_by_reason"]["no_usage"] == 4
    assert total(used, "num_model_requests") == facts["request_count"]
    assert total(used, "input_uncached_tokens") == facts["uncached_input_tokens"]
    assert total(used, "input_cached_tokens") == facts["cache_read_tokens"]
    assert total(used, "output_tokens") == facts["output_tokens"]


def test_nights_and_weekends_are_quieter() -> None:
    starts = [
        datetime.fromisoformat(row["startTime"]) for row in litellm_rows("litellm-2026-10.jsonl.gz")
    ]
    weekend_count = sum(start.weekday() >= 5 for start in starts)
    night_count = sum(start.hour < 6 for start in starts)

    assert weekend_count / 9 < 0.7 * (len(starts) - weekend_count) / 22  # 9 and 22 days
    assert night_count / 6 < 0.4 * (len(starts) - night_count) / 18  # hours of the day


def test_broken_rows_are_too_few_to_stop_a_run(expected: dict[str, Any]) -> None:
    for name, facts in expected["files"].items():
        bad = facts["rows_rejected"] - facts["rejected_by_reason"].get("no_usage", 0)

        assert bad < 0.01 * facts["rows_read"], name
        assert facts["rows_read"] == sum(
            facts[f"rows_{outcome}"] for outcome in ("accepted", "rejected", "duplicate")
        ), name


def test_a_task_that_failed_first_is_solved_under_the_same_tag() -> None:
    statuses: dict[str, list[str]] = {}
    for row in litellm_rows("litellm-2026-10.jsonl.gz"):
        for tag in row["request_tags"]:
            if tag.startswith("task:"):
                statuses.setdefault(tag, []).append(row["status"])
    endings = Counter(tuple(found[-2:]) for found in statuses.values() if "failure" in found)

    assert endings["failure", "success"] >= 20


def test_every_json_record_that_can_carry_a_label_says_it_is_generated() -> None:
    for month in MONTHS:
        assert all(
            row["metadata"]["generated_sample"] is True
            for row in litellm_rows(f"litellm-{month}.jsonl.gz")
        )


@pytest.mark.parametrize("day", ["2026-09-01", "2026-10-17", "2026-10-18", "2026-10-31"])
def test_list_prices_are_those_of_genai_prices(day: str) -> None:
    pytest.importorskip("genai_prices", reason="only makers of the sample need the price source")
    noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    for model, periods in PRICES.items():
        rates = next(found for found in periods if noon.date() >= found.since)
        cached = ("input_tokens", "cache_read_tokens")
        written = ("input_tokens", "cache_write_tokens")

        assert rates.output == genai_price(model, noon, "output_tokens")
        assert rates.uncached == genai_price(model, noon, "input_tokens")
        assert rates.cache_read == genai_price(model, noon, *cached)
        assert rates.cache_write_5m == genai_price(model, noon, *written)


def total(rows: list[dict[str, str]], column: str) -> int:
    return sum(int(float(row[column])) for row in rows)


@functools.cache
def litellm_rows(name: str) -> list[dict[str, Any]]:
    """Read the sound rows of a spend log; of a repeated id the row with the longer answer."""
    kept: dict[str, dict[str, Any]] = {}
    for line in content(name).decode().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        other = kept.get(row["request_id"])
        if is_sound(row) and (not other or row["completion_tokens"] > other["completion_tokens"]):
            kept[row["request_id"]] = row
    return list(kept.values())


def is_sound(row: dict[str, Any]) -> bool:
    try:
        datetime.fromisoformat(row["startTime"])
    except (TypeError, ValueError):
        return False
    reasoning = cache_and_reasoning(row)[2]
    return bool(row["prompt_tokens"] >= 0 and 0 <= reasoning <= row["completion_tokens"])


def cache_and_reasoning(row: dict[str, Any]) -> tuple[int, int, int]:
    usage = row["metadata"]["additional_usage_values"]
    read = usage.get("cache_read_input_tokens", 0)
    read += usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    reasoning = usage.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
    return read, usage.get("cache_creation_input_tokens", 0), reasoning


def genai_price(model: Model, when: datetime, *kinds: str) -> Decimal:
    """Return what a thousand tokens of one kind cost there, in dollars per million tokens."""
    genai_prices = importlib.import_module("genai_prices")
    found = genai_prices.calc_price(
        genai_prices.Usage(**dict.fromkeys(kinds, 1_000)),
        model.name,
        provider_id=PROVIDER_IN_PRICES.get(model.provider, model.provider),
        genai_request_timestamp=when,
    )
    return Decimal(found.total_price) * 1_000


# Money -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample_book() -> Iterator[Book]:
    settings = read_settings(SAMPLE / "joulebook.toml")
    book = built(settings.inputs, settings, SAMPLE)
    yield book
    book.close()


@pytest.mark.slow
def test_the_gpu_bills_are_shared_and_idle_to_the_cent(
    expected: dict[str, Any], sample_book: Book
) -> None:
    rows = rows_of(
        sample_book,
        "select month, sum(used_usd + idle_usd) as usd, sum(idle_usd) as idle_usd "
        "from int_hosting group by month",
    )

    assert {row["month"]: row["usd"] for row in rows} == {
        month: Decimal(usd) for month, usd in expected["money"]["gpu_bills_usd"].items()
    }
    assert all(row["idle_usd"] > 0 for row in rows)


@pytest.mark.slow
def test_the_contract_makes_the_coding_agent_eight_percent_cheaper(
    expected: dict[str, Any], sample_book: Book
) -> None:
    [row] = rows_of(
        sample_book,
        "select sum(list_cost_usd) as list_usd, sum(contracted_cost_usd) as contracted_usd "
        "from int_group_costs where provider = 'anthropic' and team = 'engineering' "
        "and not is_billed",
    )

    assert row["list_usd"] == Decimal(expected["money"]["claude_code_list_cost_usd"])
    assert row["contracted_usd"] == Decimal(expected["money"]["claude_code_contracted_cost_usd"])


@pytest.mark.slow
def test_the_credit_is_a_line_of_its_own(expected: dict[str, Any], sample_book: Book) -> None:
    rows = rows_of(
        sample_book,
        "select month, cost_usd from mart_cost_lines where line_kind = 'discount or credit'",
    )

    assert {row["month"]: row["cost_usd"] for row in rows} == {
        month: Decimal(usd) for month, usd in expected["money"]["credits_usd"].items()
    }
