"""One request explained: the worked example, and sums that tie to the marts."""

import functools
import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from arithmetic import evaluated, is_kept, printed
from conftest import DENSE_BIAS, EXAMPLE_LAW_J, Book, Rows, rows_of

from pipeline.errors import WrongUseError
from pipeline.explain.answer import explain_in
from pipeline.explain.find import one_record
from pipeline.explain.lines import Explanation, Line, Step
from pipeline.explain.text import text_of
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

ONE_H100 = {"gpu": "H100-SXM", "stack": "vLLM", "batch": "1"}
# What the explanation of a request reads, with what these rest on: half of the models.
READ = (
    *("int_batches", "int_class_doubts", "int_class_energy", "int_group_costs", "int_hosts"),
    *("int_own_errors", "int_team_energy", "mart_coverage", "mart_energy_per_class"),
    "mart_cost_per_task",
)


def line_of(made: Explanation, name: str) -> Line:
    """Return the last line of a name, which is the one that counts."""
    return [line for part in made.parts for line in part.lines if line.name == name][-1]


def step_of(made: Explanation, name: str) -> Step:
    line = line_of(made, name)
    assert isinstance(line, Step), line
    return line


def amount(value: object) -> float:
    assert isinstance(value, int | float | Decimal), value
    return float(value)


def explained(book: Book, asked: str, month: str | None = None) -> Explanation:
    return explain_in(book, Settings(), [], asked, month)


def of_one(**row: Any) -> Rows:  # noqa: ANN401  # any column of the general form
    return [{"request_id": "one", "input_tokens": 900, "output_tokens": 300, **row}]


@pytest.fixture(scope="module")
def book_of(book_of: Callable[..., Book]) -> Callable[..., Book]:
    """Build what explanations read, at once: they lay temporary tables over the models."""
    return functools.partial(book_of, targets=READ)


@pytest.fixture(scope="module")
def mixed(book_of: Callable[..., Book]) -> Book:
    """Requests of every kind of architecture and host, single ones and buckets."""
    lengths = ((900, 0, 300), (4_000, 3_000, 120), (50, 50, 7), (12_000, 0, 1), (300, 0, 0))
    models = (
        ("meta-llama/Llama-3.1-8B", ""),
        ("Qwen/Qwen3-30B-A3B", ""),
        ("deepseek-ai/DeepSeek-V3", ""),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", ""),
        ("google/gemma-2-9b-it", ""),
        ("gpt-5-mini", "openai"),
        ("gpt-5", "openai"),
    )
    rows: Rows = [
        {
            "request_id": f"{model}-{number}",
            "model_name": model,
            "provider": provider,
            "query_class": "chat",
            "team": "a" if number % 2 else "b",
            "input_tokens": n,
            "cache_read_tokens": k,
            "output_tokens": m,
        }
        for model, provider in models
        for number, (n, k, m) in enumerate(lengths)
    ]
    rows += [
        {
            "request_id": f"bucket-{count}",
            "model_name": "gpt-5-mini",
            "provider": "openai",
            "query_class": "rag",
            "bucket_end_at": "2026-10-05T11:00:00Z",
            "input_tokens": 40_000,
            "cache_read_tokens": 9_000,
            "output_tokens": 5_000,
            **({"request_count": count} if count else {}),
        }
        for count in (None, 1, 12)
    ]
    return book_of(rows)


# The worked example ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def each(mixed: Book) -> dict[str, Explanation]:
    """The explanation of every one of them, by its id."""
    ids = [row["request_id"] for row in rows_of(mixed, "select request_id from raw_usage")]
    return {name: explained(mixed, name) for name in ids}


@pytest.fixture(scope="module")
def example(book_of: Callable[..., Book]) -> Explanation:
    """Llama-3.1-8B, 900 tokens in, 300 out, alone on one H100."""
    return explained(book_of(of_one(), assumes=[ONE_H100]), "one")


@pytest.mark.parametrize(
    ("name", "formula", "value"),
    [
        ("body_params", "L·(2·d·h·dh + 2·d·g·dh) + μ·d·L·f", 6_979_321_856),
        ("head_params", "V·d", 525_336_576),
        ("attention_flop_per_pair", "4·L·h·dh", 524_288),
        ("kv_bytes_per_position", "2·x·L·g·dh", 131_072),
        ("prefill_flop", "2·P·p + Q·q + 2·Ph", 12_776_402_583_552),
        ("decode_flop", "2·(P + Ph)·t", 4_487_785_742_336),
        ("decode_attention_flop", "Q·y", 164_600_217_600),
        ("kv_read_bytes", "KV·z", 41_268_019_200),
        ("weight_read_bytes", "W·m", 4_502_795_059_200),
        ("layer_steps", "L·m", 9_600),
    ],
)
def test_the_work_of_the_worked_example_is_written_out(
    example: Explanation, name: str, formula: str, value: int
) -> None:
    found = step_of(example, name)

    assert (found.formula, found.value) == (formula, value)


def test_the_energies_of_the_worked_example_are_written_out(example: Explanation) -> None:
    text = text_of(example)

    assert "    = 1.199e-12·12,776,402,583,552 = 15.3189067 J\n" in text
    assert "    = 2.551e-10·41,268,019,200 + 1.199e-12·164,600,217,600 = 10.7248274 J\n" in text
    assert "    = 15.3189066977 + 10.7248273588 + 850.990486358 = 877.03422 J\n" in text
    assert "    = 1.15·877.034220414 = 1,008.58935 J\n" in text


def test_the_worked_example_comes_to_the_bias_times_the_law_and_to_the_facility(
    example: Explanation,
) -> None:
    boards = amount(example.facts["gpu_energy_j"])
    # × 1.43 host × 1.12 idle × 1.20 PUE ÷ 3.6 MJ, × 473 g
    kwh = boards * 1.43 * 1.12 * 1.2 / 3.6e6

    assert boards == pytest.approx(DENSE_BIAS * EXAMPLE_LAW_J, rel=1e-9)
    assert example.facts["facility_energy_kwh"] == pytest.approx(kwh, rel=1e-12)
    assert example.facts["carbon_gco2e"] == pytest.approx(kwh * 473, rel=1e-12)


def test_where_it_stands_and_what_it_was_told_is_said(example: Explanation) -> None:
    assert line_of(example, "source_file").value == "usage-1.jsonl"
    assert line_of(example, "source_line").value == 1
    assert line_of(example, "model_id").note == "logged by this id"
    assert line_of(example, "batch").note.startswith("told by")
    assert line_of(example, "coefficient_set_id").value == "h100-sxm-vllm-1"
    assert line_of(example, "evidence_grade").value == "B"
    assert line_of(example, "evidence_grade").note == (
        "a set of few architectures; lengths or batch outside 0.5 to 2 times what was measured"
    )


def test_a_model_on_own_servers_is_unpriced_and_says_so(example: Explanation) -> None:
    assert example.facts["cost_usd"] is None
    assert "unpriced" in line_of(example, "cost_usd").note


# Sums tie -------------------------------------------------------------------------------------


def test_the_requests_of_a_class_explained_one_by_one_add_up_to_the_class(
    mixed: Book, each: dict[str, Explanation]
) -> None:
    summed: dict[tuple[str, str], list[float]] = {}
    for made in each.values():
        key = (str(made.facts["model_id"]), str(made.facts["query_class"]))
        summed.setdefault(key, []).append(amount(made.facts["gpu_energy_j"]))

    mart = rows_of(mixed, "select model_id, query_class, gpu_energy_j from mart_energy_per_class")

    assert len(mart) == len(summed) == 8
    for row in mart:
        parts = summed[row["model_id"], row["query_class"]]
        assert math.fsum(parts) == pytest.approx(row["gpu_energy_j"], rel=1e-9)


def test_the_costs_of_requests_explained_one_by_one_add_up_to_the_class_exactly(
    mixed: Book, each: dict[str, Explanation]
) -> None:
    summed: dict[tuple[str, str], Decimal] = {}
    for row in rows_of(mixed, "select request_id from raw_usage where provider = 'openai'"):
        facts = each[row["request_id"]].facts
        key, cost = (str(facts["model_id"]), str(facts["query_class"])), facts["cost_usd"]
        assert isinstance(cost, Decimal)
        summed[key] = summed.get(key, Decimal(0)) + cost

    mart = rows_of(
        mixed,
        "select model_id, query_class, cost_usd from mart_cost_per_task where provider = 'openai'",
    )

    assert summed == {(row["model_id"], row["query_class"]): row["cost_usd"] for row in mart}


def test_every_printed_line_of_every_kind_of_request_comes_to_its_result(
    each: dict[str, Explanation],
) -> None:
    count = 0
    for name, made in each.items():
        for numbers, result, unit in printed(text_of(made)):
            count += 1
            assert is_kept(numbers, result, unit), (name, numbers, result, evaluated(numbers))
    assert count > 1_000


def test_the_law_written_out_is_the_energy_that_the_report_has(
    mixed: Book, each: dict[str, Explanation]
) -> None:
    for row in rows_of(mixed, "select request_id from raw_usage where provider is null"):
        made = each[row["request_id"]]
        if made.facts["gpu_energy_j"]:
            boards = step_of(made, "gpu_energy_j")
            assert float(evaluated(boards.numbers)) == pytest.approx(boards.value, rel=1e-10)


def test_the_moments_of_a_bucket_are_those_of_the_report(mixed: Book) -> None:
    made = explained(mixed, "bucket-12")
    text = text_of(made)

    # 12 requests of 40,000 / 12 tokens, 9,000 / 12 of them cached
    assert "(r·(N/r − min(K/r, max(N/r − 1, 0))))" in text
    assert line_of(made, "prefilled_tokens").value == 31_000
    assert line_of(made, "request_count").note == "as logged"


def test_a_bucket_is_one_grade_lower_and_says_so(book_of: Callable[..., Book]) -> None:
    rows = of_one(request_count=12, input_tokens=9_000, output_tokens=3_000)

    made = explained(book_of(rows, assumes=[ONE_H100]), "one")

    assert made.facts["evidence_grade"] == "C"
    assert line_of(made, "evidence_grade").note.endswith("in billing buckets: one grade lower")


def test_a_bucket_that_names_no_requests_says_that_they_are_guessed(mixed: Book) -> None:
    assert line_of(explained(mixed, "bucket-None"), "request_count").note.startswith("guessed")


def test_a_state_beside_the_cache_is_moved_twice_a_pass(mixed: Book) -> None:
    made = explained(mixed, "Qwen/Qwen3-Next-80B-A3B-Instruct-0")

    assert step_of(made, "kv_read_bytes").formula == "KV·z + 2·Z·m"


def test_experts_are_those_that_the_batch_touches(mixed: Book) -> None:
    found = step_of(explained(mixed, "Qwen/Qwen3-30B-A3B-0"), "experts_touched")

    # own servers, batch 8: 128 · (1 − (1 − 8/128)^8) = 51.62 experts
    assert found.numbers == "128·(1 − (1 − 8/128)^8)"
    assert found.value == pytest.approx(128 * (1 - (120 / 128) ** 8), rel=1e-12)


def test_a_window_is_said_to_be_counted_as_full(mixed: Book) -> None:
    assert "counted as full" in text_of(explained(mixed, "google/gemma-2-9b-it-0"))


def test_a_closed_model_shows_each_stand_in_and_their_geometric_mean(mixed: Book) -> None:
    made = explained(mixed, "gpt-5-mini-0")
    whole = [line for part in made.parts for line in part.lines if line.name == "energy_j"]
    stand_ins = [line for line in whole if line.label.startswith("whole class, law with")]
    (mean,) = [line for line in whole if line.label == "whole class, geometric mean"]

    product = math.prod([amount(line.value) for line in stand_ins])
    assert len(stand_ins) == 3
    assert amount(mean.value) == pytest.approx(product ** (1 / 3), rel=1e-12)
    assert isinstance(mean, Step) and mean.formula == "(E1·E2·E3)^(1/3)"
    assert made.facts["evidence_grade"] == "D"
    assert line_of(made, "evidence_grade").note.startswith("stand-ins for a closed model")


def test_a_request_that_did_no_work_has_no_energy_and_says_why(
    book_of: Callable[..., Book],
) -> None:
    made = explained(book_of(of_one(input_tokens=0, output_tokens=0)), "one")

    assert made.facts["gpu_energy_j"] == 0
    assert "refused" in line_of(made, "gpu_energy_j").note


def test_an_unknown_model_has_no_energy_and_no_price_and_says_why(
    book_of: Callable[..., Book],
) -> None:
    made = explained(book_of(of_one(model_name="nobody/knows-it")), "one")

    assert (made.facts["gpu_energy_j"], made.facts["cost_usd"]) == (None, None)
    assert "not in the catalog" in line_of(made, "gpu_energy_j").note
    assert "not in the catalog" in line_of(made, "model_id").note


# Money ----------------------------------------------------------------------------------------


def test_a_cost_is_tokens_times_the_prices_of_its_row(book_of: Callable[..., Book]) -> None:
    row = of_one(model_name="gpt-5-mini", cache_read_tokens=400)
    made = explained(book_of(row), "one")
    found = step_of(made, "list_cost_usd")

    # 500 · 0.25 + 400 · 0.025 + 300 · 2.00 = 735 millionths of a dollar
    assert found.formula == "(i·pi + k·pk + o·po)·0.000001"
    assert found.numbers == "(500·0.25 + 400·0.025 + 300·2)·0.000001"
    assert made.facts["cost_usd"] == Decimal("0.000735")
    assert made.facts["cost_source"] == "list"
    assert line_of(made, "price_model").value == "gpt-5-mini"
    assert "service tier standard" in line_of(made, "price_model").note


def test_a_bill_counts_and_the_list_price_stands_beside_it(book_of: Callable[..., Book]) -> None:
    row = of_one(model_name="gpt-5-mini", billed_cost_usd="0.0005")
    made = explained(book_of(row), "one")

    assert made.facts["cost_usd"] == made.facts["billed_cost_usd"] == Decimal("0.0005")
    assert made.facts["list_cost_usd"] == Decimal("0.000825")
    assert "the bill in the log counts" in line_of(made, "cost_usd").note


def test_a_charge_keeps_its_money_and_has_no_energy(book_of: Callable[..., Book]) -> None:
    charge = {
        "request_id": "fee",
        "model_name": "gpt-5-mini",
        "charge_kind": "web_search",
        "billed_cost_usd": "1.25",
        "input_tokens": None,
        "output_tokens": None,
    }
    made = explained(book_of([*of_one(), charge]), "fee")

    assert made.kind == "charge"
    assert made.facts["billed_cost_usd"] == Decimal("1.25")
    assert made.facts["gpu_energy_j"] is None


# Which record ---------------------------------------------------------------------------------


def test_lines_that_repeat_a_request_are_named_beside_it(book_of: Callable[..., Book]) -> None:
    book = book_of([*of_one(), *of_one(output_tokens=40)], of_one(output_tokens=30))

    made = explained(book, "one")

    assert made.facts["source_line"] == 1
    assert line_of(made, "duplicate_count").value == 2
    assert "usage-1.jsonl line 2, usage-2.jsonl line 1" in line_of(made, "duplicate_count").note


def test_a_line_that_repeats_a_request_names_the_one_that_is_kept(
    book_of: Callable[..., Book],
) -> None:
    book = book_of([*of_one(), *of_one(output_tokens=40)])

    made = explained(book, "usage-1.jsonl:2")

    assert made.kind == "left_out"
    assert made.facts["kept"] == "usage-1.jsonl:1"


def test_a_rejected_row_says_its_reason(book_of: Callable[..., Book]) -> None:
    made = explained(book_of([*of_one(), *of_one(request_id="bad", output_tokens=-1)]), "bad")

    assert made.kind == "left_out"
    assert made.facts["reason"] == "tokens_negative"
    assert "a count below zero" in text_of(made)


def test_a_record_without_an_id_is_found_by_file_and_line(book_of: Callable[..., Book]) -> None:
    book = book_of([*of_one(), *of_one(request_id=None, output_tokens=7)])

    made = explained(book, "usage-1.jsonl:2")

    assert made.facts["request_id"] is None
    assert line_of(made, "output_tokens").value == 7


def test_several_records_of_one_name_are_listed_with_their_places(
    book_of: Callable[..., Book],
) -> None:
    book = book_of([*of_one(), *of_one(model_name="gpt-5-mini")])

    with pytest.raises(WrongUseError, match=r"2 records .*usage-1.jsonl:1 .*usage-1.jsonl:2") as it:
        one_record(book, "one", None)
    assert "Choose one by its place." in str(it.value)


def test_of_several_records_on_one_line_each_is_found_by_its_number(
    build: Callable[..., Book], tmp_path: Path
) -> None:
    results = [
        {
            "model": model,
            "uncached_input_tokens": uncached,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        }
        for model, uncached, output in (("claude-opus-4-8", 100, 200), ("claude-haiku-4-5", 5, 8))
    ]
    page = {
        "data": [
            {
                "starting_at": "2026-10-05T00:00:00Z",
                "ending_at": "2026-10-06T00:00:00Z",
                "results": results,
            }
        ]
    }
    path = tmp_path / "usage.json"
    path.write_text(json.dumps(page), encoding="utf-8")
    book = build(path)

    with pytest.raises(WrongUseError, match=r"2 records .*usage.json:1.1 .*usage.json:1.2 "):
        explained(book, "usage.json:1")
    found = [explained(book, f"usage.json:1.{number}") for number in (1, 2)]
    # Which of them is the first is not told: a page's results have no order.
    assert {made.facts["model_id"]: line_of(made, "output_tokens").value for made in found} == {
        "claude-opus-4-8": 200,
        "claude-haiku-4-5": 8,
    }


def test_an_unknown_id_names_those_near_it(mixed: Book) -> None:
    with pytest.raises(WrongUseError, match=r"bucket-13: expected .* Near it: bucket-1[,.]"):
        explained(mixed, "bucket-13")


def test_a_month_that_a_request_is_not_in_is_told(mixed: Book) -> None:
    with pytest.raises(WrongUseError, match=r"stands in 2026-10, not in 2026-09"):
        one_record(mixed, "bucket-12", "2026-09")


def test_an_id_that_looks_like_sql_or_a_cell_is_an_id(book_of: Callable[..., Book]) -> None:
    names = ("'; drop table raw_usage; --", "Energy!E10", "a'b\\c", "table-x:1")
    book = book_of([row for name in names for row in of_one(request_id=name)])

    assert [explained(book, name).facts["request_id"] for name in names] == [*names]


def test_nothing_of_a_line_is_shown_but_the_fields_of_the_record(
    book_of: Callable[..., Book],
) -> None:
    book = book_of(of_one(prompt="my secret", api_key_id="sk-123", user_id="ana", messages="hello"))

    text = text_of(explained(book, "one"))

    assert not [word for word in ("secret", "sk-123", "ana", "hello") if word in text]


def test_the_tables_of_the_report_are_as_they_were_after_an_explanation(mixed: Book) -> None:
    tables = ("int_requests", "int_usage_groups", "int_group_costs", "int_team_energy")
    before = {name: rows_of(mixed, f"select * from {name} order by all") for name in tables}

    explained(mixed, "bucket-12")

    assert before == {name: rows_of(mixed, f"select * from {name} order by all") for name in tables}
