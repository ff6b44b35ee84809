"""A comparison of policies as lines for a terminal, for readers who know nothing of GPUs too."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.power.answer import Comparison, label
from pipeline.power.commands import NOTE, commands
from pipeline.power.effects import HIGHER, LOWER, NONE, UNDECIDED
from pipeline.power.facts import CERTAINTY, facts, shown
from pipeline.power.rules import power_rules

_METRICS = {"energy_j_per_token": "energy per token", "tokens_per_s": "tokens a second"}


def text_of(found: Comparison) -> str:
    """Return a comparison as plain text."""
    return _joined(
        ("How to read this", _primer()),
        ("What was measured", _cells(found)),
        ("Did the cap bind", _bound(found)),
        (f"What each policy changes against {found.baseline}", _effects(found)),
        ("Settings worth a thought", _front(found)),
        ("How each phase follows the clock", _classes(found)),
        ("What held the clock down", _throttle(found)),
        ("Commands for an operator, not run here", _commands(found)),
    )


def facts_text() -> str:
    """Return what is known without any log of one's own."""
    return _joined(("What papers and public notes say", _facts()))


def effect_words(row: dict[str, Any]) -> str:
    """Return one effect in words, with its interval or the margin within which it is none."""
    if row["reason"] is not None:
        return f"no claim: {row['reason']}"
    change = (
        f"{row['ratio'] - 1:+.1%} ({row['low_ratio'] - 1:+.1%} to {row['high_ratio'] - 1:+.1%})"
    )
    return {
        NONE: f"no effect: {change}, shown to lie within ±{row['margin_frac']:.0%} "
        f"(equivalence test, p {row['p_equivalent']:.2g})",
        LOWER: f"lower: {change}",
        HIGHER: f"higher: {change}",
        UNDECIDED: f"undecided: {change}; neither a difference nor its absence is shown",
    }[row["verdict"]]


def _joined(*parts: tuple[str, Iterator[str]]) -> str:
    return "\n".join(
        line for title, lines in parts for line in (title, *(f"  {each}" for each in lines), "")
    )


def _primer() -> Iterator[str]:
    yield "A GPU first reads the prompt (prefill: much arithmetic, high power), then writes the"
    yield "answer word by word (decode: waits for memory, lower power)."
    yield "A power cap forbids to draw more than so many watts: it does nothing until reached."
    yield "A clock lock makes the GPU count slower: that saves power even where no cap is reached,"
    yield "and costs no speed where memory is what decode waits for."


def _where(row: dict[str, Any]) -> str:
    parts = [row["model"], row["workload"], f"batch {row['batch']:g}" if row["batch"] != 1 else ""]
    return ", ".join([*(part for part in parts if part), row["phase"]])


def _cells(found: Comparison) -> Iterator[str]:
    yield (
        f"{'policy':<24} {'phase':<8} {'runs':>4} {'mean W':>8} {'asked MHz':>10} {'held':>7} "
        f"{'J/token':>10} {'tokens/s':>10}  what"
    )
    for row in found.cells.rows(named=True):
        yield (
            f"{row['policy'][:24]:<24} {row['phase']:<8} {row['run_count']:>4} "
            f"{_number(row['mean_power_w'], '.1f'):>8} "
            f"{_number(row['asked_clock_mhz'], '.0f', 'none'):>10} "
            f"{_number(row['clock_mhz'], '.0f'):>7} "
            f"{_number(row['energy_j_per_token'], '.4g'):>10} "
            f"{_number(row['tokens_per_s'], '.4g'):>10}  {_where(row)}"
        )
    told = sorted(set(found.cells.get_column("phase_basis").to_list()))
    yield f"phases were told by: {', '.join(told)}; asked clocks stand in the names of the files"


def _bound(found: Comparison) -> Iterator[str]:
    rules = power_rules()
    yield (
        f"bound: the draw within {rules.bind_margin_frac:.0%} of the limit and the clock more than "
        f"{rules.clock_drop_frac:.0%} below the baseline's, in {rules.agreement_frac:.0%} of the "
        "runs; the driver's word for a cap is no proof"
    )
    for row in found.cells.rows(named=True):
        yield f"{row['policy']}, {_where(row)}: {row['bound_verdict']} ({row['bound_reason']})"


def _effects(found: Comparison) -> Iterator[str]:
    for row in found.effects.rows(named=True):
        counts = f"{row['run_count']} runs against {row['baseline_run_count']}"
        free = ", none with a moment of the firmware's" if row["is_free_of_firmware"] else ""
        yield (
            f"{row['policy']}, {_where(row)}, {_METRICS[row['metric']]}: {effect_words(row)}"
            + ("" if row["reason"] else f"; {counts}{free}")
        )
    if found.effects.is_empty():
        yield "one policy alone: nothing to hold it against, no claim"


def _front(found: Comparison) -> Iterator[str]:
    yield "no other setting takes less energy a token at the same throughput or more:"
    for row in found.cells.filter("is_on_front").rows(named=True):
        yield (
            f"{_where(row)}: {row['policy']} ({row['energy_j_per_token']:.4g} J a token at "
            f"{row['tokens_per_s']:.4g} tokens a second)"
        )
    if not found.cells.get_column("is_on_front").any():
        yield "no setting has both an energy per token and a throughput"


def _classes(found: Comparison) -> Iterator[str]:
    rules = power_rules()
    yield (
        "our rule, of no paper: elasticity = ln(throughput ratio) / ln(clock ratio) at the lowest "
        f"clock; flat below {rules.flat_elasticity:g}, proportional above "
        f"{rules.proportional_elasticity:g}, else between"
    )
    for row in found.classes.rows(named=True):
        if row["clock_class"] is None:
            yield f"{_where(row)}: unknown, no policy with other work the same lowered the clock"
            continue
        yield (
            f"{_where(row)}: {row['clock_class']} (elasticity {row['elasticity']:.2f} under "
            f"{row['policy']}, clock {row['clock_ratio'] - 1:+.1%}, throughput "
            f"{row['throughput_ratio'] - 1:+.1%})"
        )


def _throttle(found: Comparison) -> Iterator[str]:
    for row in found.cells.filter(pl.col("firmware_s") > 0).rows(named=True):
        yield (
            f"{row['policy']}, {_where(row)}: {row['firmware_s']:.1f} s of low clock far from the "
            f"limit in {row['firmware_run_count']} runs: the firmware's doing, not the policy's"
        )
    for row in found.throttle.rows(named=True):
        yield (
            f"{row['policy']}, {_where(row)}: the log says {row['reason']}, for "
            f"{row['held_s']:.1f} s"
        )
    if found.throttle.is_empty():
        yield "the log names no reason"


def _commands(found: Comparison) -> Iterator[str]:
    for policy in found.policies:
        for do, undo in commands(policy):
            yield f"{label(policy)}: {do}   undo: {undo}"
    yield NOTE


def _facts() -> Iterator[str]:
    for fact in facts():
        setting = " ".join(filter(None, (fact["setting"], fact["setting_unit"])))
        yield (
            f"{fact['gpu'] or 'GPU not known'}, {fact['phase']}, {fact['lever']}"
            f"{f' {setting}' if setting else ''}: {fact['quantity'].replace('_', ' ')} "
            f"{shown(fact)}; {fact['meaning']} [{CERTAINTY[fact['certainty']]}: {fact['source']}]"
        )


def _number(value: float | None, form: str, unknown: str = "unknown") -> str:
    return unknown if value is None else f"{value:{form}}"
