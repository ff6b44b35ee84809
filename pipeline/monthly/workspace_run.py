"""A run of a workspace: the lock around it, a line in its log, and the command after it."""

import json
import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import duckdb

from pipeline.errors import JoulebookError, WrongUseError
from pipeline.job import Finished, text_of
from pipeline.monthly.workspace import SETTINGS, done_by, require_workspace, utc_now
from pipeline.monthly.workspace_lock import locked
from pipeline.publish import disk_fault
from pipeline.settings import Settings

RUNS = "runs"
_WITHOUT_ID = "without-report"


@dataclass
class Run:
    """What is known of a run so far."""

    command: str
    month: str = ""
    run_id: str = _WITHOUT_ID
    issue: str = ""
    summary: str = ""
    warnings: list[str] = field(default_factory=list)  # checks that a report warns of

    def take(self, made: Finished) -> None:
        """Note the report that a run made."""
        self.month, self.run_id, self.issue = made.month, made.run_id, made.issue
        self.summary = text_of(made)
        self.warnings = [check.name for check in made.warnings]


@contextmanager
def logged_run(
    settings: Settings, command: str, month: str | None, tell: Callable[[str], None], *, calls: bool
) -> Iterator[Run]:
    """Hold the workspace for a run and write down what became of it.

    Where it `calls`, the settings' command of success or failure is run at the end.
    """
    if command != "ingest" and not (settings.folder / SETTINGS).exists():
        require_workspace(settings)  # or a folder that is none would get a log and a lock
    run = Run(command, month or "")
    began_at, began = utc_now(), time.perf_counter()
    exit_code = 1
    with locked(settings.folder):
        try:
            with _writing(settings.folder):
                yield run
            exit_code = 0
        except JoulebookError as error:
            exit_code, run.summary = error.exit_code, str(error)
            raise
        finally:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            line = {
                **asdict(run),
                "started_at": began_at.isoformat(),
                "ended_at": utc_now().isoformat(),
                "wall_s": round(time.perf_counter() - began, 3),
                "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
                "peak_memory_bytes": usage.ru_maxrss * 1024,
                "done_by": done_by(),
                "exit_code": exit_code,
            }
            try:
                _append(settings.folder / RUNS, run.run_id, line)
            except OSError as error:  # what became of the run must not be lost over its log
                tell(f"note: {settings.folder / RUNS}: cannot be written: {error.strerror}")
            hook = settings.on_failure if exit_code else settings.on_success
            if calls and hook:
                _call(hook, run, exit_code, tell)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Turn what a disk has against the files of a workspace into one line.

    Raises:
        WrongUseError: Where something could not be written.
    """
    try:
        yield
    except (OSError, duckdb.Error) as error:
        why = disk_fault(error)
        if why is None:
            raise
        raise WrongUseError(
            f"{folder}: cannot be written: {why}. Make room; what was there before is as it was."
        ) from None


def read_runs(folder: Path) -> list[dict[str, object]]:
    """Return every line of the run logs of a workspace, in the order of their ends."""
    lines = [
        json.loads(line)
        for path in (folder / RUNS).glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.endswith("}")  # the last line of a killed run may be cut off
    ]
    return sorted(lines, key=lambda line: (line["ended_at"], line["run_id"]))


def _append(folder: Path, run_id: str, line: dict[str, object]) -> None:
    folder.mkdir(exist_ok=True)
    with (folder / f"{run_id}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _call(command: str, run: Run, exit_code: int, tell: Callable[[str], None]) -> None:
    """Run a command of the settings, whose author runs this program too."""
    told = {
        "JOULEBOOK_COMMAND": run.command,
        "JOULEBOOK_MONTH": run.month,
        "JOULEBOOK_EXIT_CODE": str(exit_code),
        "JOULEBOOK_SUMMARY": " ".join(run.summary.split()),
    }
    done = subprocess.run(command, shell=True, env={**os.environ, **told}, check=False)  # noqa: S602
    if done.returncode:
        tell(f"note: the settings' command {command!r} ended with {done.returncode}")
