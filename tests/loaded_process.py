"""joulebook in processes of their own, forked from one that has imported everything already."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A line of words starts a child, whose number is the answer; the next line asks for its exit code.
# A child that nobody has asked for keeps its number, so no other process can be killed for it.
_SERVE = """
import importlib, json, os, pkgutil, sys
import pipeline
for module in pkgutil.walk_packages(pipeline.__path__, "pipeline."):
    if not module.name.endswith("__main__") and not module.name.startswith("pipeline.spark"):
        importlib.import_module(module.name)
from pipeline import cli, warehouse
warehouse.macros()
while line := sys.stdin.readline():
    child = os.fork()
    if child == 0:
        sys.argv = ["joulebook", *json.loads(line)]
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        code = 1
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            os._exit(code)
    print(child, flush=True)
    sys.stdin.readline()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class LoadedProcess:
    """A Python with the package imported, from which commands are forked, one at a time."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        """Take the process that forks."""
        self._server = server
        self._child = 0

    def start(self, *words: str) -> None:
        """Start joulebook with these words."""
        self._child = int(self._ask(json.dumps(words)))

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self._child, signal.SIGKILL)

    def wait(self) -> int:
        """Return its exit code once it has ended."""
        return int(self._ask(""))

    def _ask(self, line: str) -> str:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.write(line + "\n")
        self._server.stdin.flush()
        return self._server.stdout.readline()


@contextmanager
def loaded_process(folder: Path) -> Iterator[LoadedProcess]:
    """Open a process whose children run in a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield LoadedProcess(server)
