"""The wheel carries its SQL, templates, reference tables and sample, and works anywhere."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_a_wheel_reports_the_sample_in_an_empty_folder(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel",
         "--directory", str(tmp_path / "dist")],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    templates = tmp_path / "site/pipeline/bundled/templates/overlays"
    assert (templates / "hosting_costs.csv").is_file()
    empty = tmp_path / "empty"
    empty.mkdir()

    made = subprocess.run(
        [sys.executable, "-P", "-m", "pipeline", "report", "--out", "reports", "--json"],
        cwd=empty,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "", "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
        text=True,
    )

    assert json.loads(made.stdout)["month"] == "2026-10"
    assert (empty / "reports/2026-10/manifest.json").is_file()
    assert [path.name for path in empty.iterdir()] == ["reports"]
