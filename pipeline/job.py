"""The main job: usage logs in, one finished report folder out, or none at all."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from pipeline import limits, manifest, publish, warehouse
from pipeline.errors import IncompleteInputError
from pipeline.frames.book import book_data, write_requests
from pipeline.frames.calculator import calculator_rows
from pipeline.frames.sections import frames
from pipeline.ingest.load import find_files, load
from pipeline.laws.simple import METHOD_VERSION
from pipeline.marts import MARTS
from pipeline.monthly import workspace, workspace_rows
from pipeline.monthly.workspace_faults import reading
from pipeline.reference import checked_inputs, load_reference
from pipeline.report import page, workbook
from pipeline.report.assemble import InputFile, ReportFacts, build_report
from pipeline.report.language import language_of
from pipeline.settings import Settings, bundled
from pipeline.warehouse import CheckResult

_FEW_ROWS = 20_000  # of usage: below, a second thread costs more than it brings

Tell = Callable[[str], None]
Build = Callable[[duckdb.DuckDBPyConnection, Path, Tell], None]
Approve = Callable[[duckdb.DuckDBPyConnection, Path], None]


@dataclass(frozen=True)
class Finished:
    """A report that stands on disk."""

    month: str
    out_dir: Path
    run_id: str
    issue: str
    marts: dict[str, list[dict[str, Any]]]
    warnings: tuple[CheckResult, ...]


def build_here(con: duckdb.DuckDBPyConnection, folder: Path, tell: Tell) -> None:
    """Build every model with DuckDB, which needs no folder."""
    tell("computing energy and cost")
    warehouse.build(con)


def make_report(
    settings: Settings,
    month: str | None,
    out: Path,
    tell: Tell,
    approve: Approve = lambda con, folder: None,
    build: Build = build_here,
) -> Finished:
    """Build the report of one month, the last in the logs where none is named.

    Everything is made in a folder aside and put in place by one rename, so a reader finds the old
    report or the new one, never half of one. `approve` sees the warehouse and the finished folder
    before that, and may refuse it. `build` makes the models of a warehouse with raw tables, here or
    on another engine, which may keep files in the folder it is given.

    Raises:
        JoulebookError: Where inputs, settings or claims do not hold.
    """
    is_locked = settings.warehouse is not None  # so nobody else is building here
    with publish.building(out, clears=is_locked) as aside:
        return _make_aside(settings, month, out, aside, tell, approve, build)


def _make_aside(
    settings: Settings,
    month: str | None,
    out: Path,
    aside: Path,
    tell: Tell,
    approve: Approve,
    build: Build,
) -> Finished:
    con = warehouse.connect(aside / "warehouse.duckdb", settings.memory_limit_gb)
    try:
        with reading(settings.warehouse) if settings.warehouse else nullcontext():
            checks = build_month_book(
                con,
                settings,
                tell,
                month,
                lambda loaded: build(loaded, aside.absolute() / "models", tell),
                copies_all=False,
            )
        chosen = choose_month(con, month)
        limits.require_within_limits(con, settings, chosen)
        publish.require_replaceable(out / chosen, settings)
        folder = aside / "report"
        run_id = write_report(con, settings, chosen, checks, folder, tell)
        marts = {name: mart_rows(con, name, chosen) for name in MARTS}
        approve(con, folder)
    finally:
        con.close()
    target = out / chosen
    publish.put_in_place(folder, target)
    warnings = tuple(check for check in checks if check.status == "warn")
    return Finished(chosen, target, run_id, manifest.issue(settings), marts, warnings)


def left_out(made: Finished) -> list[str]:
    """Return a line for every file of which rows were set aside or met before, with reasons."""
    files: dict[str, list[str]] = {}
    for row in made.marts["mart_intake"]:
        if row["outcome"] != "accepted":
            why = row["reason"].replace("same request again", "requests met before")
            files.setdefault(row["source_file"], []).append(f"{row['row_count']:,} × {why}")
    return [f"{name}: left out {'; '.join(reasons)}" for name, reasons in sorted(files.items())]


def text_of(made: Finished) -> str:
    """Return the month in one line: where it stands, requests, money, energy with range, carbon."""
    [total] = [row for row in made.marts["mart_month_total"] if row["total_kind"] == "month"]
    cost, energy = total["cost_usd"], total["facility_energy_kwh"]
    low, high = total["facility_energy_low_kwh"], total["facility_energy_high_kwh"]
    money = "no price known" if cost is None else _money(cost)
    power = (
        "energy unknown"
        if energy is None
        else f"{energy:.4g} kWh ({low:.3g} to {high:.3g}), {total['carbon_gco2e'] / 1000:.4g} kg "
        "CO2e"
    )
    return f"{made.out_dir.as_posix()}: {total['request_count']:,} requests, {money}, {power}"


def build_month_book(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    tell: Tell,
    month: str | None = None,
    build: Callable[[duckdb.DuckDBPyConnection], None] = warehouse.build,
    *,
    copies_all: bool = True,
) -> list[CheckResult]:
    """Load the inputs, build every model and prove the claims."""
    load_month(con, settings, tell, month, copies_all=copies_all)
    _use_one_thread_where_small(con)
    _fill_from_power_logs(con, settings, tell)
    build(con)
    checks = warehouse.run_checks(con)
    warehouse.require(checks)
    return checks


def _use_one_thread_where_small(con: duckdb.DuckDBPyConnection) -> None:
    """Let one thread work where there is little usage: others would mostly wait."""
    [(rows,)] = con.execute("select count(*) from raw_usage").fetchall()
    if rows < _FEW_ROWS:
        con.execute("set threads = 1")


def _fill_from_power_logs(con: duckdb.DuckDBPyConnection, settings: Settings, tell: Tell) -> None:
    is_measured = settings.telemetry or settings.runs or settings.fleet_telemetry
    if not (is_measured or settings.power_policies):
        return
    # Here, not above: SciPy takes longer to import than a small report without power logs.
    from pipeline.audit.fill import fill_measured_tables
    from pipeline.power.fill import fill_power_tables

    if is_measured:
        tell("reading power logs")
    for note in (*fill_measured_tables(con, settings), *fill_power_tables(con, settings)):
        tell(f"note: {note}")


def load_month(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    tell: Tell,
    month: str | None = None,
    *,
    copies_all: bool = True,
) -> None:
    """Load the reference tables and the logs: all inputs, or the rows a workspace keeps of a month.

    Unless it copies all, rows of the month before may stay in the workspace and be read there.

    Raises:
        IncompleteInputError: Where there are none.
    """
    if settings.warehouse is not None:
        load_reference(con, settings)
        with workspace.opened(settings.warehouse, settings):
            pass  # one that is newer, or of another zone, is refused; an older one made of today
        for note in workspace_rows.fill(
            con, settings.warehouse, month, settings.frozen, copies_all=copies_all
        ):
            tell(f"note: {note}")
        return
    if not settings.inputs:
        raise IncompleteInputError(
            "settings: expected usage logs, found none. Give --usage PATH, or [[inputs]] tables in "
            "the settings."
        )
    load_reference(con, settings)
    intakes = load(
        con, find_files(checked_inputs(con, settings.inputs), settings.folder), settings, tell
    )
    for intake in intakes:
        if intake.source_format is None:
            tell(f"note: passed over: {intake.reason}")


def choose_month(con: duckdb.DuckDBPyConnection, month: str | None) -> str:
    """Return the month to report.

    Raises:
        IncompleteInputError: Where the logs have no accepted row of it, or none at all.
    """
    months = [
        row[0] for row in con.execute("select month from mart_coverage order by 1").fetchall()
    ]
    if not months:
        outcomes = con.execute(
            "select outcome, reason, sum(row_count) from mart_intake group by all order by 3 desc"
        ).fetchall()
        found = "; ".join(f"{n} rows {what} ({why})" for what, why, n in outcomes) or "no rows"
        raise IncompleteInputError(
            f"inputs: expected usage rows, found none to report: {found}. "
            "`joulebook ingest PATH` shows what is in a file."
        )
    if month is None:
        return str(months[-1])
    if month not in months:
        raise IncompleteInputError(
            f"month {month}: expected usage rows, found none. The logs hold "
            f"{', '.join(months[-12:])}."
        )
    return month


def write_report(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    month: str,
    checks: Sequence[CheckResult],
    folder: Path,
    tell: Tell,
) -> str:
    """Write workbook, page, marts, FOCUS rows and manifest of one month into a new folder.

    Returns the run id, which hashes all that the run read and so is worked out once.
    """
    (folder / "data").mkdir(parents=True)
    for name in MARTS:
        _write_parquet(con, name, month, folder / "data" / f"{name}.parquet")
    write_requests(con, month, folder / "data" / "requests.parquet")
    _write_focus(con, month, settings.time_zone, folder / "focus.csv")
    told = facts(con, settings, month)
    report = build_report(frames(con, checks), month, told)
    language = language_of(settings.lang)
    tell("writing the workbook")
    data = book_data(con, month, folder)
    (folder / f"joulebook-{month}.xlsx").write_bytes(workbook.render(report, data, language))
    tell("writing the page")
    shown = page.render(report, language)
    (folder / "index.html").write_text(shown, encoding="utf-8", newline="\n")
    made = manifest.manifest(con, settings, month, told.run_id, checks, folder)
    (folder / "manifest.json").write_text(manifest.to_json(made), encoding="utf-8", newline="\n")
    return told.run_id


def mart_rows(con: duckdb.DuckDBPyConnection, name: str, month: str) -> list[dict[str, Any]]:
    """Return the rows of one mart for a month, sorted by all columns."""
    result = con.execute(f"{_of_month(con, name)} order by all", {"month": month})
    columns = [column[0] for column in result.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def _money(cost_usd: Decimal) -> str:
    return "< 0.01 USD" if 0 < cost_usd < 0.005 else f"{cost_usd:,.2f} USD"


def _of_month(con: duckdb.DuckDBPyConnection, name: str) -> str:
    columns = con.sql(f"from {name} limit 0").columns
    where = "month = $month" if "month" in columns else "$month is not null"
    return f"select * from {name} where {where}"


def _write_parquet(con: duckdb.DuckDBPyConnection, name: str, month: str, path: Path) -> None:
    con.execute(
        f"copy ({_of_month(con, name)} order by all) to '{path}' (format parquet)",
        {"month": month},
    )


def _write_focus(con: duckdb.DuckDBPyConnection, month: str, zone: str, path: Path) -> None:
    con.execute("set variable export_month = $month", {"month": month})
    for name, first in (("period_start", month), ("period_end", _next_month(month))):
        con.execute(
            f"set variable {name} = (select month_start_text($first, $zone))",
            {"zone": zone, "first": first},
        )
    sql = (bundled("sql/exports") / "focus.sql").read_text(encoding="utf-8")
    con.execute(f"copy ({sql}\n) to '{path}' (format csv, header true)")


def _next_month(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04d}-{number % 12 + 1:02d}"


def facts(con: duckdb.DuckDBPyConnection, settings: Settings, month: str) -> ReportFacts:
    """Return what the report of a month says of the run that makes it."""
    inputs = con.execute(
        "select source_file, content_sha256 from raw_inputs order by input_id"
    ).fetchall()
    return ReportFacts(
        run_id=manifest.run_id(con, settings, month),
        method_version=METHOD_VERSION,
        is_generated_sample=settings.is_generated_sample,
        time_zone=settings.time_zone,
        issue=manifest.issue(settings),
        bridge=settings.frozen.bridge if settings.frozen else (),
        issued_before=settings.issued_before,
        inputs=tuple(InputFile(name, sha256) for name, sha256 in inputs),
        calculator=calculator_rows(settings),
    )
