"""The commands of a workspace: begin it, close and reopen months, show and prove them."""

from pathlib import Path
from typing import Annotated

import typer

from pipeline.commands.parts import (
    ConfigOption,
    JsonOption,
    inert,
    require_month,
    say_made,
    settings_of,
    tell,
)

MonthArgument = Annotated[str, typer.Argument(metavar="YYYY-MM", help="The month.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="Where reports stand.")]
_REPORTS = Path("reports")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command, example in (
        (init, "joulebook init"),
        (close, "joulebook close 2026-10"),
        (reopen, "joulebook reopen 2026-10 --reason 'invoice came late'"),
        (restate, "joulebook restate 2026-10"),
        (status, "joulebook status --max-age 35d"),
        (verify, "joulebook verify reports/2026-10"),
        (forget, "joulebook forget --user u-1042"),
        (schedule, "joulebook schedule cron"),
    ):
        app.command(epilog=f"Example: {example}")(command)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; here.")] = Path(),
) -> None:
    """Begin a workspace: commented settings and templates of your own tables."""
    from pipeline.monthly.workspace import init as begin

    made = begin(folder)
    print(f"{made[0].as_posix()}: settings, and {len(made) - 1} empty tables in overlays/")
    print("next: joulebook ingest PATH … --load")


def close(
    month: MonthArgument,
    config: ConfigOption = None,
    out: OutOption = _REPORTS,
    as_json: JsonOption = False,
) -> None:
    """Issue a month and freeze all it rests on; its report stays the same from then on."""
    from pipeline.monthly import months
    from pipeline.monthly.workspace_run import logged_run

    require_month(month)
    settings = settings_of(config, None, None, sample=False)
    with logged_run(settings, "close", month, tell, calls=True) as run:
        made = months.close(settings, month, out, tell)
        run.take(made)
        say_made(made, as_json=as_json)


def reopen(
    month: MonthArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept.")],
    config: ConfigOption = None,
) -> None:
    """Open a closed month again, with a reason."""
    from pipeline.monthly import months
    from pipeline.monthly.workspace_run import logged_run

    require_month(month)
    settings = settings_of(config, None, None, sample=False)
    with logged_run(settings, "reopen", month, tell, calls=False) as run:
        state = months.reopen(settings, month, reason)
        run.summary = f"{month}: open, last issued as {state.issue}"
    print(inert(run.summary))


def restate(
    month: MonthArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept.")] = "",
    config: ConfigOption = None,
    out: OutOption = _REPORTS,
    as_json: JsonOption = False,
) -> None:
    """Issue a closed month anew, with what moved it by cause."""
    from pipeline import manifest
    from pipeline.monthly import months
    from pipeline.monthly.restate import text_of
    from pipeline.monthly.workspace_run import logged_run

    require_month(month)
    settings = settings_of(config, None, None, sample=False)
    with logged_run(settings, "restate", month, tell, calls=True) as run:
        made, steps = months.restate(settings, month, out, tell, reason)
        run.take(made)
    if as_json:
        answer = {"month": month, "issue": made.issue, "bridge": steps}
        print(manifest.to_json(answer), end="")
        return
    say_made(made, as_json=False)
    print(f"  {made.issue} against the issue before:")
    print("\n".join(text_of(steps)))


def status(
    max_age: Annotated[
        str | None,
        typer.Option(metavar="35d", help="Exit 4 where no month was reported for so long."),
    ] = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the months: rows, issues, who and when, the last run and its checks."""
    from pipeline import manifest
    from pipeline.monthly.status import require_recent, rows_of, text_of

    settings = settings_of(config, None, None, sample=False)
    rows = rows_of(settings)
    if as_json:
        print(manifest.to_json(rows), end="")
    else:
        print(inert_lines(text_of(rows)))
    if max_age is not None:
        require_recent(settings, max_age)


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of one report.")],
    inputs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the logs stand; here if not given."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a report against its manifest: outputs, inputs that are still there, rows in = out."""
    from pipeline import manifest
    from pipeline.monthly.verify import require_sound, text_of
    from pipeline.monthly.verify import verify as looked_at

    rows = looked_at(folder, inputs or Path())
    print(manifest.to_json(rows) if as_json else inert_lines(text_of(folder, rows)) + "\n", end="")
    require_sound(folder, rows)


def forget(
    user: Annotated[str, typer.Option("--user", metavar="ID", help="The user, as logged.")],
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take the id of a user out of every row of the workspace; tokens and money stay."""
    from pipeline import manifest
    from pipeline.monthly.forget import forget as forget_user
    from pipeline.monthly.workspace_run import logged_run

    settings = settings_of(config, None, None, sample=False)
    with logged_run(settings, "forget", None, tell, calls=False) as run:
        answer = forget_user(settings, user)
        run.summary = f"user forgotten in {answer['row_count']:,} rows"
    print(manifest.to_json(answer) if as_json else f"{run.summary}\n", end="")
    if not answer["row_count"]:
        tell("note: no row holds this id as logged; ids are told apart by case")
    for month in answer["closed_months"]:
        tell(f"note: {month} is closed and held rows of them; `joulebook restate {month}` if asked")


def schedule(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="cron, systemd or github.")],
) -> None:
    """Print a schedule to copy: preliminary on day 2, final on day 6, with catch-up."""
    from pipeline.monthly.schedule import text_of

    print(text_of(kind), end="")


def inert_lines(lines: list[str]) -> str:
    """Return lines without signs that would steer a terminal."""
    return "\n".join(inert(line) for line in lines)
