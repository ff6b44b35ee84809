"""Power caps and clock locks: what they do, and what they would save this month."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.power.bound import BOUND
from pipeline.power.commands import NOTE
from pipeline.power.effects import NONE, UNDECIDED
from pipeline.power.facts import CERTAINTY, fact_of, shown
from pipeline.report.numbers import show, show_range
from pipeline.report.section import Section, Table
from pipeline.report.sections import power_columns as columns
from pipeline.report.sections import power_figures as figures
from pipeline.report.sections import reading as r

_METRICS = {"energy_j_per_token": "energy per token", "tokens_per_s": "speed"}
_ASSUMED = {
    "pue_ratio": ("cooling and power supply (PUE)", "×"),
    "electricity_usd_per_kwh": ("tariff", "USD/kWh"),
    "carbon_gco2e_per_kwh": ("grid", "g CO₂e/kWh"),
}
_SHEETS = {"policy_cells": "Power_measured", "policy_facts": "Power_papers"}
_UNPRINTED_COUNT = 2  # whose factor, and why there is none: the sentences say so
PRIMER = (
    "A GPU first reads the prompt (prefill: much arithmetic, high power), then writes the answer "
    "token by token (decode: it waits for memory, lower power). A power cap does nothing until the "
    "draw reaches it. A clock lock makes the GPU count slower, which saves power at any draw and "
    "costs no speed while memory is what it waits for."
)


def section(month: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> Section:
    """Return what caps and locks do.

    Args:
        month: mart_power_policy of the month.
        frames: The tables of policies of `pipeline.measured_tables`, `assumptions`, and the
            reference tables `power_policies` and `power_rules`.
    """
    cells = frames["policy_cells"]
    is_empty = month.is_empty() and cells.is_empty()
    return Section(
        name="power_policy",
        title="Power caps and clock locks",
        sheet="Power_policy",
        question="Would capping power or locking clocks of our own GPUs save energy or money?",
        statements=() if is_empty else _statements(month, frames),
        tables=() if is_empty else _tables(month, frames),
        figures=() if is_empty else figures.figures(frames),
        empty_reason="No model of the month runs on servers of the company, and no power logs of "
        "policies are named: `power_policies` of the settings would fill this."
        if is_empty
        else "",
    )


def _statements(month: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    order = ["gpu", "policy"]
    generated = month.get_column("factor_source").drop_nulls().str.contains("generated").any()
    return (
        PRIMER,
        *(
            ("The power logs are generated, not measured: they show what this section says of real "
             "ones, and are no evidence of anything.",)
            if generated
            else ()
        ),
        *_measured(frames),
        *(
            _month_words(part.sort("phase"), frames)
            for _, part in month.sort(order).group_by(order, maintain_order=True)
        ),
        *((_assumptions(month, frames),) if month.height else ()),
    )  # fmt: skip


def _measured(frames: Mapping[str, pl.DataFrame]) -> tuple[str, ...]:
    """Return what was measured of each setting: the verdict on its cap, and its effects."""
    effects, said = frames["policy_effects"], []
    cells = frames["policy_cells"].filter(~pl.col("is_baseline"))
    keys = ["policy", "model", "workload", "batch", "phase"]
    for cell in cells.sort(keys).rows(named=True):
        of_cell = effects.filter(
            *(pl.col(name).eq_missing(pl.lit(cell[name])) for name in keys)
        ).sort("metric")
        words = "; ".join(_effect(row) for row in of_cell.rows(named=True))
        said.append(
            f"{show(cell['policy'], 'text')}, {cell['phase']}"
            f"{_of_model(cell)}: cap {cell['bound_verdict']} ({show(cell['bound_reason'], 'text')})"
            f"{f'; {words}' if words else ''}."
        )
    return tuple(said)


def _of_model(cell: dict[str, Any]) -> str:
    return f" of {show(cell['model'], 'text')}" if cell["model"] else ""


def _effect(row: dict[str, Any]) -> str:
    metric = _METRICS[row["metric"]]
    if row["reason"] is not None:
        return f"{metric}: no claim, {show(row['reason'], 'text')}"
    change = _change(row["ratio"])
    ends = f"{_change(row['low_ratio'])} to {_change(row['high_ratio'])}"
    if row["verdict"] == NONE:
        margin = show(row["margin_frac"], "frac")
        return f"{metric}: no effect, shown to lie within ±{margin} ({change}, {ends})"
    if row["verdict"] == UNDECIDED:
        return f"{metric}: undecided ({change}, {ends})"
    return f"{metric} {change} ({ends})"


def _change(ratio: float) -> str:
    change = show(ratio - 1, "frac")
    return f"+{change}" if ratio > 1 and not change.startswith("<") else change


def _verdict(policy: str, frames: Mapping[str, pl.DataFrame]) -> str:
    """Return in which phases a setting has no effect on energy, and in which its cap binds."""
    of_policy = pl.col("policy") == policy
    effects = frames["policy_effects"].filter(of_policy, pl.col("metric") == "energy_j_per_token")
    cells = frames["policy_cells"].filter(of_policy)
    said = []
    for phase in ("decode", "prefill"):
        verdicts = set(effects.filter(phase=phase).get_column("verdict").to_list())
        if verdicts == {NONE}:
            margin = show(effects.get_column("margin_frac")[0], "frac")
            said.append(f"no effect in {phase} (shown to lie within ±{margin})")
        if BOUND in cells.filter(phase=phase).get_column("bound_verdict").to_list():
            said.append(f"the cap binds in {phase}")
    return f"{', '.join(said)}; " if said else ""


def _month_words(rows: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> str:
    """Return what one setting does to the month on one GPU."""
    by_phase = {row["phase"]: row for row in rows.rows(named=True)}
    both, decode = by_phase["both"], by_phase["decode"]
    name = f"{show(both['gpu'], 'text')}, {show(both['policy'], 'text')}, this month"
    if decode["electricity_delta_kwh"] is None:
        return f"{name}: unknown, {show(decode['reason'], 'text')}."
    carried = (
        " Its effect was measured on another GPU, so the grade is C."
        if "carried over" in (decode["factor_source"] or "")
        else ""
    )
    verdict = _verdict(both["policy"], frames)
    if both["electricity_delta_kwh"] is None:
        return (
            f"{name}: {verdict}decode {_kwh(decode)}, net {_if_owned(decode)} if the GPUs were "
            f"owned; prefill is unknown, so is the sum.{carried}{_bill(decode)}"
        )
    return (
        f"{name}: {verdict}{_kwh(both)}, of it decode {_kwh(decode)}; net {_if_owned(both)} if "
        f"the GPUs were owned and had capacity to spare.{carried}{_bill(both)}{_capacity(both)}"
    )


def _kwh(row: dict[str, Any]) -> str:
    low, high = row["electricity_delta_low_kwh"], row["electricity_delta_high_kwh"]
    none = "not told from nothing, " if low < 0 < high else ""
    value = show(row["electricity_delta_kwh"], "kwh")
    return f"{none}{value} kWh ({show(low, 'kwh')} to {show(high, 'kwh')})"


def _if_owned(row: dict[str, Any]) -> str:
    value, low, high = (
        show(row[f"electricity_delta_if_owned_{end}usd"], "usd_small")
        for end in ("", "low_", "high_")
    )
    return f"{value} USD ({low} to {high})"


def _bill(row: dict[str, Any]) -> str:
    if row["ownership"] == "no GPU bill":
        return " No GPU bill tells who pays the electricity."
    if row["ownership"] == "rented":
        return " The GPUs are rented and their bill holds the electricity: 0 USD, carbon only."
    return f" On the bill: {show(row['electricity_delta_usd'], 'usd_small')} USD."


def _capacity(row: dict[str, Any]) -> str:
    if row["capacity_delta_usd"] is None:
        return ""
    loss = show(row["break_even_throughput_loss_frac"], "frac")
    return (
        f" Where the GPUs are full, slower work takes "
        f"{show(row['capacity_delta_usd'], 'usd_small')} USD of GPU hours more; the electricity "
        f"saved would pay for a loss of {loss} of the throughput."
    )


def _assumptions(month: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> str:
    table = {row["assumption"]: row for row in frames["assumptions"].rows(named=True)}
    told = [
        f"{words} {show(row['value'], 'number')} {unit}{_ends(row)}"
        for name, (words, unit) in _ASSUMED.items()
        if (row := table.get(name)) is not None
    ]
    sources = sorted({text for text in month.get_column("factor_source").to_list() if text})
    return (
        f"Assumed: {', '.join(told)}; a factor of one model and batch holds for all models of its "
        "GPU; hosts and idle GPUs draw what they drew; GPU hours are shared between the phases by "
        f"energy. Factors from: {'; '.join(show(text, 'text') for text in sources)}."
    )


def _ends(row: dict[str, Any]) -> str:
    if row["low"] == row["high"]:
        return ""
    return f" ({show_range(row['low'], row['high'], 'number')})"


def _tables(month: pl.DataFrame, frames: Mapping[str, pl.DataFrame]) -> tuple[Table, ...]:
    rules = {row["rule"]: float(row["value"]) for row in frames["power_rules"].rows(named=True)}
    effects = frames["policy_effects"].with_columns(pl.col("metric").replace(_METRICS))
    cells = frames["policy_cells"].with_columns(
        pl.when("is_on_front")
        .then(pl.lit("yes"))
        .when(pl.col("is_on_front").is_not_null())
        .then(pl.lit("no"))
        .alias("is_on_front")
    )
    parts = (
        ("power_policy", "The month under each setting", columns.MONTH,
         month.sort("gpu", "policy", "phase"),
         "Against the month as it was. Electricity of a rented GPU hour is a few percent of its "
         "price, so where capacity binds any loss of speed costs more than the power saves."),
        ("policy_cells", "What was measured", columns.CELLS,
         cells.sort("policy", "model", "batch", "phase"), _bound_note(rules)),
        ("policy_effects", "What each setting changes", columns.EFFECTS,
         effects.sort("policy", "model", "batch", "phase", "metric"),
         "Ratios of geometric means, 95 % intervals of Welch's t test. Where moments of the "
         "firmware's lie in nearly all runs, the interval widens by all they can have done."),
        ("policy_classes", "How each phase follows the clock", columns.CLASSES,
         frames["policy_classes"].sort("model", "batch", "phase"), _class_note(rules)),
        ("policy_commands", "Commands for an operator", columns.COMMANDS,
         frames["policy_commands"].sort("line_number"), NOTE),
        ("policy_facts", "What papers and public notes say", columns.FACTS,
         _facts(frames["power_policies"].sort("gpu", "fact")),
         "Of one card, model and software each. What could not be read stays unknown."),
    )  # fmt: skip
    return tuple(
        Table(
            name,
            caption,
            heads,
            r.table_rows(frame, heads),
            note=note,
            sheet=_SHEETS.get(name, ""),
            unprinted_count=_UNPRINTED_COUNT if name == "power_policy" else 0,
        )
        for name, caption, heads, frame, note in parts
        if frame.height
    )


def _bound_note(rules: Mapping[str, float]) -> str:
    return (
        f"Bound: the draw within {show(rules['bind_margin_frac'], 'frac')} of the limit and the "
        f"clock more than {show(rules['clock_drop_frac'], 'frac')} below that without a setting, "
        f"in {show(rules['agreement_frac'], 'frac')} of the runs. The driver's own word for a cap "
        "is no proof. Asked clocks stand in the names of the logs."
    )


def _class_note(rules: Mapping[str, float]) -> str:
    return (
        f"Our rule, of no paper: flat below an elasticity of {rules['flat_elasticity']:g}, "
        f"proportional above {rules['proportional_elasticity']:g}, else between."
    )


def _facts(told: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "gpu": fact["gpu"],
                "phase": fact["phase"],
                "setting": " ".join(
                    filter(None, (fact["lever"], fact["setting"], fact["setting_unit"]))
                ),
                "quantity": fact["quantity"].replace("_", " "),
                "shown": shown(fact),
                "certainty": CERTAINTY[fact["certainty"]],
                "note": fact["meaning"],
                "source": fact["source"],
            }
            for fact in map(fact_of, told.rows(named=True))
        ],
        infer_schema_length=None,
    )
