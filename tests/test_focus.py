"""focus.csv keeps the rules of FOCUS 1.2 and adds up to the costs that the report shows."""

import csv
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import openpyxl
import pytest
from conftest import Rows, write_log
from overlay_files import overlay_folder

from pipeline.job import Finished, make_report
from pipeline.settings import Input, Settings

pytestmark = pytest.mark.slow

MANDATORY = [
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodStart",
    "BillingPeriodEnd",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ServiceCategory",
    "ServiceName",
]
MAY_BE_EMPTY = {"ChargeClass", "PricingQuantity", "PricingUnit"}
COSTS = ("BilledCost", "EffectiveCost", "ListCost", "ContractedCost")
Charge = dict[str, str]

SONNET = {"provider": "anthropic", "model_name": "claude-sonnet-4-5", "query_class": "chat"}
GPT = {"provider": "openai", "model_name": "gpt-4o", "query_class": "chat"}
OWN = {"provider": "vllm", "query_class": "rag", "latency_s": 1_800}
ROWS: Rows = [
    {**SONNET, "team": "list", "input_tokens": 1_000, "cache_read_tokens": 300, "output_tokens": 9},
    {**SONNET, "team": "bill", "input_tokens": 999, "output_tokens": 7, "billed_cost_usd": "0.01"},
    {**GPT, "team": "=cmd()", "input_tokens": 500, "output_tokens": 100},
    {**OWN, "team": "own", "input_tokens": 700, "output_tokens": 300},
    {"provider": "openai", "model_name": "nobody-1", "input_tokens": 5, "output_tokens": 5},
    {"charge_kind": "web_search", "provider": "openai", "billed_cost_usd": "0.3"},
]
TABLES = {
    "contract_rates": ["anthropic,*,*,,,,,,0.1"],
    "commitments": ["2026-10,openai,gpt-4o,744,15,90.00,0.7"],
    "hosting_costs": ["2026-10,meta-llama/Llama-3.1-8B,H100-SXM,1,2,8.00,false"],
    "discounts_credits": ["2026-10,openai,,,promotion,-12.34"],
    "taxes": ["2026-10,openai,5.55,,VAT"],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("focus")
    write_log(folder / "usage.jsonl", ROWS)
    settings = Settings(
        folder=folder,
        inputs=(Input("usage.jsonl"),),
        overlay_folder=overlay_folder(folder / "overlays", TABLES),
    )
    return make_report(settings, None, folder / "reports", lambda text: None)


@pytest.fixture(scope="module")
def charges(made: Finished) -> list[Charge]:
    with (made.out_dir / "focus.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def total(charges: list[Charge], cost: str, **cells: str) -> Decimal:
    chosen = [c for c in charges if all(c[name] == value for name, value in cells.items())]
    return sum((Decimal(charge[cost]) for charge in chosen), Decimal(0))


def test_every_mandatory_column_is_there_and_filled(charges: list[Charge]) -> None:
    assert [name for name in MANDATORY if name not in charges[0]] == []
    filled = [name for name in MANDATORY if name not in MAY_BE_EMPTY]
    assert [(c["ChargeDescription"], n) for c in charges for n in filled if c[n] == ""] == []


def test_columns_of_our_own_begin_with_x(charges: list[Charge]) -> None:
    ours = [name for name in charges[0] if not name[0].isupper()]

    assert [name for name in ours if not name.startswith("x_")] == []


def test_categories_are_those_of_the_specification(charges: list[Charge]) -> None:
    assert {charge["ChargeCategory"] for charge in charges} == {
        "Usage",
        "Purchase",
        "Credit",
        "Tax",
    }
    assert {charge["CommitmentDiscountStatus"] for charge in charges} == {"", "Used", "Unused"}
    assert {charge["PricingCategory"] for charge in charges} == {
        "",
        "Standard",
        "Committed",
        "Other",
    }


def test_only_usage_has_a_consumed_quantity_and_a_tax_has_no_price(charges: list[Charge]) -> None:
    for charge in charges:
        if charge["ChargeCategory"] != "Usage":
            assert charge["ConsumedQuantity"] == charge["ConsumedUnit"] == ""
        is_tax = charge["ChargeCategory"] == "Tax"
        assert (charge["PricingQuantity"] == "") is (charge["PricingUnit"] == "") is is_tax
        assert not (is_tax and charge["SkuId"])


def test_a_unit_price_times_its_quantity_is_the_cost(charges: list[Charge]) -> None:
    for price, cost in (("ListUnitPrice", "ListCost"), ("ContractedUnitPrice", "ContractedCost")):
        priced = [charge for charge in charges if charge[price]]
        assert len(priced) == 2 + 1 + 2 + 2
        for charge in priced:
            millions = Decimal(charge["ConsumedQuantity"]) / 1_000_000
            assert Decimal(charge[price]) * millions == Decimal(charge[cost])


def test_a_commitment_has_an_id_wherever_it_has_a_status(charges: list[Charge]) -> None:
    names = ("Id", "Name", "Category", "Type")
    for charge in charges:
        filled = {bool(charge[f"CommitmentDiscount{name}"]) for name in names}
        assert len(filled) == 1
        if charge["CommitmentDiscountStatus"]:
            assert filled == {True}


def test_quantities_have_a_decimal_point(charges: list[Charge]) -> None:
    quantities = [c[n] for c in charges for n in ("ConsumedQuantity", "PricingQuantity") if c[n]]

    assert [text for text in quantities if not ("." in text or "e" in text)] == []


def test_a_commitment_is_bought_used_and_unused(charges: list[Charge]) -> None:
    # 90 USD, of which 0.7 are used
    of_it = {"CommitmentDiscountId": "gpt-4o"}

    assert total(charges, "BilledCost", ChargeCategory="Purchase", **of_it) == 90
    assert total(charges, "EffectiveCost", ChargeCategory="Purchase", **of_it) == 0
    assert total(charges, "EffectiveCost", CommitmentDiscountStatus="Used") == 63
    assert total(charges, "BilledCost", CommitmentDiscountStatus="Used") == 0
    assert total(charges, "EffectiveCost", CommitmentDiscountStatus="Unused") == 27


def test_a_contract_is_in_contracted_and_effective_and_not_in_list(charges: list[Charge]) -> None:
    # 700 · 3 + 300 · 0.30 + 9 · 15 = 2,325 dollars per million; a tenth less by contract
    of_it = {"SubAccountId": "list"}

    assert total(charges, "ListCost", **of_it) == Decimal("0.002325")
    assert total(charges, "ContractedCost", **of_it) == Decimal("0.0020925")
    assert total(charges, "EffectiveCost", **of_it) == Decimal("0.0020925")


def test_a_bill_is_shared_over_its_kinds_to_the_last_digit(charges: list[Charge]) -> None:
    assert total(charges, "BilledCost", SubAccountId="bill") == Decimal("0.01")
    assert total(charges, "EffectiveCost", SubAccountId="bill") == Decimal("0.01")


def test_a_gpu_bill_is_its_requests_and_its_idle_hours(charges: list[Charge]) -> None:
    # half an hour of two for 8 USD
    tokens = [c for c in charges if c["SubAccountId"] == "own" and c["ConsumedUnit"] == "Tokens"]

    assert total(tokens, "BilledCost") == 2
    assert total(charges, "BilledCost", SkuMeter="Idle GPU Hours") == 6
    [idle] = [c for c in charges if c["SkuMeter"] == "Idle GPU Hours"]
    assert float(idle["PricingQuantity"]) == pytest.approx(1.5)


def test_electricity_beside_a_gpu_bill_is_a_charge_of_its_own(charges: list[Charge]) -> None:
    [row] = [charge for charge in charges if charge["ConsumedUnit"] == "kWh"]

    # 0.10 USD per kWh, an assumption
    assert float(row["BilledCost"]) == pytest.approx(0.1 * float(row["ConsumedQuantity"]), abs=1e-9)


def test_credit_and_tax_are_rows_of_their_own(charges: list[Charge]) -> None:
    assert total(charges, "EffectiveCost", ChargeCategory="Credit") == Decimal("-12.34")
    assert total(charges, "BilledCost", ChargeCategory="Tax") == Decimal("5.55")


def test_all_charges_but_taxes_are_the_cost_of_the_month(
    made: Finished, charges: list[Charge]
) -> None:
    steps = {row["step_id"]: row["cost_usd"] for row in made.marts["mart_cost_bridge"]}
    untaxed = [charge for charge in charges if charge["ChargeCategory"] != "Tax"]

    assert total(untaxed, "EffectiveCost") == steps["14"]
    assert total(untaxed, "BilledCost") == steps["14"]
    assert total(charges, "BilledCost", ChargeCategory="Tax") == steps["15"]


def test_page_and_workbook_show_the_same_cost_to_the_cent(made: Finished) -> None:
    steps = {row["step_id"]: row["cost_usd"] for row in made.marts["mart_cost_bridge"]}
    shown = f"{steps['14'].quantize(Decimal('0.01'), rounding=ROUND_HALF_UP):,}"
    book = openpyxl.load_workbook(made.out_dir / f"joulebook-{made.month}.xlsx")
    [cell] = [row[2] for row in book["Costs"].iter_rows() if row[0].value == "Cost of the month"]

    assert f"The month cost {shown} USD." in (made.out_dir / "index.html").read_text("utf-8")
    assert f"{Decimal(str(cell.value)).quantize(Decimal('0.01')):,}" == shown


def test_usage_without_a_cost_is_no_charge(charges: list[Charge]) -> None:
    assert [charge for charge in charges if charge["ServiceName"] == "nobody-1"] == []


def test_a_name_that_a_spreadsheet_would_run_is_made_text(charges: list[Charge]) -> None:
    assert {c["SubAccountId"] for c in charges if "cmd" in c["SubAccountId"]} == {"'=cmd()"}


def test_the_same_run_gives_the_same_bytes(
    made: Finished, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = made.out_dir.parent.parent
    settings = Settings(
        folder=folder, inputs=(Input("usage.jsonl"),), overlay_folder=folder / "overlays"
    )

    again = make_report(settings, None, tmp_path / "reports", lambda text: None)

    assert (again.out_dir / "focus.csv").read_bytes() == (made.out_dir / "focus.csv").read_bytes()


def test_four_costs_are_in_every_row(charges: list[Charge]) -> None:
    assert [c for c in charges for cost in COSTS if not c[cost]] == []
