"""BENCHMARKS.md, and the figures of docs/SIZING.md: what was measured, as Markdown."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pipeline.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("duckdb", "polars", "pandas", "openpyxl", "genai-prices", "pyspark")
USD_PER_CORE_HOUR = 0.05
# Rows a month → cores, and how many times two cores they are: all of them, and with losses.
MACHINES = {
    10**6: ("a laptop, 2 cores, 4 GB", 2, (1, 1)),
    10**7: ("the same", 2, (1, 1)),
    10**8: ("one machine, 4 cores, 8 GB, 50 GB of disk", 4, (2, 1)),
    10**9: ("one machine, 16 cores, 64 GB, 500 GB of fast disk", 16, (6, 1)),
    10**10: ("one machine of 64 cores, or a cluster of 64", 64, (6, 1)),
}
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Table:
    """One table of the page, with what is said before it."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def page(tables: Sequence[Table], command: str) -> str:
    """Return BENCHMARKS.md."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    packages = {name: version(name) for name in PACKAGES}
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Measured on {datetime.now(UTC):%Y-%m-%d} by `{command}`:",
            "",
            f"- {os.cpu_count()} CPUs ({_cpu_name()}), {memory_gb:.0f} GB of memory, "
            f"{platform.system()} {platform.machine()}",
            f"- Python {platform.python_version()}, "
            + ", ".join(f"{name} {number}" for name, number in packages.items()),
            f"- 2 threads; memory limit of the settings: {Settings().memory_limit_gb:g} GB",
            "",
            "Every run is a process of its own. Time is the best of three runs, of one that takes "
            "half a minute only the first; peak memory (`ru_maxrss`) is the most of them. Ratios "
            "travel between machines, seconds do not.",
            *(line for table in tables for line in ("", *table_lines(table))),
            "",
        ]
    )


def table_lines(table: Table) -> list[str]:
    """Return one table in Markdown; all but its first column are numbers."""
    return [
        f"## {table.title}",
        "",
        table.text,
        "",
        *grid(table.head, table.rows),
    ]


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, numbers to the right."""
    return [
        "| " + " | ".join(head) + " |",
        "|---" + "|--:" * (len(head) - 1) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def judged(value: float, most: float, unit: str = "×") -> str:
    """Return a target and whether it is met."""
    return f"≤ {most:g} {unit}: {'met' if value <= most else 'missed'}"


def spelt_s(seconds: float) -> str:
    """Return a time as people say it: 0.42 s, 15 s, 2.4 min, 4.0 h."""
    if seconds < 90:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def sizing(text: str, measured: dict[int, tuple[float, float]]) -> str:
    """Return docs/SIZING.md with the figures that follow from what was measured.

    Args:
        text: The page as it stands; figures go between its `<!-- name -->` and `<!-- / -->`.
        measured: Seconds and peak GB of a build by rows.
    """
    *_, smaller, larger = [rows for rows in sorted(measured) if rows <= 10**7]
    more = (larger - smaller) / 1e6
    per_million_s = (measured[larger][0] - measured[smaller][0]) / more
    per_million_gb = (measured[larger][1] - measured[smaller][1]) / more
    text = _filled(text, "measured", _measured_lines(measured))
    text = _filled(
        text,
        "rate",
        [
            f"From {smaller:,} to {larger:,} rows a further million costs **{per_million_s:.2f} s**"
            f" and about **{per_million_gb:.2f} GB** on two cores."
        ],
    )
    return _filled(text, "months", _month_lines(measured, per_million_s))


def _measured_lines(measured: dict[int, tuple[float, float]]) -> list[str]:
    return grid(
        ("rows", "time", "rows per second", "peak memory"),
        [
            (f"{rows:,}", spelt_s(seconds), f"{rows / seconds:,.0f}", f"{gb:.2f} GB")
            for rows, (seconds, gb) in sorted(measured.items())
        ],
    )


def _month_lines(measured: dict[int, tuple[float, float]], per_million_s: float) -> list[str]:
    lines = []
    for rows, (machine, cores, (most, least)) in MACHINES.items():
        two_cores_s = measured[rows][0] if rows in measured else rows / 1e6 * per_million_s
        fast, slow = spelt_s(two_cores_s / most), spelt_s(two_cores_s / least)
        usd = two_cores_s / least / 3600 * cores * USD_PER_CORE_HOUR
        lines.append(
            (
                "10" + str(len(str(rows)) - 1).translate(RAISED),
                machine,
                fast if fast == slow else f"{fast} to {slow}",
                f"{usd:.2f} USD" if usd >= 0.01 else "< 0.01 USD",
                f"measured on 2 cores: {spelt_s(two_cores_s)}"
                if rows in measured
                else f"{rows / 1e6:,.0f} × {per_million_s:.2f} s = {spelt_s(two_cores_s)} on 2",
            )
        )
    return grid(("rows a month", "what to run it on", "time of the marts", "cost", "from"), lines)


def _filled(text: str, name: str, lines: Sequence[str]) -> str:
    filled, count = re.subn(
        rf"(<!-- {name} -->\n).*?(<!-- / -->)",
        lambda found: found[1] + "\n" + "\n".join(lines) + "\n\n" + found[2],
        text,
        flags=re.DOTALL,
    )
    if count != 1:
        raise SystemExit(f"docs/SIZING.md: expected one place for {name}, found {count}.")
    return filled


def write_whole(path: Path, text: str) -> None:
    """Write a file by one rename, so that a broken run leaves the one before."""
    aside = path.with_suffix(".new")
    aside.write_text(text, encoding="utf-8", newline="\n")
    aside.replace(path)


def _cpu_name() -> str:
    names = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.M)
    return names[0] if names else "of unknown name"
