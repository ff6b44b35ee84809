"""What a report takes from the power logs of policies."""

from pathlib import Path

from pipeline.ingest.files import find_files
from pipeline.power.policies import RUNS_ENDING
from pipeline.settings import Input, Settings


def policy_paths(settings: Settings) -> list[Path]:
    """Return the power logs of policies that the settings name, one a policy; none if they do not.

    Raises:
        JoulebookError: Where they name files that are not there.
    """
    if settings.power_policies is None:
        return []
    files = find_files([Input(settings.power_policies)], settings.folder)
    return [file.path for file in files if not file.path.name.endswith(RUNS_ENDING)]
