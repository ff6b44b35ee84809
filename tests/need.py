"""Programs that a test needs beside Python."""

import importlib.util
import os
import shutil

import pytest


def need_program(name: str) -> str:
    """Return the path of a program; without it skip, or fail where everything is required."""
    path = shutil.which(name)
    if path is None:
        reason = f"the program {name} is not installed"
        if os.environ.get("JOULEBOOK_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


def need_package(name: str) -> None:
    """Go on where an optional package is there; else skip, or fail where all is required."""
    if importlib.util.find_spec(name) is None:
        reason = f"the package {name} is not installed"
        if os.environ.get("JOULEBOOK_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
