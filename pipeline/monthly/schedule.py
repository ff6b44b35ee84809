"""Schedules to copy: the month before is reported on day 2 as preliminary and closed on day 6."""

from pipeline.errors import WrongUseError
from pipeline.settings import bundled


def text_of(kind: str) -> str:
    """Return the schedule of one kind, as it stands in `templates/schedule`.

    Raises:
        WrongUseError: Where there is none of that kind.
    """
    files = sorted(bundled("templates/schedule").glob("*.txt"))
    for file in files:
        if file.stem == kind:
            return file.read_text(encoding="utf-8")
    kinds = ", ".join(file.stem for file in files)
    raise WrongUseError(f"schedule {kind}: expected one of {kinds}.")
