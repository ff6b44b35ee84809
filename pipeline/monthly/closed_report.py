"""The report of a closed month: what was issued, to the byte, and whether it is still proven.

Where nothing has moved that the issue rests on, it is built anew and compared. Where the program or
its packages have, a power log was changed, a user was forgotten or a log is not loaded any more,
nothing can be proven by building; the issued files are put in place all the same, with a note.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from pipeline import job, manifest, publish
from pipeline.errors import BadInputError, ClosedMonthError, JoulebookError
from pipeline.ingest.columns import literal
from pipeline.marts import MARTS
from pipeline.monthly import closed_month, verify, workspace
from pipeline.monthly.closed_record import read_record
from pipeline.monthly.months_state import MonthState
from pipeline.settings import Settings
from pipeline.warehouse import CheckResult

Tell = Callable[[str], None]

_PROGRAM = ("method_version", "code", "packages")
_COMPARED = (*_PROGRAM, "settings", "overlays", "measured", "inputs", "outputs")


def report(settings: Settings, state: MonthState, out: Path, tell: Tell) -> job.Finished:
    """Put what was issued of a closed month in place, proven by building it anew where that can.

    Raises:
        BadInputError: Where what was issued is not as it was.
        ClosedMonthError: Where nothing has moved and the month still comes out another; what was
            issued is in place then too.
    """
    thawed = closed_month.thawed(settings, state.month, state.issue)
    folder = closed_month.frozen_of(thawed).folder
    if thawed.lang != settings.lang:
        tell(f"note: {state.issue} was issued with lang = {thawed.lang}, and stays so")
    issued = require_issued(folder)
    why = [*moved_on(issued), *_changed_since(thawed, state, issued)]
    if not why:
        return _proven(thawed, state, out, tell)
    tell(
        f"note: {state.month} is served as issued and not built anew, since {'; '.join(why)}. "
        f"`joulebook restate {state.month}` issues it anew and says what that moves"
    )
    return put_issued(folder, state, out, settings)


def put_issued(folder: Path, state: MonthState, out: Path, settings: Settings) -> job.Finished:
    """Put the issued files in place as they are."""
    target = out / state.month
    publish.require_replaceable(target, settings)
    with publish.building(out, clears=True) as aside:
        shutil.copytree(folder / "report", aside / "report")
        marts = _marts(aside / "report" / "data")
        publish.put_in_place(aside / "report", target)
    issued = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
    warnings = tuple(
        CheckResult(each["name"], each["severity"], "as issued", each["violation_count"], (), ())
        for each in issued["checks"]
        if each["status"] == "warn"
    )
    return job.Finished(state.month, target, issued["run_id"], state.issue, marts, warnings)


def require_issued(folder: Path) -> dict[str, Any]:
    """Return the manifest of an issue.

    Raises:
        BadInputError: Where the issued files are not as they were.
    """
    path = folder / "report" / "manifest.json"
    expected = read_record(folder)["manifest_sha256"]
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != expected:
        raise BadInputError(
            f"{path}: expected the manifest that was issued, found another one or none. Restore "
            "the folder from a backup."
        )
    rows = verify.verify(folder / "report", folder / "report")
    verify.require_sound(folder / "report", [row for row in rows if row["kind"] == "output"])
    return dict(json.loads(path.read_text(encoding="utf-8")))


def moved_on(issued: Mapping[str, Any]) -> list[str]:
    """Return what of the program is not as it was when an issue was made, in words."""
    return _differences(issued, manifest.made_with(), _PROGRAM)


def _changed_since(thawed: Settings, state: MonthState, issued: Mapping[str, Any]) -> list[str]:
    """Return what of the data is known to have changed since an issue was made, in words."""
    try:
        measured = {"measured": manifest.measured_files(thawed)}
        words = _differences({"measured": [], **issued}, measured, ("measured",))
    except JoulebookError as error:
        words = [str(error).rstrip(".")]
    with workspace.opened(workspace.require_workspace(thawed), thawed) as con:
        if missing := closed_month.missing_inputs(con, closed_month.frozen_of(thawed)):
            words.append(f"{missing[0]['name']} as it was then is not loaded")
        if state.has_forgotten:
            words.append("a user of it was forgotten")
    return words


def _proven(thawed: Settings, state: MonthState, out: Path, tell: Tell) -> job.Finished:
    folder = closed_month.frozen_of(thawed).folder
    expected = read_record(folder)["manifest_sha256"]

    def approve(con: duckdb.DuckDBPyConnection, made_folder: Path) -> None:
        made = (made_folder / "manifest.json").read_bytes()
        if hashlib.sha256(made).hexdigest() == expected:
            return
        issued = json.loads((folder / "report" / "manifest.json").read_text("utf-8"))
        words = _differences(issued, json.loads(made), _COMPARED) or ["its manifest"]
        raise ClosedMonthError(
            f"{state.month} is closed as {state.issue}, and built anew today it would not be the "
            f"same: {'; '.join(words)}. What was issued stands in {out / state.month} and "
            f"{folder / 'report'}. `joulebook restate {state.month}` issues it anew with a bridge; "
            f"`joulebook reopen {state.month} --reason …` opens it."
        )

    try:
        return job.make_report(thawed, state.month, out, tell, approve)
    except ClosedMonthError:
        put_issued(folder, state, out, thawed)
        raise


def _marts(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every mart of an issue; none of those that it lacks."""
    marts: dict[str, list[dict[str, Any]]] = {}
    with duckdb.connect() as con:
        for name in MARTS:
            path = folder / f"{name}.parquet"
            marts[name] = []
            if path.exists():
                result = con.execute(f"from read_parquet({literal(str(path))}) order by all")
                names = [column[0] for column in result.description or ()]
                marts[name] = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
    return marts


def _differences(
    issued: Mapping[str, Any], made: Mapping[str, Any], names: Sequence[str]
) -> list[str]:
    return [
        f"{name} ({_first_difference(issued[name], made[name])})"
        for name in names
        if issued[name] != made[name]
    ]


def _first_difference(issued: object, made: object) -> str:
    if isinstance(issued, Mapping) and isinstance(made, Mapping):
        key = next(key for key in (*issued, *made) if issued.get(key) != made.get(key))
        return f"{key} was {issued.get(key)}, is {made.get(key)}"
    if isinstance(issued, Sequence) and isinstance(made, Sequence) and not isinstance(issued, str):
        gone = [each for each in issued if each not in made]
        come = [each for each in made if each not in issued]
        name = (gone or come)[0]
        return str(name.get("name", name) if isinstance(name, Mapping) else name)
    return f"was {issued}, is {made}"
