"""What `law fit` says of rows that it cannot use."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.errors import BadInputError


def test_rows_left_out_are_told_where_the_rest_is_too_little(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    row = "Qwen/Qwen3-8B,H100-SXM,100,50,1"
    path.write_text(
        f"model,gpu,n_in,n_out,batch,energy_j_req\n{row},100\n{row},nan\n{row},-5\n"
        "\u202eours,H100-SXM,100,50,1,100\n",
        encoding="utf-8",
    )

    ran = CliRunner().invoke(app, ["law", "fit", "--measurements", str(path)])

    assert "2 × left out: a length, batch, time or energy is no number above 0" in ran.stderr
    assert "\ufffdours" in ran.stderr
    assert "\u202e" not in ran.stderr
    with pytest.raises(BadInputError, match="1 rows are too few"):
        raise ran.exception or AssertionError
