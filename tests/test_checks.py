"""Every claim of sql/checks is really made: break it, and exactly this check says so."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Book

from pipeline import warehouse
from pipeline.errors import BadInputError
from pipeline.settings import Settings, bundled
from pipeline.warehouse import CheckResult

LLAMA = {"provider": "together", "input_tokens": 900, "output_tokens": 300, "query_class": "chat"}

OVERLAYS = {
    "hosting_costs": "month,deployment,gpu,gpu_count,hours,usd,bill_includes_power\n"
    "2026-10,meta-llama/Llama-3.1-8B,H100-SXM,1,10,30,true\n",
    "commitments": "month,provider,model,hours,units,usd,used_frac\n"
    "2026-10,together,meta-llama/Llama-3.1-8B,744,1,100,0.25\n",
    "contract_rates": "provider,model,token_kind,service_tier,region,valid_from,valid_to,"
    "usd_per_mtok,discount_frac\ntogether,*,*,,,,,,0.1\n",
    "prices": "provider,price_model,token_kind,service_tier,input_tokens_from,valid_from,valid_to,"
    "utc_time_from,utc_time_to,usd_per_mtok,source,source_date\n"
    "together,meta-llama/Llama-3.3-70B-Instruct-Turbo,output,standard,0,,,,,0.88,offer,\n",
}

# What makes each claim false: (check, how, statement).
TAMPERED = [
    ("costs_are_never_negative", "list", "update int_group_costs set list_cost_usd = -0.01"),
    (
        "costs_are_never_negative",
        "bill",
        "update int_group_costs set billed_cost_usd = -0.01 where hosting_cost_usd is null",
    ),
    (
        "energy_terms_add_up_to_the_energy",
        "a term too large",
        "update mart_energy_per_class set prefill_energy_j = 1.000001 * prefill_energy_j",
    ),
    (
        "energy_terms_add_up_to_the_energy",
        "a term missing",
        "update mart_energy_per_class set kv_cache_energy_j = null",
    ),
    (
        "every_accepted_row_is_one_request",
        "a row twice",
        "insert into int_usage_groups select * from int_usage_groups limit 1",
    ),
    ("every_accepted_row_is_one_request", "no row left", "delete from int_usage_groups"),
    (
        "every_bridge_ends_at_the_cost_of_its_month",
        "another end",
        "insert into mart_month_bridge by name select '2026-10' as month, 9.99 as cost_usd",
    ),
    ("every_known_model_has_an_energy", "lost", "delete from int_class_energy"),
    (
        "every_logged_batch_fits_its_cache",
        "one more than fits",
        "insert into int_logged_batches select month, provider, model_id, query_class, "
        "'logged latencies', batch_max + 0.001, 1, 999 from int_batches limit 1",
    ),
    ("every_logged_class_is_listed", "unlisted", "update raw_usage set query_class = 'poetry'"),
    ("every_model_is_in_the_catalog", "unknown", "update int_hosts set is_known_model = false"),
    (
        "every_request_fits_its_context",
        "one token too long",
        "update int_class_moments set mean_input_tokens = 131072 + 1 - mean_output_tokens",
    ),
    ("every_request_fits_its_gpus", "none fits", "update int_batches set batch_max = 0"),
    (
        "every_request_has_a_price",
        "one without",
        "insert into mart_unpriced_usage by name select 'no list price for this model' as "
        "unpriced_reason, 'a bill' as what_to_add, 1 as request_count",
    ),
    (
        "every_own_server_has_its_bill",
        "one without",
        "insert into mart_unpriced_usage by name select 'no GPU bill' as unpriced_reason, "
        "'a bill' as what_to_add, 1 as request_count",
    ),
    (
        "gpu_bills_are_shared_to_the_last_digit",
        "a billionth too much",
        "update int_hosting set used_usd = used_usd, idle_usd = idle_usd + 0.000000001",
    ),
    (
        "commitments_are_shared_to_the_last_digit",
        "a billionth too much",
        "update int_commitments set unused_usd = unused_usd + 0.000000001",
    ),
    (
        "every_bridge_ends_at_the_cost",
        "the last digit of money",
        "update mart_cost_bridge set cost_usd = cost_usd + 0.000000000000001 where step_id = '09'",
    ),
    (
        "every_overlay_row_meets_its_usage",
        "a bill without requests",
        "update int_hosting set request_count = 0",
    ),
    (
        "every_overlay_row_meets_its_usage",
        "a commitment without requests",
        "update int_commitments set covered_tokens = 0",
    ),
    (
        "every_overlay_row_meets_its_usage",
        "a contract without requests",
        "update raw_contract_rates set provider = 'nobody'",
    ),
    (
        "own_prices_agree_with_the_list",
        "another price",
        "update raw_own_prices set usd_per_mtok = '0.87'",
    ),
    (
        "no_request_has_a_bill_and_a_gpu_bill",
        "both",
        "update int_group_costs set billed_cost_usd = 1 where hosting_cost_usd > 0",
    ),
    (
        "a_gpu_bill_includes_power_or_not",
        "both",
        "insert into raw_hosting_costs select * replace "
        "('B200' as gpu, 'false' as bill_includes_power) from raw_hosting_costs",
    ),
    (
        "every_row_read_has_one_outcome",
        "a row lost",
        "update mart_intake set row_count = row_count - 1",
    ),
    ("every_row_read_has_one_outcome", "a file lost", "delete from mart_intake"),
    (
        "every_value_lies_in_its_range",
        "below",
        "update mart_energy_per_class set energy_low_j = 1.01 * gpu_energy_j",
    ),
    (
        "every_value_lies_in_its_range",
        "above",
        "update mart_energy_per_class set energy_high_j = 0.99 * gpu_energy_j",
    ),
    (
        "every_value_lies_in_its_range",
        "without a range",
        "update mart_energy_per_class set energy_high_j = null",
    ),
    (
        "every_value_lies_in_its_range",
        "a total above",
        "update mart_month_total set energy_high_j = 0.99 * gpu_energy_j",
    ),
    (
        "every_value_lies_in_its_range",
        "a team without a range",
        "update mart_team_chargeback set facility_energy_low_kwh = null",
    ),
    (
        "no_model_is_told_two_gpus",
        "two GPUs",
        "update raw_inputs set assumed_gpu = 'H200-SXM' where input_id = 1",
    ),
    (
        "no_model_is_told_two_gpus",
        "two stacks",
        "update raw_inputs set assumed_stack = 'SGLang' where input_id = 1",
    ),
    (
        "no_model_is_told_two_gpus",
        "two batches",
        "update raw_inputs set assumed_batch = '9' where input_id = 1",
    ),
    (
        "projects_add_up_to_classes",
        "a request too many",
        "update mart_project_chargeback set request_count = request_count + 1 where team = 'a'",
    ),
    (
        "projects_add_up_to_classes",
        "the last digit of money",
        "update mart_project_chargeback set cost_usd = cost_usd + 0.000000000000001 "
        "where team = 'a'",
    ),
    (
        "projects_add_up_to_classes",
        "a millionth of the energy",
        "update mart_project_chargeback set gpu_energy_j = 1.000001 * gpu_energy_j",
    ),
    ("projects_add_up_to_classes", "a month lost", "delete from mart_project_chargeback"),
    (
        "teams_add_up_to_classes",
        "a request too many",
        "update mart_team_chargeback set request_count = request_count + 1 where team = 'a'",
    ),
    (
        "teams_add_up_to_classes",
        "the last digit of money",
        "update mart_team_chargeback set cost_usd = cost_usd + 0.000000000000001 where team = 'a'",
    ),
    (
        "teams_add_up_to_classes",
        "a millionth of the energy",
        "update mart_team_chargeback set gpu_energy_j = 1.000001 * gpu_energy_j",
    ),
    ("teams_add_up_to_classes", "a month lost", "delete from mart_team_chargeback"),
]


@pytest.fixture(scope="module")
def overlays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overlays")
    for table, rows in OVERLAYS.items():
        (folder / f"{table}.csv").write_text(rows, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def sound_book(book_of: Callable[..., Book], overlays: Path) -> Book:
    """Two inputs that agree on everything, and a row in every table of a company's own."""
    told = {"gpu": "H100-SXM", "stack": "vLLM", "batch": "8"}
    priced = {
        **LLAMA,
        "model_name": "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "billed_cost_usd": "1",
    }
    own = {**LLAMA, "provider": "vllm", "team": "a"}
    committed = {**LLAMA, "provider": "together", "model_name": "meta-llama/Llama-3.1-8B"}
    return book_of(
        [{**priced, "team": "a"}, {**priced, "team": "b"}, own, {**committed, "team": "b"}],
        [{**priced, "team": "a", "query_class": "rag"}],
        assumes=[told, told],
        settings=Settings(overlay_folder=overlays),
    )


@pytest.fixture
def book(sound_book: Book) -> Iterator[Book]:
    """The sound warehouse, put back as it was after the test."""
    sound_book.execute("begin")
    yield sound_book
    sound_book.execute("rollback")


@pytest.fixture(scope="module")
def results_after(sound_book: Book) -> Callable[[str], list[CheckResult]]:
    """Run all checks on the sound warehouse with one thing changed, once for each change."""

    @functools.cache
    def run(statement: str) -> list[CheckResult]:
        sound_book.execute("begin")
        sound_book.execute(statement)
        results = warehouse.run_checks(sound_book)
        sound_book.execute("rollback")
        return results

    return run


def broken(results: list[CheckResult]) -> list[str]:
    return [result.name for result in results if result.status != "pass"]


def test_a_sound_book_breaks_no_claim(book: Book) -> None:
    assert broken(warehouse.run_checks(book)) == []


@pytest.mark.parametrize(
    ("check", "statement"),
    [pytest.param(check, statement, id=f"{check}: {how}") for check, how, statement in TAMPERED],
)
def test_a_broken_claim_is_found(
    results_after: Callable[[str], list[CheckResult]], check: str, statement: str
) -> None:
    assert broken(results_after(statement)) == [check]


def test_every_check_has_a_case_here() -> None:
    files = {file.stem for file in (bundled("sql") / "checks").glob("*.sql")}

    assert {check for check, _, _ in TAMPERED} == files


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param(
            "update int_class_moments set mean_input_tokens = 131072 - mean_output_tokens",
            id="a context filled to its last token",
        ),
        pytest.param("update int_batches set batch_max = 1", id="a request served alone"),
        pytest.param(
            "insert into int_logged_batches select month, provider, model_id, query_class, "
            "'logged latencies', batch_max, 1, 999 from int_batches limit 1",
            id="a full cache",
        ),
        pytest.param("update int_group_costs set list_cost_usd = 0", id="a cost of nothing"),
        pytest.param(
            "update mart_energy_per_class "
            "set energy_low_j = gpu_energy_j, energy_high_j = gpu_energy_j",
            id="a range of no width",
        ),
    ],
)
def test_a_claim_holds_up_to_its_edge(
    results_after: Callable[[str], list[CheckResult]], statement: str
) -> None:
    assert broken(results_after(statement)) == []


def test_a_deployment_in_the_settings_settles_what_inputs_dispute(book: Book) -> None:
    book.execute("update raw_inputs set assumed_gpu = 'H200-SXM' where input_id = 1")
    book.execute(
        "insert into raw_deployments (model_id, gpu) "
        "values ('meta-llama/Llama-3.3-70B-Instruct', 'H200-SXM')"
    )

    assert broken(warehouse.run_checks(book)) == []


@pytest.mark.parametrize(
    ("check", "statement"),
    [
        pytest.param(check, statement, id=f"{check}: {how}")
        for check, how, statement in TAMPERED
        if "-- severity: error" in (bundled("sql/checks") / f"{check}.sql").read_text("utf-8")
    ],
)
def test_a_broken_claim_of_severity_error_stops_the_run(
    results_after: Callable[[str], list[CheckResult]], check: str, statement: str
) -> None:
    with pytest.raises(BadInputError, match=rf"check '{check}' failed: \d+ row"):
        warehouse.require(results_after(statement))


def test_a_broken_claim_of_severity_warn_does_not_stop_the_run(book: Book) -> None:
    book.execute(
        "insert into mart_unpriced_usage by name select 'no list price for this model' as "
        "unpriced_reason, 1 as request_count"
    )

    results = warehouse.run_checks(book)
    warehouse.require(results)

    assert [r.status for r in results if r.name == "every_request_has_a_price"] == ["warn"]


def test_a_failure_shows_at_most_five_rows_and_counts_all(book: Book) -> None:
    book.execute(
        "insert into mart_energy_per_class "
        "select mart_energy_per_class.* from mart_energy_per_class, range(6)"
    )
    book.execute("update mart_energy_per_class set energy_low_j = 1.01 * gpu_energy_j")
    [result] = [r for r in warehouse.run_checks(book) if r.name == "every_value_lies_in_its_range"]

    assert (result.violation_count, len(result.rows)) == (4 * 7, 5)


def test_the_message_shows_the_row_that_contradicts() -> None:
    result = CheckResult("c", "error", "why", 1, (("2026-10", -1),), ("month", "cost_usd"))

    with pytest.raises(BadInputError) as error:
        warehouse.require([result])

    assert str(error.value) == (
        "check 'c' failed: 1 row(s) contradict it (why). First rows: month=2026-10, cost_usd=-1"
    )
