"""What one request costs, explained, under contracts, commitments and GPU bills."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from arithmetic import evaluated, is_kept, printed
from conftest import Book, Rows, rows_of
from overlay_files import overlay_folder
from test_explain_request import amount, explained, line_of, step_of

from pipeline import job, warehouse
from pipeline.explain.cell import explain_cell
from pipeline.explain.find import find_cell
from pipeline.explain.text import text_of
from pipeline.frames.sections import frames
from pipeline.report import workbook
from pipeline.report.assemble import build_report
from pipeline.report.workbook.places import tables_of
from pipeline.settings import Settings

pytestmark = pytest.mark.slow

LLAMA = "meta-llama/Llama-3.1-8B"
QWEN = "Qwen/Qwen3-32B"
OVERLAYS = {
    "contract_rates": [
        "openai,gpt-5-mini,*,*,*,2026-01-01,,,0.2",
        "openai,gpt-5-mini,output,*,*,2026-01-01,,1.50,",
    ],
    "commitments": ["2026-10,openai,gpt-4o,744,15,900.00,0.5"],
    "hosting_costs": [
        f"2026-10,{LLAMA},H100-SXM,2,10,100.00,true",
        f"2026-10,{QWEN},H200-SXM,1,10,60.00,false",
        "2026-10,acme-1,H100-SXM,1,10,14.00,true",
    ],
}


def usage(name: str, model: str, provider: str, **more: object) -> dict[str, object]:
    row = {"request_id": name, "model_name": model, "provider": provider, "team": "a"}
    return {**row, "query_class": "chat", "input_tokens": 900, "output_tokens": 300, **more}


ROWS: Rows = [
    usage("contract", "gpt-5-mini", "openai", cache_read_tokens=400),
    usage("covered-1", "gpt-4o", "openai", input_tokens=200, output_tokens=100),
    usage("covered-2", "gpt-4o", "openai", input_tokens=500, output_tokens=100),
    usage("other-team", "gpt-4o", "openai", team="b", input_tokens=60, output_tokens=40),
    usage("own-bill", "gpt-4o", "openai", billed_cost_usd="5"),
    # 30 and 15 minutes on the GPUs one after the other: 45 of 1,200 GPU minutes, twice over
    usage("timed-1", LLAMA, "vllm", occurred_at="2026-10-05T10:00:00Z", latency_s=1_800),
    usage("timed-2", LLAMA, "vllm", occurred_at="2026-10-05T12:00:00Z", latency_s=900),
    usage("by-energy-1", QWEN, "vllm"),
    usage("by-energy-2", QWEN, "vllm", output_tokens=900),
    usage("by-tokens-1", "acme-1", "vllm", input_tokens=100),
    usage("by-tokens-2", "acme-1", "vllm", input_tokens=700),
]


@pytest.fixture(scope="module")
def bills(book_of: Callable[..., Book], tmp_path_factory: pytest.TempPathFactory) -> Book:
    folder = overlay_folder(tmp_path_factory.mktemp("o") / "overlays", OVERLAYS)
    return book_of(ROWS, settings=Settings(overlay_folder=folder))


def test_a_contract_stands_beside_the_list_price_and_counts(bills: Book) -> None:
    made = explained(bills, "contract")

    # 500 · 0.25 + 400 · 0.025 + 300 · 2.00 = 735 millionths; a fifth off the first two, 1.50 told:
    # 500 · 0.20 + 400 · 0.02 + 300 · 1.50 = 558 millionths
    assert made.facts["list_cost_usd"] == Decimal("0.000735")
    assert made.facts["cost_usd"] == made.facts["contracted_cost_usd"] == Decimal("0.000558")
    assert made.facts["cost_source"] == "effective"
    found = step_of(made, "contracted_cost_usd")
    assert found.formula == "(i·ci + k·ck + o·co)·0.000001"
    assert found.numbers == "(500·0.2 + 400·0.02 + 300·1.5)·0.000001"
    assert "by contract" in line_of(made, "contracted_output_usd_per_mtok").note


def test_a_covered_request_has_its_tokens_of_what_its_group_has_of_the_commitment(
    bills: Book,
) -> None:
    made = explained(bills, "covered-1")

    # half of 900 USD: team a has 900 of 1,000 tokens, this request 300 of those 900
    assert line_of(made, "group_committed_cost_usd").value == 405
    assert step_of(made, "committed_cost_usd").numbers == "405·300/900"
    assert made.facts["cost_usd"] == 135
    assert made.facts["cost_source"] == "effective"
    assert made.facts["list_cost_usd"] == Decimal("0.0015")


def test_the_only_request_of_its_group_has_all_of_its_share(bills: Book) -> None:
    assert explained(bills, "other-team").facts["cost_usd"] == 45


def test_a_request_with_a_bill_of_its_own_has_no_share(bills: Book) -> None:
    made = explained(bills, "own-bill")

    assert made.facts["cost_usd"] == 5
    assert "commitment" not in text_of(made)


def test_a_timed_request_has_its_seconds_of_the_used_part_of_a_gpu_bill(bills: Book) -> None:
    made = explained(bills, "timed-1")

    # 0.75 busy hours of 2 GPUs in 20 GPU hours for 100 USD are 7.50 USD, two thirds of them here
    assert line_of(made, "group_hosting_cost_usd").value == Decimal("7.5")
    assert "of 7.5 USD used of a bill of 100 USD" in line_of(made, "group_hosting_cost_usd").note
    assert step_of(made, "hosting_cost_usd").numbers == "7.5·1,800/2,700"
    assert made.facts["cost_usd"] == 5
    assert made.facts["cost_source"] == "hosting"


def test_without_latencies_a_gpu_bill_goes_by_energy_and_electricity_stands_beside_it(
    bills: Book,
) -> None:
    one, two = (explained(bills, f"by-energy-{number}") for number in (1, 2))
    energies = [amount(made.facts["gpu_energy_j"]) for made in (one, two)]
    parts = [amount(line_of(made, "hosting_cost_usd").value) for made in (one, two)]
    power = amount(line_of(one, "hosting_energy_cost_usd").value)

    assert sum(parts) == pytest.approx(60, abs=2e-9)
    assert parts[0] == pytest.approx(60 * energies[0] / sum(energies), abs=1e-9)
    assert power == pytest.approx(amount(line_of(one, "energy_cost_usd").value), abs=1e-9)
    assert amount(one.facts["cost_usd"]) == pytest.approx(parts[0] + power, abs=1e-12)


def test_a_model_without_energy_shares_its_gpu_bill_by_tokens(bills: Book) -> None:
    # 14 USD by 400 : 1,000 tokens
    assert explained(bills, "by-tokens-1").facts["cost_usd"] == 4
    assert explained(bills, "by-tokens-2").facts["cost_usd"] == 10


def test_the_requests_explained_one_by_one_add_up_to_the_month(bills: Book) -> None:
    costs = [explained(bills, str(row["request_id"])).facts["cost_usd"] for row in ROWS]
    (month,) = rows_of(bills, "select cost_usd from mart_month_total where total_kind = 'month'")

    assert sum(Decimal(str(cost)) for cost in costs) == pytest.approx(
        month["cost_usd"], abs=Decimal("1e-8")
    )


def test_every_printed_line_of_money_comes_to_its_result(bills: Book) -> None:
    count = 0
    for row in ROWS:
        for numbers, result, unit in printed(text_of(explained(bills, str(row["request_id"])))):
            count += 1
            assert is_kept(numbers, result, unit), (row, numbers, result, evaluated(numbers))
    assert count > 200


# Cells ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "model", "numbers", "value"),
    [
        # 100 USD · 0.75 busy hours · 2 GPUs / 20 GPU hours are used, 92.50 USD are not
        ("idle GPUs", LLAMA, "100 − 7.5", Decimal("92.5")),
        ("committed, unused", "gpt-4o", "900 − 450", Decimal(450)),
    ],
)
def test_what_stood_unused_is_the_bill_less_what_was_used(
    bills: Book, kind: str, model: str, numbers: str, value: Decimal
) -> None:
    tables = frames(bills, warehouse.run_checks(bills))
    report = build_report(tables, "2026-10", job.facts(bills, Settings(), "2026-10"))
    table = tables_of(report)["cost_lines"]
    (row,) = [
        place
        for place, cells in enumerate(table.rows, start=1)
        if (cells[0], cells[2]) == (kind, model)
    ]
    found = find_cell(f"table-cost_lines:{row}:cost_usd", report, workbook.render(report))

    made = explain_cell(bills, found, "2026-10")

    assert made.facts["value"] == value
    assert step_of(made, "cost_usd").numbers == numbers
    for printed_numbers, result, unit in printed(text_of(made)):
        assert is_kept(printed_numbers, result, unit), printed_numbers


def test_a_step_of_the_cost_bridge_is_told_in_full_and_a_total_by_its_steps(bills: Book) -> None:
    tables = frames(bills, warehouse.run_checks(bills))
    report = build_report(tables, "2026-10", job.facts(bills, Settings(), "2026-10"))
    book = workbook.render(report)
    (month,) = rows_of(bills, "select * from mart_cost_bridge where step_id = '14'")
    names = [cells[0] for cells in tables_of(report)["cost_bridge"].rows]

    place = 1 + names.index("Cost of the month")
    total = find_cell(f"table-cost_bridge:{place}:total_usd", report, book)
    made = explain_cell(bills, total, "2026-10")

    assert made.facts["mart"] == "mart_cost_bridge"
    assert step_of(made, "cost_usd").value == month["cost_usd"]
    place = 1 + names.index("Contract rates against the list")
    contract = explain_cell(
        bills, find_cell(f"table-cost_bridge:{place}:step_usd", report, book), "2026-10"
    )
    # 735 − 558 millionths less: shown in cents, told in full
    assert line_of(contract, "cost_usd").value == Decimal("-0.000177")
