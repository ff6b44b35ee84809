"""What the invented company's own tables say of money: GPU bills, one contract, one credit."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from pipeline.sample.company import GPT_OSS, LLAMA_8B, QWEN_32B
from pipeline.sample.lines import SampleFile
from pipeline.sample.prices import list_cost_usd
from pipeline.sample.traffic import Request, moment_of

# The servers are rented by the hour and started for the hours in which somebody works with them.
_USD_PER_GPU_HOUR = Decimal("3.10")
_GPU_HOURS = {
    "2026-09": ((QWEN_32B.name, 8), (LLAMA_8B.name, 6), (GPT_OSS.name, 14)),
    "2026-10": ((QWEN_32B.name, 10), (LLAMA_8B.name, 6), (GPT_OSS.name, 16)),
}
_DISCOUNT_FRAC, _DISCOUNT_FROM = Decimal("0.08"), date(2026, 10, 1)
_CREDIT_USD = {"2026-10": Decimal(-25)}
SAYS = "generated sample"


def overlays() -> dict[str, str]:
    """Return the text of every overlay table by its file name."""
    hosting = [
        f"{month},{model},H200-SXM,1,{hours},{hours * _USD_PER_GPU_HOUR},true,{SAYS}"
        for month, bills in _GPU_HOURS.items()
        for model, hours in bills
    ]
    credits_ = [
        f"{month},openai,,,launch credit,{usd},{SAYS}" for month, usd in _CREDIT_USD.items()
    ]
    return {
        "hosting_costs.csv": table(
            "month,deployment,gpu,gpu_count,hours,usd,bill_includes_power,source", hosting
        ),
        "contract_rates.csv": table(
            "provider,model,token_kind,service_tier,region,valid_from,valid_to,usd_per_mtok,"
            "discount_frac,source",
            [f"anthropic,*,*,,,{_DISCOUNT_FROM},,,{_DISCOUNT_FRAC},{SAYS}"],
        ),
        "discounts_credits.csv": table(
            "month,provider,model,team,description,usd,source", credits_
        ),
    }


def money_truth(files: Iterable[SampleFile]) -> dict[str, Any]:
    """Return what the tables come to, and what the contract makes of usage that has no bill."""
    unbilled = [
        request
        for file in files
        if file.form == "claude_code_jsonl"
        for request in (line.request for line in file.lines if line.outcome == "accepted")
        if request is not None
    ]
    at_list = sum(map(_list_usd, unbilled), Decimal(0))
    discounted = sum(map(_list_usd, filter(_is_discounted, unbilled)), Decimal(0))
    return {
        "gpu_bills_usd": {
            month: str(sum(hours * _USD_PER_GPU_HOUR for _, hours in bills))
            for month, bills in _GPU_HOURS.items()
        },
        "credits_usd": {month: str(usd) for month, usd in _CREDIT_USD.items()},
        "claude_code_list_cost_usd": str(at_list.normalize()),
        "claude_code_contracted_cost_usd": str((at_list - _DISCOUNT_FRAC * discounted).normalize()),
    }


def _list_usd(request: Request) -> Decimal:
    return list_cost_usd(request) or Decimal(0)


def _is_discounted(request: Request) -> bool:
    return moment_of(request.at_ms).date() >= _DISCOUNT_FROM


def table(header: str, rows: list[str]) -> str:
    """Return the text of a CSV file."""
    return "".join(f"{line}\n" for line in (header, *rows))
