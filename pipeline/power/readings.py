"""What each phase of a run drew, at which clock, under which limit, and for how long held down.

The draw and the clock are medians of the settled readings: those after the first averaging window
of the sensor, and outside of moments in which the firmware pulled the clock down far from the
limit. Energy is all that was drawn, those moments included.
"""

import polars as pl

from pipeline.audit.energy import energy_by_run
from pipeline.audit.rules import Rules, sensor_of
from pipeline.audit.tracks import seconds, tracks_of
from pipeline.power.phases import DECODE, PREFILL, readings_within
from pipeline.power.rules import PowerRules

_RUN = ["run_set", "run_id"]
_SETTLED_AFTER = 3  # windows that a phase must last for its first one to be left out
_ELSE_HELD = "thermal|hw_slowdown|hw_power_brake"


def phase_readings(
    samples: pl.DataFrame, phases: pl.DataFrame, audit: Rules, rules: PowerRules
) -> pl.DataFrame:
    """Return phases with what was read in each.

    Args:
        samples: As `pipeline.ingest.telemetry` reads them.
        phases: As `pipeline.power.phases` cuts them.
        audit: Rules of the integration.
        rules: Rules of moments and of how few readings tell nothing.

    Returns:
        The phases with gpu_name, energy_j, mean_power_w, energy_reason, draw_w, clock_mhz, limit_w,
        reading_count, firmware_s (moments of low clock far from the limit), else_held_s (heat or
        hardware, as the log says), tokens (of the phase), energy_j_per_token, tokens_per_s; null is
        unknown.
    """
    tracks = tracks_of(samples, audit)
    measured = energy_by_run(samples, tracks, phases, audit)
    settled = _settled(samples, phases, rules)
    by_run = settled.group_by(_RUN, maintain_order=True).agg(
        pl.col("gpu_name").drop_nulls().first(),
        *(_median(name, of, rules) for name, of in _MEDIANS.items()),
        pl.col("_is_steady").sum().alias("settled_count"),
        pl.col("_step_s").filter("_is_firmware").sum().alias("firmware_s"),
        pl.col("_step_s")
        .filter(pl.col("throttle_reasons").str.contains(_ELSE_HELD))
        .sum()
        .alias("else_held_s"),
    )
    tokens = (
        pl.when(pl.col("phase") == PREFILL)
        .then(pl.col("input_tokens") - pl.col("cached_tokens"))
        .when(pl.col("phase") == DECODE)
        .then("output_tokens")
        .otherwise(pl.col("input_tokens") - pl.col("cached_tokens") + pl.col("output_tokens"))
    )
    return (
        measured.join(by_run, on=_RUN, how="left")
        .with_columns(pl.when(tokens > 0).then(tokens).alias("tokens"))
        .with_columns(
            (pl.col("energy_j") / pl.col("tokens")).alias("energy_j_per_token"),
            (pl.col("tokens") / pl.col("duration_s")).alias("tokens_per_s"),
        )
        .sort("run_set", "started_at", "run_id")
    )


def throttle_seconds(
    samples: pl.DataFrame, phases: pl.DataFrame, rules: PowerRules
) -> pl.DataFrame:
    """Return model, workload, batch, phase, reason, held_s: how long the log's own words held."""
    settled = _settled(samples, phases, rules)
    kinds = phases.select(*_RUN, "model", "workload", "batch", "phase")
    return (
        settled.filter(pl.col("throttle_reasons") != "")
        .with_columns(pl.col("throttle_reasons").str.split(";").alias("reason"))
        .explode("reason")
        .join(kinds, on=_RUN, how="inner")
        .group_by("model", "workload", "batch", "phase", "reason")
        .agg(pl.col("_step_s").sum().alias("held_s"))
        .sort("model", "workload", "batch", "phase", "reason")
    )


_MEDIANS = {"draw_w": "power_w", "clock_mhz": "sm_clock_mhz", "limit_w": "power_limit_w"}


def _median(name: str, of: str, rules: PowerRules) -> pl.Expr:
    known = pl.col(of).filter("_is_steady").drop_nulls()
    return pl.when(known.len() >= rules.readings_least).then(known.median()).alias(name)


def _settled(samples: pl.DataFrame, phases: pl.DataFrame, rules: PowerRules) -> pl.DataFrame:
    """Return the readings of the phases, which of them are steady, and which are firmware's."""
    window_s = _window_s(samples)
    within = readings_within(samples, phases).with_columns(
        _since(pl.col("sampled_at").shift(-1), pl.col("sampled_at"))
        .over(*_RUN, "gpu")
        .fill_null(0.0)
        .alias("_step_s"),
        (
            (_since(pl.col("sampled_at"), pl.col("started_at")) >= window_s)
            | (pl.col("duration_s") < _SETTLED_AFTER * window_s)
        ).alias("_is_settled"),
        (
            pl.col("sm_clock_mhz")
            < (1 - rules.firmware_drop_frac) * pl.col("sm_clock_mhz").median().over(_RUN)
        )
        .fill_null(False)
        .alias("_is_low"),
    )
    spelled = within.with_columns(pl.col("_is_low").rle_id().over(*_RUN, "gpu").alias("_spell"))
    is_far = pl.col("power_w") < (1 - rules.bind_margin_frac) * pl.col("power_limit_w")
    is_moment = pl.col("_step_s").sum().over(*_RUN, "gpu", "_spell") <= rules.firmware_most_s
    return spelled.with_columns(
        (pl.col("_is_low") & is_far.fill_null(True) & is_moment).alias("_is_firmware")
    ).with_columns((pl.col("_is_settled") & ~pl.col("_is_firmware")).alias("_is_steady"))


def _since(later: pl.Expr, earlier: pl.Expr) -> pl.Expr:
    return seconds(later - earlier)


def _window_s(samples: pl.DataFrame) -> float:
    names = samples.get_column("gpu_name").drop_nulls()
    return sensor_of(str(names[0]) if names.len() else None).window_s
