"""The month's requests on other models: one's own reproduces, others follow prices and the law."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE_GPU_J, Book, rows_of
from overlay_files import overlay_folder

from pipeline.errors import BadInputError
from pipeline.overlays.equal_quality import load_equal_quality
from pipeline.settings import Deployment, Settings

pytestmark = pytest.mark.slow

LLAMA = "meta-llama/Llama-3.1-8B"
MINI = {"provider": "openai", "model_name": "gpt-5-mini"}
HAIKU = {"provider": "anthropic", "model_name": "claude-haiku-4-5"}
SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5"}
MIXTRAL = {"provider": "together", "model_name": "mistralai/Mixtral-8x7B-v0.1"}
LOCAL = {"provider": "vllm", "model_name": LLAMA}
LENGTHS = {"input_tokens": 900, "cache_read_tokens": 0, "output_tokens": 300}
CACHED = {"uncached_input_tokens": 1_000, "cache_read_tokens": 9_000, "output_tokens": 500}
BATCH_JOB = {"is_batch": True, "occurred_at": "2026-10-20T00:00:00Z"}
TASKS = {"task_id": "ticket-1", "is_solved": True}
ROWS: list[dict[str, Any]] = [
    # one model served the whole class: lengths, a cache, a price tier, a failure, a bill
    {**SONNET, **CACHED, "query_class": "agentic", "cache_write_5m_tokens": 700, **TASKS},
    {**SONNET, **CACHED, "query_class": "agentic", "cache_read_tokens": 350_000, **TASKS},
    {**SONNET, **CACHED, "query_class": "agentic", "status": "failure", "team": "search"},
    {**SONNET, **CACHED, "query_class": "agentic", "billed_cost_usd": "0.5"},
    {**SONNET, "query_class": "agentic", "input_tokens": 0, "output_tokens": 0},
    {**MIXTRAL, **LENGTHS, "query_class": "summarization", "output_tokens": 77},
    {**MIXTRAL, **LENGTHS, "query_class": "summarization"},
    # cached input at one provider
    {**HAIKU, **CACHED, "query_class": "rag"},
    # the worked example
    {**MINI, **LENGTHS, "query_class": "chat"},
    {**LOCAL, **LENGTHS, "query_class": "other", "input_tokens": 50},
    # two models of which enough is known, and one of too little
    *({**MINI, **LENGTHS, "query_class": "reasoning", "output_tokens": 100} for _ in range(30)),
    *({**HAIKU, **LENGTHS, "query_class": "reasoning"} for _ in range(30)),
    {**MIXTRAL, **LENGTHS, "query_class": "reasoning", "output_tokens": 600},
    # bought in a batch
    {**MINI, **LENGTHS, **BATCH_JOB, "query_class": "batch_extraction"},
    # longer than some contexts
    {**MINI, "query_class": "code_completion", "input_tokens": 250_000, "output_tokens": 100},
]


def row_of(book: Book, query_class: str, provider: str, model: str) -> dict[str, Any]:
    [row] = [
        row
        for row in rows_of(book, "select * from mart_model_comparison")
        if (row["query_class"], row["provider"], row["model_id"]) == (query_class, provider, model)
    ]
    return row


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    settings = Settings(deployments=(Deployment(LLAMA, batch=1),))
    return book_of(ROWS, settings=settings, targets=["mart_model_comparison"])


@pytest.mark.parametrize(
    ("query_class", "provider", "model"),
    [
        ("agentic", "anthropic", "claude-sonnet-4-5"),
        ("summarization", "together", "mistralai/Mixtral-8x7B-v0.1"),
        ("other", "vllm", LLAMA),
    ],
)
def test_a_month_replayed_on_its_own_model_is_that_month(
    book: Book, query_class: str, provider: str, model: str
) -> None:
    row = row_of(book, query_class, provider, model)
    [own] = [
        each
        for each in rows_of(book, "select * from mart_cost_per_task")
        if (each["query_class"], each["model_id"]) == (query_class, model)
    ]

    assert row["list_cost_usd"] == own["list_cost_usd"] == row["cached_list_cost_usd"]
    for name in ("gpu_energy_j", "facility_energy_kwh", "carbon_gco2e", "energy_j_per_task"):
        assert row[name] == pytest.approx(own[name], rel=1e-12, abs=0), name
    for name in ("energy_low_j", "energy_high_j", "facility_energy_low_kwh"):
        assert row[name] == pytest.approx(own[name], rel=1e-9), name
    for name in ("batch", "evidence_grade", "output_tokens", "task_count", "method_version"):
        assert row[name] == own[name], name
    assert (row["verbosity_ratio"], row["verbosity_source"]) == (1, "its own requests alone")


def test_another_provider_has_no_cache_of_ours(book: Book) -> None:
    row = row_of(book, "rag", "openai", "gpt-5-mini")

    # 0.25 USD a million in, 0.025 cached, 2 out: 10,000 · 0.25 + 500 · 2 = 3,500
    assert row["list_cost_usd"] == Decimal("0.0035")
    # 1,000 · 0.25 + 9,000 · 0.025 + 500 · 2 = 1,475
    assert row["cached_list_cost_usd"] == Decimal("0.001475")


def test_the_same_provider_keeps_what_is_cached(book: Book) -> None:
    row = row_of(book, "rag", "anthropic", "claude-sonnet-4-5")

    # 3 in, 0.3 cached, 15 out: 1,000 · 3 + 9,000 · 0.3 + 500 · 15 = 13,200
    assert row["list_cost_usd"] == row["cached_list_cost_usd"] == Decimal("0.0132")


def test_a_batch_is_bought_as_a_batch_where_there_is_a_price_for_it(book: Book) -> None:
    sonnet = row_of(book, "batch_extraction", "anthropic", "claude-sonnet-4-5")
    mixtral = row_of(book, "batch_extraction", "together", "mistralai/Mixtral-8x7B-v0.1")

    # 1.5 in, 7.5 out, half of the standard price: 900 · 1.5 + 300 · 7.5 = 3,600
    assert sonnet["list_cost_usd"] == Decimal("0.0036")
    # 0.9 in and out at together, which lists no batch: 1,200 · 0.9 = 1,080
    assert mixtral["list_cost_usd"] == Decimal("0.00108")


def test_a_replay_on_ones_own_server_takes_what_the_law_says(book: Book) -> None:
    row = row_of(book, "chat", "vllm", LLAMA)

    assert row["gpu_energy_j"] == pytest.approx(EXAMPLE_GPU_J, rel=1e-9)
    assert (row["batch"], row["batch_source"], row["evidence_grade"]) == (1, "told", "B")
    assert (row["list_cost_usd"], row["reason"]) == (None, "no list price and no GPU bill")
    assert row["energy_low_j"] < EXAMPLE_GPU_J < row["energy_high_j"]


def test_a_model_that_answers_briefly_answers_all_requests_briefly(
    book: Book, book_of: Callable[..., Book]
) -> None:
    row = row_of(book, "reasoning", "openai", "gpt-5-mini")
    brief = [{**MINI, **LENGTHS, "query_class": "reasoning", "output_tokens": 100}] * 61
    alone = row_of(
        book_of(brief, targets=["mart_model_comparison"]), "reasoning", "openai", "gpt-5-mini"
    )

    # 30 · 100 + 30 · 300 + 600 = 12,600 tokens as logged; 61 · 100 on this model
    assert (row["output_tokens"], row["verbosity_source"]) == (6_100, "log")
    assert row["verbosity_ratio"] == pytest.approx(6_100 / 12_600)
    # 61 · (900 · 0.25 + 100 · 2) = 25,925
    assert row["list_cost_usd"] == Decimal("0.025925")
    assert row["batch"] == alone["batch"]
    # of others' requests only sums are known: 30 of 300 and one of 600 to a mean of 100, and the
    # squares keep their spread, (30 · 300² + 600²) / (31 · 309.7²) = 1.03
    assert row["gpu_energy_j"] == pytest.approx(alone["gpu_energy_j"], rel=1e-4)


def test_of_too_few_requests_no_length_is_learnt(book: Book) -> None:
    row = row_of(book, "reasoning", "together", "mistralai/Mixtral-8x7B-v0.1")

    assert (row["own_request_count"], row["output_tokens"]) == (1, 12_600)
    assert (row["verbosity_ratio"], row["verbosity_source"]) == (1, "assumed alike")


def test_what_does_not_fit_has_no_energy_but_a_reason(book: Book) -> None:
    row = row_of(book, "code_completion", "together", "mistralai/Mixtral-8x7B-v0.1")

    # 250,100 tokens; it holds 32,768
    assert (row["gpu_energy_j"], row["batch"], row["evidence_grade"]) == (None, None, "U")
    assert row["reason"] == "the mean request does not fit its context"
    assert not row["is_on_front"]


def test_the_front_is_what_nothing_beats_in_cost_and_energy(book: Book) -> None:
    rows = [
        row
        for row in rows_of(book, "select * from mart_model_comparison")
        if row["cost_usd"] is not None and row["gpu_energy_j"] is not None
    ]

    def beats(one: dict[str, Any], two: dict[str, Any]) -> bool:
        pairs = [(one[name], two[name]) for name in ("cost_usd", "gpu_energy_j")]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    for row in rows:
        if row["request_count"] < 2:
            assert (row["is_on_front"], row["reason"]) == (False, "not enough: a single request")
            continue
        beaten = any(
            beats(other, row) for other in rows if other["query_class"] == row["query_class"]
        )
        assert row["is_on_front"] is not beaten
    assert {row["query_class"] for row in rows if row["is_on_front"]} == {
        row["query_class"] for row in rows if row["request_count"] > 1
    }


def test_the_catalog_adds_one_model_for_each_maker_and_size(book: Book) -> None:
    rows = rows_of(
        book,
        "select developer, coalesce(stand_in_tier, 'own') as size, count(*) as n "
        "from int_catalog_models inner join stg_models using (model_id) group by all",
    )

    assert {row["n"] for row in rows} == {1}
    assert 30 <= len(rows) <= 50


def test_without_a_set_of_equal_quality_no_saving_is_stated(book: Book) -> None:
    rows = rows_of(book, "select * from mart_model_comparison")

    assert {row["saving_reason"] for row in rows} == {"equal quality is not told"}
    for name in ("cost_saving_usd", "facility_energy_saving_p50_kwh", "energy_saving_verdict"):
        assert {row[name] for row in rows} == {None}


@pytest.fixture(scope="module")
def equal_book(tmp_path_factory: pytest.TempPathFactory, book_of: Callable[..., Book]) -> Book:
    """The same requests as chat by a small model and as rag by a middle one, held to be equal."""
    folder = tmp_path_factory.mktemp("overlays")
    named = [("chat", "gpt-5-mini"), ("rag", "gpt-5-mini")]
    named += [("chat", "claude-sonnet-4-5"), ("rag", "claude-sonnet-4-5")]
    named += [("chat", "gpt-5-mini"), ("summarization", "claude-sonnet-4-5")]
    named += [("code_completion", each) for each in ("gpt-5-mini", "claude-sonnet-4-5")]
    named += [("code_completion", "gpt-4.1-nano"), ("other", "gpt-5-mini")]
    text = "".join(f"{query_class},{model}\n" for query_class, model in named)
    (folder / "equal_quality.csv").write_text(f"query_class,model\n{text}", encoding="utf-8")
    rows = [
        *({**MINI, **LENGTHS, "query_class": "chat"} for _ in range(2)),
        *({**SONNET, **LENGTHS, "query_class": "rag"} for _ in range(2)),
        {**MINI, **LENGTHS, "query_class": "summarization"},
        {**MINI, **LENGTHS, "query_class": "other"},
        *({**SONNET, **LENGTHS, "query_class": "code_completion"} for _ in range(2)),
        {**MIXTRAL, **LENGTHS, "query_class": "code_completion"},
    ]
    settings = Settings(overlay_folder=folder)
    return book_of(rows, settings=settings, targets=["mart_model_comparison"])


def test_a_saving_there_is_a_loss_back(equal_book: Book) -> None:
    there = row_of(equal_book, "rag", "openai", "gpt-5-mini")
    back = row_of(equal_book, "chat", "anthropic", "claude-sonnet-4-5")

    # 2 · ((900 · 3 + 300 · 15) − (900 · 0.25 + 300 · 2)) = 12,750
    assert there["cost_saving_usd"] == Decimal("0.01275") == -back["cost_saving_usd"]
    assert there["facility_energy_saving_p50_kwh"] > 0
    for one, two in (("low", "high"), ("p50", "p50"), ("high", "low")):
        assert there[f"facility_energy_saving_{one}_kwh"] == pytest.approx(
            -back[f"facility_energy_saving_{two}_kwh"], rel=1e-9
        )
    assert there["energy_saving_positive_frac"] == pytest.approx(
        1 - back["energy_saving_positive_frac"]
    )
    assert there["saving_reason"] is back["saving_reason"] is None
    # prices are exact, so money is saved in every world or in none
    assert (there["cost_saving_positive_frac"], back["cost_saving_positive_frac"]) == (1, 0)
    assert there["cost_saving_source"] == there["cost_source"] == "list"


@pytest.fixture(scope="module")
def contract_book(tmp_path_factory: pytest.TempPathFactory, book_of: Callable[..., Book]) -> Book:
    """Half price on all of anthropic, and a price of one's own for the output of gpt-5-mini."""
    tables = {
        "contract_rates": [
            "anthropic,*,*,,,,,,0.5",
            "openai,gpt-5-mini,output,,,2026-01-01,,1.00,",
            "openai,gpt-5-mini,output,,eu,,,0.10,",  # a replay has no place
            "openai,gpt-5-mini,output,,,2020-01-01,2026-01-01,0.01,",  # past
        ]
    }
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", tables)
    named = [("rag", "gpt-5-mini"), ("rag", "claude-sonnet-4-5")]
    text = "".join(f"{query_class},{model}\n" for query_class, model in named)
    (folder / "equal_quality.csv").write_text(f"query_class,model\n{text}", encoding="utf-8")
    rows = [
        *({**SONNET, **LENGTHS, "query_class": "rag"} for _ in range(2)),
        *({**MINI, **LENGTHS, "query_class": "chat"} for _ in range(2)),
    ]
    settings = Settings(overlay_folder=folder)
    return book_of(rows, settings=settings, targets=["mart_model_comparison"])


def test_a_replay_costs_what_the_company_pays(contract_book: Book) -> None:
    mini = row_of(contract_book, "rag", "openai", "gpt-5-mini")
    sonnet = row_of(contract_book, "rag", "anthropic", "claude-sonnet-4-5")
    moved = row_of(contract_book, "chat", "anthropic", "claude-sonnet-4-5")
    others = [
        row
        for row in rows_of(contract_book, "select * from mart_model_comparison")
        if row["provider"] not in ("anthropic", "openai") and row["cost_usd"] is not None
    ]

    # 2 · (900 · 0.25 + 300 · 2) = 1,650 on the list, 2 · (900 · 0.25 + 300 · 1) = 1,050 by contract
    assert (mini["list_cost_usd"], mini["cost_usd"]) == (Decimal("0.00165"), Decimal("0.00105"))
    # 2 · (900 · 3 + 300 · 15) = 14,400, half of it 7,200: as logged, and for requests of others
    for row in (sonnet, moved):
        assert (row["list_cost_usd"], row["cost_usd"]) == (Decimal("0.0144"), Decimal("0.0072"))
    assert {row["cost_source"] for row in (mini, sonnet, moved)} == {"contracted"}
    assert {row["cost_source"] for row in others} == {"list"}  # no contract with them
    for row in others:
        assert row["cost_usd"] == row["list_cost_usd"] == row["contracted_cost_usd"]


def test_a_saving_is_what_the_company_would_not_pay(contract_book: Book) -> None:
    there = row_of(contract_book, "rag", "openai", "gpt-5-mini")

    # 7,200 less 1,050; at list prices it would be 12,750
    assert there["cost_saving_usd"] == Decimal("0.00615")
    assert (there["current_cost_usd"], there["equal_cost_usd"]) == (
        Decimal("0.0072"),
        Decimal("0.00105"),
    )
    assert (there["cost_saving_source"], there["cost_saving_positive_frac"]) == ("contracted", 1)


def test_staying_saves_nothing_and_is_within_noise(equal_book: Book) -> None:
    row = row_of(equal_book, "chat", "openai", "gpt-5-mini")

    assert row["cost_saving_usd"] == 0
    assert row["facility_energy_saving_low_kwh"] == pytest.approx(0, abs=1e-15)
    assert row["facility_energy_saving_high_kwh"] == pytest.approx(0, abs=1e-15)
    assert row["energy_saving_verdict"] == "within noise"


def test_a_verdict_needs_nine_worlds_of_ten(equal_book: Book) -> None:
    rows = rows_of(
        equal_book,
        "select * from mart_model_comparison where energy_saving_positive_frac is not null",
    )

    for row in rows:
        positive = row["energy_saving_positive_frac"]
        if row["energy_saving_verdict"] == "saves":
            assert positive >= 0.9
        elif row["energy_saving_verdict"] == "takes more":
            assert positive <= 0.1
    assert {row["model_id"] for row in rows} == {
        *("gpt-5-mini", "claude-sonnet-4-5", "gpt-4.1-nano")
    }


def test_a_class_that_no_model_of_its_set_served_states_no_saving(equal_book: Book) -> None:
    row = row_of(equal_book, "summarization", "anthropic", "claude-sonnet-4-5")

    assert (row["cost_saving_usd"], row["saving_reason"]) == (
        None,
        "no model told to be of equal quality served the class",
    )


def test_what_models_outside_the_set_served_stays_where_it_is(equal_book: Book) -> None:
    row = row_of(equal_book, "code_completion", "openai", "gpt-5-mini")
    stays = row_of(equal_book, "rag", "openai", "gpt-5-mini")

    # two requests of the set, as in class rag, and one of Mixtral that is not in it
    assert (row["request_count"], row["equal_request_count"]) == (3, 2)
    assert row["cost_saving_usd"] == stays["cost_saving_usd"] == Decimal("0.01275")
    for end in ("low", "p50", "high"):
        assert row[f"facility_energy_saving_{end}_kwh"] == pytest.approx(
            stays[f"facility_energy_saving_{end}_kwh"], rel=1e-9
        )


def test_a_single_request_is_not_enough_for_a_saving(equal_book: Book) -> None:
    row = row_of(equal_book, "other", "openai", "gpt-5-mini")

    assert (row["cost_saving_usd"], row["energy_saving_verdict"]) == (None, None)
    assert row["saving_reason"] == "not enough: a single request"


def test_a_model_of_the_set_is_compared_though_nobody_used_it(equal_book: Book) -> None:
    row = row_of(equal_book, "code_completion", "openai", "gpt-4.1-nano")

    # 2 · (6,375 + 825 − (900 · 0.1 + 300 · 0.4)) = 13,980
    assert (row["is_used"], row["cost_saving_usd"]) == (False, Decimal("0.01398"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query_class,model\nchat,no-such-model\n", "row 2, column model"),
        ("query_class,model\npoetry,gpt-5-mini\n", "row 2, column query_class"),
        ("query_class,model\nchat,\n", "row 2, column model"),
        ("query_class\nchat\n", "missing: 'model'"),
    ],
)
def test_a_set_that_names_what_is_not_known_is_refused(
    con: Book, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "equal_quality.csv").write_text(text, encoding="utf-8")

    with pytest.raises(BadInputError, match=said):
        load_equal_quality(con, tmp_path, ["chat"])
