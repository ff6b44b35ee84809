"""Figures of power caps and clock locks: power over time, the front, energy by class."""

from collections.abc import Mapping

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Bars, Figure, Lines

_MOST_POLICIES = 4  # with their limits they are at most seven lines
_OF_LOGS = "power logs of the settings"


def figures(frames: Mapping[str, pl.DataFrame]) -> tuple[Figure, ...]:
    """Return the figures that the power logs allow; none without logs."""
    cells = frames["policy_cells"]
    if cells.is_empty():
        return ()
    fronts = (_front(cells, phase) for phase in ("decode", "prefill"))
    return (
        *_power(frames["policy_traces"]),
        *(front for front in fronts if front is not None),
        *_savings(frames["policy_effects"], frames["policy_classes"]),
    )


def _power(traces: pl.DataFrame) -> tuple[Figure, ...]:
    names = sorted(set(traces.get_column("policy").to_list()))[:_MOST_POLICIES]
    drawn = [
        (show(name, "text"), _points(traces.filter(pl.col("policy") == name), "power_w"))
        for name in names
    ]
    limits = traces.drop_nulls("limit_w").filter(pl.col("policy").is_in(names))
    levels = sorted(set(limits.get_column("limit_w").to_list()))[: 7 - len(names)]
    end_s = float(traces.get_column("since_s").max() or 0.0)  # type: ignore[arg-type]
    drawn += [
        (f"limit of {show(level, 'number')} W", ((0.0, level), (end_s, level))) for level in levels
    ]
    return (
        Lines(
            name="power_over_time",
            title="Power over time under each setting, and the limits",
            unit="W",
            over="Seconds since the log began",
            source=f"{_OF_LOGS}, means of spans",
            alt="Line chart of watts over seconds. Where a line of power stays below a limit, that "
            "limit does nothing; where it runs along it, the cap binds.",
            series=tuple(drawn),
            is_linear=True,
        ),
    )


def _points(trace: pl.DataFrame, value: str) -> tuple[tuple[float, float], ...]:
    return tuple(trace.sort("since_s").select("since_s", value).drop_nulls().rows())


def _front(cells: pl.DataFrame, phase: str) -> Lines | None:
    """Return energy per token against speed of a phase, of its configuration with most runs."""
    known = cells.filter(
        pl.col("phase") == phase,
        pl.col("energy_j_per_token").is_not_null() & pl.col("tokens_per_s").is_not_null(),
    )
    if known.is_empty():
        return None
    keys = ["model", "workload", "batch"]
    most = known.group_by(keys).agg(pl.col("run_count").sum())
    first = most.sort(pl.col("run_count") * -1, *keys).head(1)
    chosen = known.join(first.select(keys), on=keys, how="semi", nulls_equal=True)
    rows = chosen.sort("policy").head(7).rows(named=True)
    points = [(float(row["tokens_per_s"]), float(row["energy_j_per_token"])) for row in rows]
    return Lines(
        name=f"power_front_{phase}",
        title=f"Energy per token against speed: {phase}",
        unit="J per token",
        over="Tokens a second",
        source=_OF_LOGS,
        alt="Line chart of one point a setting. Lower is less energy, further right is faster; a "
        "setting with another one below it and to its right is never worth it.",
        series=tuple(
            (f"{show(row['policy'], 'text')}{'' if row['is_on_front'] else ' (not on the front)'}",
             (point,))
            for row, point in zip(rows, points, strict=True)
        ),
        marks=tuple(points),
        is_linear=True,
    )  # fmt: skip


def _savings(effects: pl.DataFrame, classes: pl.DataFrame) -> tuple[Figure, ...]:
    """Return the energy per token by phase and how it follows the clock; bars know no loss."""
    keys = ["model", "workload", "batch", "phase"]
    rows = (
        effects.filter(pl.col("metric") == "energy_j_per_token", pl.col("reason").is_null())
        .join(classes.select(*keys, "clock_class"), on=keys, how="left", nulls_equal=True)
        .sort("clock_class", "phase", "policy", "model", nulls_last=True)
        .head(12)
        .rows(named=True)
    )
    if not rows:
        return ()
    return (
        Bars(
            name="power_savings",
            title="Energy per token against no setting, by how the phase follows the clock",
            unit="times",
            source="policy_effects; whiskers: 95 % intervals",
            alt="Bar chart of a share a setting and phase. 100% is as much as without the setting; "
            "a shorter bar saves, a longer one loses.",
            labels=tuple(
                f"{show(row['policy'], 'text')}, {row['phase']} "
                f"({row['clock_class'] or 'class unknown'})"
                for row in rows
            ),
            series=(("Energy per token", tuple(float(row["ratio"]) for row in rows)),),
            lows=tuple(float(row["low_ratio"]) for row in rows),
            highs=tuple(float(row["high_ratio"]) for row in rows),
            kind="frac",
        ),
    )
