"""The data dictionary: every column of every mart, its meaning, unit, type and source tables.

Columns, types and sources are read from the SQL itself. Meanings have one home: the `Column` that
a section shows; what no section shows is told here. `python -m pipeline.dictionary` prints
`DATA.md`.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline.report import sections
from pipeline.report.section import Column
from pipeline.settings import bundled

# What no table of the report shows, or shows as something else.
_TOLD_HERE = {
    "month": "Calendar month in the zone of the report, as YYYY-MM.",
    "attributed_request_count": "Requests of a team.",
    "billed_cost_usd": "Cost as billed, where the log carries it.",
    "cache_known_request_count": "Requests whose cached share is known.",
    "carbon_gco2e": "Electricity times the grid factor.",
    "carbon_high_gco2e": "High end (95 %) of the carbon.",
    "carbon_low_gco2e": "Low end (5 %) of the carbon.",
    "decode_attention_flop": "Summed operations of attending to the context while writing.",
    "decode_flop": "Summed operations of passing new tokens through the weights.",
    "carbon_saving_p50_gco2e": "Middle (50 %) of the electricity saved times the grid factor.",
    "explicit_class_request_count": "Requests whose class the log says.",
    "finding_kind": "What would save: a change to caches, calls, models or batches.",
    "input_tokens": "Input tokens, cached ones included.",
    "is_counted": "Does this charge count as cost of the month?",
    "known_model_request_count": "Requests of a model of the catalog.",
    "known_outcome_request_count": "Requests whose outcome the log says.",
    "kv_read_bytes": "Summed cache bytes read while writing.",
    "layer_steps": "Summed layers × passes × GPUs.",
    "measured_output_tokens": "Output tokens with an energy.",
    "measured_request_count": "Requests with an energy.",
    "method_version": "Version of the method that computed the row.",
    "optimum_output_tokens": "Answer length of least energy per output token.",
    "other_charge_usd": "Fees, credits and other services of the model.",
    "prefill_flop": "Summed operations of reading the prompts.",
    "priced_output_tokens": "Output tokens with a price.",
    "priced_request_count": "Requests with a price.",
    "source_format": "Form that the file was recognised as.",
    "weight_read_bytes": "Summed weight bytes streamed, before the batch shares them.",
    "attributed_request_frac": "Requests of a team over all.",
    "cache_known_request_frac": "Requests whose cached share is known over all.",
    "explicit_class_request_frac": "Requests whose class the log says over all.",
    "known_model_request_frac": "Requests of a model of the catalog over all.",
    "known_outcome_request_frac": "Requests whose outcome the log says over all.",
    "measured_output_frac": "Output tokens with an energy over all.",
    "measured_request_frac": "Requests with an energy over all.",
    "priced_output_frac": "Output tokens with a price over all.",
    "priced_request_frac": "Requests with a price over all.",
    "gpu_energy_j": "Energy of the GPU boards: law × bias factor.",
    "api_key_request_count": "Requests whose API key the log names.",
    "energy_p50_j": "Middle (50 %) of the GPU energy over the joint draws.",
    "facility_energy_kwh_per_request": "Electricity of the facility over the requests.",
    "facility_energy_p50_kwh": "Middle (50 %) of the electricity over the joint draws.",
    "input_token_energy_j": "Energy of one more uncached input token of the mean request.",
    "is_fitted_here": "Were the coefficients fitted to these very measurements?",
    "is_total": "Does the line hold the sum of the steps before it?",
    "measured_request_before_count": "Requests of the month before with an energy.",
    "output_token_energy_j": "Energy of one more output token, shared passes left out.",
    "own_energy_high_j": "High end (95 %) of the GPU energy by our law.",
    "own_energy_low_j": "Low end (5 %) of the GPU energy by our law.",
    "own_facility_energy_high_kwh": "High end (95 %) of the electricity by our law.",
    "own_facility_energy_kwh": "Electricity of the facility by our law.",
    "own_facility_energy_low_kwh": "Low end (5 %) of the electricity by our law.",
    "own_gpu_energy_j": "Energy of the GPU boards by our law.",
    "priced_request_before_count": "Requests of the month before with a cost.",
    "project_request_count": "Requests whose project the log names.",
    "route_request_count": "Requests whose route the log names.",
    "shared_pass_energy_j": "Energy of one pass that all requests of the batch share.",
    "step_id": "Step of the bridge.",
    "subset_kind": "What the measurements are cut by; all: not cut.",
    "subset_value": "Which part of the measurements.",
    "total_kind": "What is totalled: month, model, provider or query_class.",
    "total_of": "Which model, provider or class; all for the month.",
    "user_request_count": "Requests whose user the log names.",
    "best_items_limit": "What ends the items of a call before their best number: "
    "context, longest answer or cache.",
    "cache_items": "Items of a call that the cache still holds at the batch.",
    "cache_state": "Cache of the line: uncached, as_cached (as logged) or fully_cached.",
    "cache_write_1h_paying_reads_ratio": "Reads after which a cache write of one hour has paid for "
    "itself.",
    "cache_write_5m_paying_reads_ratio": "Reads after which a cache write of five minutes has paid "
    "for itself.",
    "cached_input_tokens": "Mean cached part of the shared input.",
    "chance_frac": "Accuracy that guessing gives.",
    "current_list_cost_usd": "List cost of the class as it was served.",
    "day_count": "Days with usage behind the forecast.",
    "fewest_request_count": "Requests of the model of the pair that has fewer.",
    "followed_request_count": "Steps that another step of their task follows.",
    "followed_step_count": "Steps that another step of their task follows.",
    "has_month_before": "Were the logs of the month before read too?",
    "input_tokenizer_ratio": "Input tokens of the model over those of the model that ran.",
    "is_best": "Is it the budget of most accuracy per joule?",
    "is_best_above_chance": "Is it the budget of most accuracy above chance per joule?",
    "is_by_weekday": "Is the pattern that of the same weekday?",
    "is_cheaper_at_mix": "Is it cheaper per token at the mix of tokens of the class?",
    "is_cheaper_by_list": "Is no list price above, and one below, that of the other?",
    "is_best_net_value": "Is it the budget of largest net value?",
    "task_value_usd": "What an agentic task is worth, as told in the assumptions.",
    "value_usd_per_correct_answer": "What a right answer is worth, as told.",
    "is_edge": "Is it the smallest or largest budget that was measured?",
    "is_energy_faster_than_length": "Does the energy grow faster than the answers from the budget "
    "before?",
    "is_on_front": "Is no other model both cheaper and of less energy?",
    "is_reversal": "Is it cheaper per token and yet dearer per task?",
    "is_used": "Did the month use this model for the class?",
    "is_within_noise": "Is the saving less probable than the limit among the assumptions?",
    "is_without_gain": "Does the budget answer no more than the one before?",
    "kept_tokens": "Tokens of the context that a summary keeps.",
    "mean_against_optimum": "Are answers shorter or longer than the optimum, or within noise of "
    "it?",
    "mean_cached_tokens": "Mean cached input of a request.",
    "list_cost_usd_per_solved_task": "List cost of the class over the tasks that are solved of it.",
    "median_output_tokens": "Median output of a step.",
    "mix_usd_per_mtok": "List price of a million tokens at the mix of the class.",
    "optimum_items": "Items per call of least energy by the closed form, before any limit.",
    "ordered_request_count": "Steps whose place in their task is known.",
    "other_list_cost_usd_per_task": "List cost of a task of the other model.",
    "other_mix_usd_per_mtok": "List price of a million tokens of the other model at the mix of the "
    "class.",
    "output_tokens_per_request": "Mean output of a request.",
    "own_request_count": "Requests of the class that the model served itself.",
    "paying_cached_money_high_steps": "High end of the steps after which compacting pays in money, "
    "cached.",
    "paying_cached_money_low_steps": "Low end of the steps after which compacting pays in money, "
    "cached.",
    "paying_uncached_energy_high_steps": "High end of the steps after which compacting pays in "
    "energy, uncached.",
    "paying_uncached_energy_low_steps": "Low end: compacting pays in energy after these, uncached.",
    "paying_uncached_money_high_steps": "High end: compacting pays in money after these, uncached.",
    "paying_uncached_money_low_steps": "Low end of the steps after which compacting pays in money, "
    "uncached.",
    "penalty_at_p10_frac": "Energy per output token above the least, at the 10 % shortest answers.",
    "penalty_at_p90_frac": "Energy per output token above the least, at the 10 % longest answers.",
    "penalty_positive_frac": "Share of the joint draws in which the penalty is above zero.",
    "request_frac": "Share of the month's requests.",
    "saving_p50_usd_per_item": "Middle (50 %) of the saving in money of an item.",
    "saving_reason": "Why no saving is stated.",
    "shared_input_high_frac": "High end of the share of the input that calls have in common.",
    "shared_input_low_frac": "Low end of the share of the input that calls have in common.",
    "solved_frac": "Solved tasks over tasks of known outcome.",
    "step_count": "Steps of the lever from the reference shape.",
    "subject_kind": "Is the subject a team or a model?",
    "batch_before": "Batch of the month before.",
    "coefficient_set_id": "Set of law coefficients, or the sets of all that the row sums.",
    "unfollowed_cache_write_tokens": "Tokens written to a cache by the last step of a task.",
}
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
    return found | _bridge_meanings() | ends | _TOLD_HERE


def _bridge_meanings() -> dict[str, str]:
    return _ends("facility_energy_{}_kwh", _BRIDGE_STEPS) | {
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
