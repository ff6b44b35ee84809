"""The data dictionary: every column of every mart, its meaning, unit, type and source tables.

Columns, types and sources are read from the SQL itself. Meanings have one home: the `Column` that
a section shows; what no section shows is told in mart_meanings. `python -m pipeline.dictionary`
prints `DATA.md`.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.mart_meanings import MEANINGS
from pipeline.report import sections
from pipeline.report.section import Column
from pipeline.settings import bundled

# Parts of mart_month_bridge, by the step in their names; each says the same of all quantities.
_BRIDGE_STEPS = {
    "before": "The month before",
    "volume": "Change by more or fewer requests",
    "mix": "Change by other classes and teams",
    "model": "Change by other models",
    "length": "Change by longer or shorter requests",
    "price": "Change by other prices of a token",
    "rate": "Change by other joules of a unit of work, or another grid",
}
_BRIDGED = {
    "cost": ("cost", "usd"),
    "facility_energy": ("electricity", "kwh"),
    "carbon": ("carbon", "gco2e"),
}
_UNITS = {
    "j": "J",
    "kwh": "kWh",
    "usd": "USD",
    "gco2e": "g CO₂e",
    "w": "W",
    "s": "s",
    "tokens": "tokens",
    "bytes": "bytes",
    "flop": "FLOP",
    "steps": "steps",
    "items": "items",
    "params": "weights",
    "count": "count",
    "frac": "share, 0 to 1",
    "ratio": "ratio",
    "factor": "ratio",
    "batch": "requests",
    **dict.fromkeys(("max", "low", "high", "before"), "requests"),
    "rank": "place",
}
_FINAL = re.compile(r"^select\n(.*?)^from ", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^(\w+) as \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_READ = re.compile(r"\b(?:from|join) (\w+)(?: as (\w+))?")
_CAST = re.compile(r"::(\w+(?:\(\d+, \d+\))?)\s+as \w+\s*$")


@dataclass(frozen=True)
class Entry:
    """One column of a mart."""

    table: str
    column: str
    type: str
    unit: str
    meaning: str
    sources: tuple[str, ...]  # tables that its expression reads


def entries() -> list[Entry]:
    """Return every column of every mart, in the order of the SQL."""
    meanings = _meanings()
    found = []
    for file in sorted((bundled("sql") / "marts").glob("*.sql")):
        sql = re.sub(r"--.*$", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        blocks: dict[str, str] = dict(_BLOCK.findall(sql))
        final = (_FINAL.findall(sql) or [""])[-1]
        tail = sql[sql.rindex(final) + len(final) :]
        for expression in _expressions(final):
            column = expression.strip().rpartition(" ")[2].rpartition(".")[2]
            cast = _CAST.search(expression)
            type_name = cast[1] if cast else ""
            found.append(
                Entry(
                    file.stem,
                    column,
                    type_name.upper(),
                    _unit(column, type_name),
                    meanings.get(column, ""),
                    _sources(expression, tail, blocks),
                )
            )
    return found


def about(table: str) -> str:
    """Return what the head of a mart's SQL says of it."""
    text = (bundled("sql") / "marts" / f"{table}.sql").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if not line.startswith("-- ") or line.startswith(("-- grain:", "-- materialised:")):
            break
        lines.append(line.removeprefix("-- "))
    return " ".join(lines)


def grain(table: str) -> str:
    """Return the columns that name a row of a mart."""
    text = (bundled("sql") / "marts" / f"{table}.sql").read_text(encoding="utf-8")
    found = re.search(r"^-- grain: (.+)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def markdown() -> str:
    """Return DATA.md."""
    parts = [
        "# Data dictionary\n\n"
        "Every column of every mart, as `data/mart_<name>.parquet` holds it. Made from the SQL by "
        "`make dictionary`; do not edit.\n"
    ]
    by_table: dict[str, list[Entry]] = {}
    for entry in entries():
        by_table.setdefault(entry.table, []).append(entry)
    for table, rows in by_table.items():
        lines = [
            f"| `{e.column}` | {e.meaning} | {e.unit} | {e.type} | {_named(e.sources)} |"
            for e in rows
        ]
        parts.append(
            f"\n## {table}\n\n{about(table)}\n\nOne row: {grain(table)}.\n\n"
            "| column | meaning | unit | type | from |\n|---|---|---|---|---|\n"
            + "\n".join(lines)
            + "\n"
        )
    return "".join(parts)


def _named(sources: tuple[str, ...]) -> str:
    return ", ".join(f"`{source}`" for source in sources)


def _meanings() -> dict[str, str]:
    """Return the meaning of each column that a section shows; shared columns speak first."""
    names = [module.name for module in pkgutil.iter_modules(sections.__path__)]
    names.sort(key=lambda name: (name != "columns", name))
    found: dict[str, str] = {}
    for name in names:
        module = importlib.import_module(f"pipeline.report.sections.{name}")
        for value in vars(module).values():
            columns = value if isinstance(value, tuple) else (value,)
            for column in columns:
                if isinstance(column, Column) and column.meaning:
                    found.setdefault(column.name, column.meaning)
    ends = _ends("{}_j", ("input_token_energy", "output_token_energy", "shared_pass_energy"))
    return found | _bridge_meanings() | ends | MEANINGS


def _bridge_meanings() -> dict[str, str]:
    ends = _ends("facility_energy_{}_kwh", _BRIDGE_STEPS) | _ends("carbon_{}_gco2e", _BRIDGE_STEPS)
    return ends | {
        f"{quantity}_{step}_{unit}": f"{words}, in {word}."
        for step, words in _BRIDGE_STEPS.items()
        for quantity, (word, unit) in _BRIDGED.items()
    }


def _ends(name: str, whats: Iterable[str]) -> dict[str, str]:
    return {
        name.format(f"{what}_{end}"): f"{end.title()} end ({share} %) of `{name.format(what)}`."
        for what in whats
        for end, share in (("low", 5), ("high", 95))
    }


def _unit(column: str, type_name: str) -> str:
    if type_name in ("varchar", "boolean", "date", "timestamp"):
        return ""
    whole, _, per = column.partition("_per_")
    unit = _UNITS.get(whole.rpartition("_")[2], "")
    return f"{unit} per {per.replace('_', ' ')}" if per else unit


def _expressions(select: str) -> list[str]:
    """Cut a select list at the commas outside brackets and texts."""
    parts, depth, start, is_text = [], 0, 0, False
    for place, letter in enumerate(select):
        is_text ^= letter == "'"
        depth += 0 if is_text else (letter == "(") - (letter == ")")
        if letter == "," and depth == 0 and not is_text:
            parts.append(select[start:place])
            start = place + 1
    return [*parts, select[start:]]


def _sources(expression: str, tail: str, blocks: dict[str, str]) -> tuple[str, ...]:
    """Return the tables behind the aliases of an expression, through the query's own blocks."""
    aliases = {alias or name: name for name, alias in _READ.findall(tail)}
    used = [name for alias, name in aliases.items() if re.search(rf"\b{alias}\.", expression)]
    used = used or list(aliases.values())  # a count of rows reads them all
    found: dict[str, None] = {}
    for name in used:
        for table in _tables(name, blocks):
            found[table] = None
    return tuple(found)


def _tables(name: str, blocks: dict[str, str]) -> list[str]:
    if name not in blocks:
        return [name]
    inside = {read for read, _ in _READ.findall(blocks[name]) if read != name}
    return sorted({table for read in inside for table in _tables(read, blocks)})


if __name__ == "__main__":
    Path("DATA.md").write_text(markdown(), encoding="utf-8", newline="\n")
