"""The policies of a comparison: a power log each, what ran when, and what was asked of the GPU."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import polars as pl

from pipeline.audit.runs import RunsFile, read_runs
from pipeline.errors import WrongUseError
from pipeline.ingest.telemetry import Telemetry, read_telemetry

_BASELINES = ("none", "default", "baseline", "stock")
_PACKED = re.compile(r"(\.(csv|txt|log|hml|gz|zst))+$", re.IGNORECASE)
_CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*mhz", re.IGNORECASE)
_LIMIT = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)\s*w(?:atts?)?(?![a-z])", re.IGNORECASE)
RUNS_ENDING = "-runs.csv"  # of a log's runs, beside it


@dataclass(frozen=True)
class Policy:
    """One setting of a GPU, and what was measured under it.

    `asked_clock_mhz` and `asked_limit_w` stand in the name of its file, since no log says what was
    asked for; null where the name says nothing.
    """

    name: str
    telemetry: Telemetry
    runs_file: RunsFile | None
    asked_clock_mhz: float | None
    asked_limit_w: float | None

    @property
    def samples(self) -> pl.DataFrame:
        """Return the readings."""
        return self.telemetry.samples

    @property
    def lever(self) -> str:
        """Return what the name says was set: cap, lock, cap and lock, or none."""
        set_ = [
            word
            for word, asked in (("cap", self.asked_limit_w), ("lock", self.asked_clock_mhz))
            if asked is not None
        ]
        return " and ".join(set_) or "none"


def read_policies(
    paths: Sequence[Path],
    runs_paths: Sequence[Path] = (),
    columns: Sequence[str] | None = None,
    zone: str = "UTC",
    runs_zone: str = "UTC",
) -> tuple[Policy, ...]:
    """Return the policies, one a path: a log, or a folder with the logs of one policy.

    Args:
        paths: Logs or folders; the name of each is the policy's.
        runs_paths: The runs of each, in the same order; where fewer are given, `<name>-runs.csv`
            beside a log or `*runs.csv` in a folder, if there.
        columns: As `read_telemetry` has it.
        zone: Of logs that tell none.
        runs_zone: Of runs that tell none.

    Raises:
        WrongUseError: Where a path is not there, two policies have one name, or there are more runs
            than policies.
        JoulebookError: Where a log or runs file cannot be read.
    """
    if len(runs_paths) > len(paths):
        raise WrongUseError(
            f"--runs: expected at most one for each --telemetry, found {len(runs_paths)} for "
            f"{len(paths)}."
        )
    policies = []
    for path, told in zip_longest(paths, runs_paths):
        if not path.exists():
            raise WrongUseError(f"{path}: no such file or folder. Give --telemetry a power log.")
        logs, beside = _files(path)
        runs = told or beside
        name = path.name if path.is_dir() else _stem(path)
        policies.append(
            Policy(
                name,
                read_telemetry(logs, columns, zone),
                read_runs(runs, runs_zone, has_phases=True) if runs else None,
                _number(_CLOCK, name),
                _number(_LIMIT, name),
            )
        )
    names = [policy.name for policy in policies]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongUseError(
            f"--telemetry: two policies are called {twice[0]!r}; rename one file or folder."
        )
    return tuple(policies)


def baseline_of(policies: Sequence[Policy], told: str | None = None) -> Policy:
    """Return what the others are held against: the told one, one named so, else the first.

    Raises:
        WrongUseError: Where no policy has the told name.
    """
    if told is not None:
        for policy in policies:
            if policy.name == told:
                return policy
        raise WrongUseError(
            f"--baseline {told}: expected one of {', '.join(policy.name for policy in policies)}."
        )
    words = [(policy, re.split(r"[^a-z]+", policy.name.lower())) for policy in policies]
    named = [policy for policy, parts in words if set(parts) & set(_BASELINES)]
    return (named or [policy for policy in policies if policy.lever == "none"] or list(policies))[0]


def _files(path: Path) -> tuple[list[Path], Path | None]:
    """Return the logs of a policy, and its runs where they stand beside them."""
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.is_file())
        runs = [each for each in files if each.name.endswith("runs.csv")]
        logs = [each for each in files if each not in runs and not each.name.startswith(".")]
        if not logs:
            raise WrongUseError(f"{path}: expected power logs in this folder, found none.")
        if len(runs) > 1:
            raise WrongUseError(f"{path}: expected one runs file in this folder, found several.")
        return logs, runs[0] if runs else None
    beside = path.with_name(_stem(path) + RUNS_ENDING)
    return [path], beside if beside.is_file() else None


def _stem(path: Path) -> str:
    return _PACKED.sub("", path.name)


def _number(pattern: re.Pattern[str], name: str) -> float | None:
    found = pattern.search(name)
    return float(found.group(1)) if found else None
