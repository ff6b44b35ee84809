"""What accuracy takes at each budget of reasoning, by hand; and what quality.csv may not say."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import DENSE_BIAS, EXAMPLE_GPU_J, Book, Rows, rows_of

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.overlays.quality import load_quality
from pipeline.reference import load_reference
from pipeline.settings import Settings

HEAD = (
    "model,query_class,budget,accuracy_frac,chance_frac,input_tokens,output_tokens,source,"
    "source_date\n"
)
LLAMA = "meta-llama/Llama-3.1-8B"
LOG: Rows = [
    {"query_class": "reasoning", "input_tokens": 900, "output_tokens": 300},
    {
        **{"query_class": "reasoning", "input_tokens": 900, "output_tokens": 300},
        **{"provider": "openai", "model_name": "gpt-5-mini"},
    },
]
QUALITY = HEAD.replace("\n", ",value_usd\n") + "".join(
    f"{line},own test,2026-11-01,{'0.1' if 'gpt' in line else ''}\n"
    for line in (
        f"{LLAMA},reasoning,low,0.3,0.25,900,100",
        f"{LLAMA},reasoning,middle,0.6,0.25,,300",  # as long as the class is in the log
        f"{LLAMA},reasoning,high,0.65,0.25,900,30000",
        f"{LLAMA},reasoning,most,0.65,0.25,900,60000",
        f"{LLAMA},chat,8000,0.5,0,,500",  # no chat in the log, and no input here
        "gpt-5-mini,reasoning,low,0.5,0,1000,1000",
        "gpt-5-mini,reasoning,high,0.6,0,1000,3000",
        "Qwen/Qwen3-8B,reasoning,low,0.5,0,1000,1000",  # in no log
        f"{LLAMA},rag,one,0.9,0,900,300",
    )
)


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = tmp_path_factory.mktemp("overlays")
    (folder / "quality.csv").write_text(QUALITY, encoding="utf-8")
    return book_of(
        LOG,
        assumes=[{"batch": "1"}],
        settings=Settings(overlay_folder=folder),
        targets=["mart_reasoning_budget"],
    )


def line(book: Book, model_id: str, query_class: str, budget: str) -> Any:  # noqa: ANN401
    rows = rows_of(book, "select * from mart_reasoning_budget")
    [row] = [
        row
        for row in rows
        if (row["model_id"], row["query_class"], row["budget"]) == (model_id, query_class, budget)
    ]
    return row


def test_a_budget_of_the_worked_example_takes_its_joules(book: Book) -> None:
    row = line(book, LLAMA, "reasoning", "middle")

    assert row["mean_input_tokens"] == 900
    assert row["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J)  # 1,008.589 J
    assert row["accuracy_frac_per_j"] == pytest.approx(0.6 / EXAMPLE_GPU_J)
    assert row["above_chance_frac_per_j"] == pytest.approx(0.35 / EXAMPLE_GPU_J)
    assert row["energy_j_per_correct_answer"] == pytest.approx(EXAMPLE_GPU_J / 0.6)


def llama_j(m: int) -> float:
    """Return the joules of 900 tokens in and m out, alone: the law with its bias."""
    flop = 2 * 6_979_321_856 * 900 + 2 * 525_336_576 + 2 * 7_504_658_432 * (m - 1)
    pairs = 900 * 901 / 2 + ((900 + m - 1) * (900 + m) - 900 * 901) / 2
    positions = 900 * m + m * (m - 1) / 2
    shared = 1.394e-10 * 15_009_316_864 * m + 0.0227 * 32 * m
    fixed = 1.199e-12 * (flop + 524_288 * pairs) + 2.551e-10 * 131_072 * positions
    return DENSE_BIAS * (fixed + shared)


def test_one_more_correct_answer_takes_the_joules_that_the_larger_budget_adds(book: Book) -> None:
    assert llama_j(300) == pytest.approx(EXAMPLE_GPU_J)
    row = line(book, LLAMA, "reasoning", "high")

    assert row["energy_j_per_extra_correct_answer"] == pytest.approx(
        (llama_j(30_000) - llama_j(300)) / (0.65 - 0.6)
    )
    assert not row["is_without_gain"]


def test_a_budget_that_gains_nothing_has_no_price_of_one_more(book: Book) -> None:
    row = line(book, LLAMA, "reasoning", "most")

    assert row["is_without_gain"]
    assert row["energy_j_per_extra_correct_answer"] is None


def test_energy_grows_faster_than_length_beyond_the_optimum(book: Book) -> None:
    # least energy per output token is at 948 tokens: below it grows slower, beyond it faster
    found = [
        line(book, LLAMA, "reasoning", budget)["is_energy_faster_than_length"]
        for budget in ("low", "middle", "most")
    ]

    assert found == [None, False, True]


def test_the_best_budget_by_accuracy_may_be_at_the_edge_and_above_chance_in_the_middle(
    book: Book,
) -> None:
    low, middle = (line(book, LLAMA, "reasoning", budget) for budget in ("low", "middle"))

    # 0.3 / 348 J beats 0.6 / 1,009 J; but 0.05 / 348 J does not beat 0.35 / 1,009 J
    assert llama_j(100) == pytest.approx(348, abs=1)
    assert (low["is_best"], low["is_edge"], low["is_best_above_chance"]) == (True, True, False)
    assert (middle["is_best"], middle["is_edge"], middle["is_best_above_chance"]) == (
        False,
        False,
        True,
    )


def test_money_is_tokens_at_list_price_over_correct_answers(book: Book) -> None:
    low, high = (line(book, "gpt-5-mini", "reasoning", budget) for budget in ("low", "high"))

    # 0.25 and 2 USD a million: 1,000 in and 1,000 out; then 3,000 out
    assert float(low["list_cost_usd"]) == 0.00225
    assert low["cost_usd_per_correct_answer"] == pytest.approx(0.00225 / 0.5)
    assert high["cost_usd_per_extra_correct_answer"] == pytest.approx((0.00625 - 0.00225) / 0.1)


def test_with_a_value_of_a_right_answer_the_net_value_picks_the_budget(book: Book) -> None:
    low, high = (line(book, "gpt-5-mini", "reasoning", budget) for budget in ("low", "high"))

    # 1,000 in at 0.25 and 1,000 or 3,000 out at 2 USD a million: 0.00225 and 0.00625
    assert low["net_value_usd"] == Decimal("0.5") * Decimal("0.1") - Decimal("0.00225")
    assert high["net_value_usd"] == Decimal("0.6") * Decimal("0.1") - Decimal("0.00625")
    assert (low["is_best_net_value"], high["is_best_net_value"]) == (False, True)
    assert (low["is_best"], high["is_best"]) == (True, False)  # by joules it is the other one
    unvalued = line(book, LLAMA, "reasoning", "low")
    assert (unvalued["net_value_usd"], unvalued["is_best_net_value"]) == (None, None)


def test_what_is_not_enough_says_why_and_names_no_best(book: Book) -> None:
    unused = line(book, "Qwen/Qwen3-8B", "reasoning", "low")
    no_input = line(book, LLAMA, "chat", "8000")
    alone = line(book, LLAMA, "rag", "one")

    assert unused["reason"] == "not enough: no log of this run has used the model"
    assert no_input["reason"] == (
        "not enough: input_tokens is empty, and the logs have none of this class"
    )
    assert alone["reason"] == "not enough: one budget; two or more have a best one"
    assert [row["is_best"] for row in (unused, no_input, alone)] == [None] * 3
    assert alone["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J)


def test_a_line_carries_its_range_batch_grade_and_source(book: Book) -> None:
    row = line(book, LLAMA, "reasoning", "middle")

    assert row["energy_low_j"] < row["gpu_energy_j"] < row["energy_high_j"]
    assert (row["batch"], row["source"], row["method_version"]) == (
        1,
        "own test",
        "simple-shaped 1",
    )
    assert row["evidence_grade"] == "B"


# Own servers ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def billed(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The same budgets; the one request of the own server paid a GPU bill of 10 USD in whole."""
    folder = tmp_path_factory.mktemp("billed")
    (folder / "quality.csv").write_text(QUALITY, encoding="utf-8")
    (folder / "hosting_costs.csv").write_text(
        "month,deployment,gpu,gpu_count,hours,usd,bill_includes_power\n"
        f"2026-10,{LLAMA},H100-SXM,1,10,10.00,true\n",
        encoding="utf-8",
    )
    return book_of(
        [LOG[0] | {"provider": "vllm", "model_name": LLAMA, "cache_read_tokens": 0}, LOG[1]],
        assumes=[{"batch": "1"}],
        settings=Settings(overlay_folder=folder),
        targets=["mart_reasoning_budget"],
    )


def test_a_right_answer_of_an_own_server_costs_its_joules_of_the_gpu_bill(billed: Book) -> None:
    low, middle = (line(billed, LLAMA, "reasoning", budget) for budget in ("low", "middle"))

    # 10 USD for 1,008.589 J; the middle budget takes as many, the low one 348
    assert float(middle["cost_usd"]) == pytest.approx(10)
    assert middle["cost_usd_per_correct_answer"] == pytest.approx(10 / 0.6)
    assert float(low["cost_usd"]) == pytest.approx(10 * llama_j(100) / llama_j(300))
    assert (low["cost_source"], low["cost_reason"], low["list_cost_usd"]) == ("hosting", None, None)
    assert low["hosting_cost_usd"] == low["cost_usd"]
    assert middle["cost_usd_per_extra_correct_answer"] == pytest.approx(
        10 * (1 - llama_j(100) / llama_j(300)) / 0.3
    )


def test_what_the_bill_was_paid_for_costs_as_much_in_every_world(billed: Book) -> None:
    middle = line(billed, LLAMA, "reasoning", "middle")
    # an answer like the one that was billed pays the bill, whatever its joules
    for end in ("low", "high"):
        assert middle[f"cost_{end}_usd_per_correct_answer"] == pytest.approx(10 / 0.6, rel=1e-9)
    low = line(billed, LLAMA, "reasoning", "low")
    ends = [low[f"cost_{end}_usd_per_correct_answer"] for end in ("low", "high")]
    assert ends[0] < low["cost_usd_per_correct_answer"] < ends[1]


def test_without_a_gpu_bill_the_cost_is_unknown_and_says_why(book: Book) -> None:
    row = line(book, LLAMA, "reasoning", "middle")

    assert (row["cost_usd"], row["cost_usd_per_correct_answer"]) == (None, None)
    assert (row["cost_reason"], row["cost_source"]) == ("no GPU bill", None)


# Savings --------------------------------------------------------------------------------------


def test_a_budget_saves_on_the_largest_what_a_right_answer_takes_less(book: Book) -> None:
    middle, most = (line(book, LLAMA, "reasoning", budget) for budget in ("middle", "most"))

    assert middle["saving_j_per_correct_answer"] == pytest.approx(
        llama_j(60_000) / 0.65 - llama_j(300) / 0.6
    )
    low, high = (middle[f"saving_{end}_j_per_correct_answer"] for end in ("low", "high"))
    assert low < middle["saving_j_per_correct_answer"] < high
    assert (middle["saving_positive_frac"], middle["request_count"]) == (1, 1)
    assert middle["assumption"] == "the accuracy of the file holds; against its largest budget"
    assert (most["saving_j_per_correct_answer"], most["saving_positive_frac"]) == (None, None)


# The file -------------------------------------------------------------------------------------

GOOD = f"{LLAMA},reasoning,1024,0.5,0.25,900,700,own test,2026-11-01\n"
FAULTS = [
    (
        GOOD.replace("0.5", "1.2", 1),
        "column accuracy_frac: expected a share from chance_frac (0.25) to 1, found '1.2'",
    ),
    (
        GOOD.replace("0.5", "0.2", 1),
        "column accuracy_frac: expected a share from chance_frac (0.25) to 1, found '0.2'",
    ),
    (GOOD.replace("0.5", "good"), "found 'good'"),
    (GOOD.replace("0.5", "nan"), "found 'nan'"),
    (GOOD.replace(LLAMA, "acme-1"), "column model: expected a model of the catalog"),
    (GOOD.replace("reasoning", "poetry"), "column query_class: expected one of agentic"),
    (GOOD.replace(",700,", ",,"), "column output_tokens: expected a value, found nothing"),
    (GOOD.replace(",700,", ",0,"), "column output_tokens: expected a mean number of tokens"),
    (GOOD + GOOD, "rows 2 and 3: expected one row for a budget of a model and class"),
    (
        GOOD + GOOD.replace("1024", "2048").replace("700", "600"),
        "expected no fewer than the 700 of the smaller budget 1024 in row 2, found '600'",
    ),
    (GOOD.replace("2026-11-01", "May"), "column source_date: expected a day"),
]


@pytest.mark.parametrize(("rows", "said"), FAULTS)
def test_a_bad_row_gives_one_line_that_names_it(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "quality.csv").write_text(HEAD + rows, encoding="utf-8")

    with (
        warehouse.connect(None, 1, threads=1) as con,
        pytest.raises(BadInputError) as raised,
    ):
        load_reference(con, Settings(overlay_folder=tmp_path))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_the_file_there_are_no_budgets(tmp_path: Path) -> None:
    with warehouse.connect(None, 1, threads=1) as con:
        load_quality(con, tmp_path)

        assert con.execute("from raw_quality").fetchall() == []
