"""An audit as one JSON value: every table as a list of rows, unknown as null."""

from dataclasses import asdict
from typing import Any

import polars as pl
import polars.selectors as cs

from pipeline.audit.answer import Audit, claims
from pipeline.audit.readings import FORMULAS, QUANTITIES, TOKENS
from pipeline.audit.rules import rules

_RUN_COLUMNS = (
    *("run_set", "run_id", "source_line", "started_at", "ended_at", "duration_s", "gpu", "model"),
    *("category", "input_tokens", "cached_tokens", "output_tokens", "block", "position"),
    *("is_looped", "trapezoid_j", "counter_j", "difference_frac", "counter_reset_count"),
    *("energy_basis", "energy_j", "net_energy_j", "energy_reason", "mean_power_w", "peak_power_w"),
    *("covered_frac", "before_power_w", "after_power_w", "residual_power_w"),
    *("before_temperature_c", "after_temperature_c", "law_j", "law_scale_ratio"),
    "coefficient_set_id",
)


def as_values(found: Audit) -> dict[str, Any]:
    """Return what `joulebook audit --json` prints."""
    reading = found.reading
    aside = found.runs_file.set_aside
    return {
        "run_set": found.runs_file.path.stem,
        "reading": {
            "reference_category": found.reference,
            "formula": FORMULAS[reading.formula],
            "energy": QUANTITIES[reading.quantity][1],
            "tokens": TOKENS[reading.tokens][1],
            "band_frac": reading.band_frac or rules().band_frac,
            "confidence_frac": rules().confidence_frac,
        },
        "gpu": found.served.gpu or None,
        "has_coefficients": found.served.has_coefficients,
        "rows_read": found.runs_file.row_count,
        "rows_accepted": found.measured.height,
        "rows_rejected": aside.height,
        "rejected": aside.to_dicts(),
        "averaging_window_s": found.window_s,
        "averaging_window_seen_s": found.window_seen_s,
        "clocks": asdict(found.clocks),
        "log": rows_of(found.quality),
        "gaps": rows_of(found.gaps),
        "baselines": rows_of(found.baselines),
        "runs": rows_of(found.measured.select(_RUN_COLUMNS)),
        "linearity": rows_of(found.cells),
        "linearity_by_model": rows_of(found.by_model),
        "models": rows_of(found.models.fits),
        "coefficients": rows_of(found.models.coefficients),
        "effects": rows_of(found.effects),
        "blocks": rows_of(found.blocks),
        "confounded": rows_of(found.confounded),
        "looped_run_ids": found.looped.get_column("run_id").to_list(),
        "uncertainty": rows_of(found.budget),
        "findings": rows_of(found.findings),
        "claims": claims(),
    }


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as rows; what is no finite number is unknown."""
    finite = pl.when(cs.float().is_finite()).then(cs.float())
    return frame.with_columns(finite).to_dicts()
