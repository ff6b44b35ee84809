"""Write the demo months: `python -m pipeline.sample [OUT_DIR]`, by default into data/sample."""

import json
import shutil
import sys
from datetime import date
from pathlib import Path
from typing import Any

from pipeline.sample import claude_code, dashboard, finance, gateway, litellm, quality, traces
from pipeline.sample.company import GATEWAY_WORKLOADS, LITELLM_WORKLOADS, MONTHS
from pipeline.sample.lines import SampleFile, packed
from pipeline.sample.measuring import telemetry_files
from pipeline.sample.traffic import edge_requests, month_traffic, numbered
from pipeline.sample.truth import truth
from pipeline.settings import bundled

_KEPT_BY_HAND = ("README.md", "joulebook.toml")


def sample_files() -> list[SampleFile]:
    """Return all generated logs, month by month."""
    logs = [file for month in MONTHS for file in _month_files(month)]
    completions = traces.azure_trace(traces.completion_trace())
    chats = traces.mooncake_trace(traces.long_chat_trace())
    return [
        *logs,
        SampleFile("azure-trace-2026-10.csv.gz", "azure_trace", tuple(completions), "\r\n"),
        SampleFile("mooncake-trace-2026-10.jsonl.gz", "mooncake_trace", tuple(chats)),
    ]


def write(out_dir: Path) -> dict[str, Any]:
    """Write logs, overlay tables, and what a right reader finds in them; return the latter."""
    files = sample_files()
    out_dir.mkdir(parents=True, exist_ok=True)
    for file in files:
        is_packed = file.name.endswith(".gz")
        (out_dir / file.name).write_bytes(packed(file.content) if is_packed else file.content)
    (out_dir / "overlays").mkdir(exist_ok=True)
    for name, text in {**finance.overlays(), **quality.overlays()}.items():
        (out_dir / "overlays" / name).write_text(text, encoding="utf-8", newline="\n")
    (out_dir / "telemetry").mkdir(exist_ok=True)
    for name, content in telemetry_files().items():
        (out_dir / "telemetry" / name).write_bytes(content)
    expected = {**truth(files), "money": finance.money_truth(files)}
    text = json.dumps(expected, indent=1, sort_keys=True) + "\n"
    (out_dir / "expected.json").write_text(text, encoding="utf-8")
    return expected


def main(arguments: list[str]) -> None:
    """Write into the folder named first, or into the bundled sample; print the table of files."""
    kept = bundled("data/sample")
    out_dir = Path(arguments[0]) if arguments else kept
    expected = write(out_dir)
    if out_dir.resolve() != kept.resolve():
        for name in _KEPT_BY_HAND:
            shutil.copyfile(kept / name, out_dir / name)
    sys.stdout.write(_table(expected))


def _month_files(month: date) -> list[SampleFile]:
    proxied = numbered(
        [
            *month_traffic(LITELLM_WORKLOADS, month),
            *edge_requests(month, is_last=month == MONTHS[-1]),
        ],
        month,
        "chatcmpl",
    )
    hosted = numbered(month_traffic(GATEWAY_WORKLOADS, month), month, "gw")
    sessions = claude_code.coding_sessions(month)
    coding = claude_code.session_logs(sessions, ends_torn=month == MONTHS[-1])
    buckets = dashboard.usage_export(dashboard.daily_buckets(month))
    label = f"{month:%Y-%m}"
    return [
        SampleFile(f"litellm-{label}.jsonl.gz", "litellm_spendlogs",
                   tuple(litellm.spend_logs(month, proxied))),
        SampleFile(f"openai-dashboard-{label}.csv", "openai_dashboard_usage_csv", tuple(buckets)),
        SampleFile(f"claude-code-{label}.jsonl.gz", "claude_code_jsonl", tuple(coding)),
        SampleFile(f"gateway-{label}.csv.gz", "general_csv",
                   tuple(gateway.gateway_log(month, hosted))),
    ]  # fmt: skip


def _table(expected: dict[str, Any]) -> str:
    lines = [f"{'file':34}{'read':>8}{'accepted':>10}{'rejected':>10}{'duplicate':>11}"]
    for name, facts in expected["files"].items():
        counts = (facts[f"rows_{word}"] for word in ("read", "accepted", "rejected", "duplicate"))
        lines.append("{:34}{:>8}{:>10}{:>10}{:>11}".format(name, *counts))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
