"""One run at a time in a workspace: an advisory lock that says who holds it."""

import contextlib
import fcntl
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import LockedError, WrongUseError
from pipeline.monthly.workspace import done_by, utc_now

_LOCK = ".joulebook.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a workspace, and clear away what a killed run left.

    The system gives the lock back when its holder ends, however it ends; so what the file says of
    a holder counts only while the lock is held.

    Raises:
        LockedError: Where another run holds it, with its command, process, host and time.
        WrongUseError: Where the folder cannot be written.
    """
    path = folder / _LOCK
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise WrongUseError(f"{path}: cannot be written: {error.strerror}.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LockedError(f"{folder}: {_holder(path)}. Try again when it has ended.") from None
        _clear(folder)  # first, or a full disk would have no room to say who runs
        file.truncate(0)
        holder = {
            "command": " ".join(["joulebook", *sys.argv[1:2]]),
            "process": os.getpid(),
            "done_by": done_by(),
            "since": utc_now().isoformat(),
        }
        with contextlib.suppress(OSError):  # a full disk: others then read that somebody runs
            file.write(json.dumps(holder))
            file.flush()
        yield


def _holder(path: Path) -> str:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        return (
            f"'{said['command']}' runs there as process {said['process']} of {said['done_by']} "
            f"since {said['since']} UTC"
        )
    except (OSError, ValueError, KeyError):
        return "another run has just begun there"


def _clear(folder: Path) -> None:
    for left in (*folder.glob(".building-*"), *(folder / "closed").glob("*/.building-*")):
        shutil.rmtree(left, ignore_errors=True)
