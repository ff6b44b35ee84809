"""Why a cell has no value, in a word: a dash alone would leave a reader guessing.

A section says what null means where it knows; elsewhere the quantity says it, by the unit at the
end of the column's name.
"""

from pipeline.report.numbers import UNKNOWN
from pipeline.report.section import Column

_BY_PART = (  # the first that a column's name holds
    ("per_solved_task", "none solved"),
    ("per_task", "no task"),
    ("saving", "none known"),
    ("saved", "none known"),
    ("quality", "not told"),
    ("architecture_class", "of stand-ins"),
    ("gpu_count", "of stand-ins"),
    ("stand_in_tier", "own shape"),
    ("leave_one_out", "too few architectures"),
    ("refit", "too few rows"),
    ("reasoning_tokens", "not in log"),
    ("cache_read", "not in log"),
    ("cached_frac", "not in log"),
    ("cost_source", "unpriced"),
    ("cost_frac", "unpriced"),
    ("_usd", "unpriced"),
    ("energy", "unmeasured"),
    ("carbon", "unmeasured"),
    ("batch", "unmeasured"),
    ("_frac", "unmeasured"),
    ("_kwh", "unmeasured"),
    ("_j", "unmeasured"),
    ("coefficient_set_id", "unmeasured"),
    ("bias", "unmeasured"),
    ("gpu", "unmeasured"),
    ("stack", "unmeasured"),
)
_OTHERWISE = "none"


def reason_of(column: Column) -> str:
    """Return what stands where a column has no value."""
    if column.unknown != UNKNOWN:
        return column.unknown
    return next((reason for part, reason in _BY_PART if part in column.name), _OTHERWISE)
