"""`joulebook explain`: one number back to its log line, prices and coefficients."""

from typing import Annotated

import typer

from pipeline.commands.parts import (
    AssumeOption,
    ConfigOption,
    JsonOption,
    UsageOption,
    inert,
    require_month,
    settings_of,
    tell,
    warn,
)

# What is imported here `joulebook --help` waits for: everything else where it is used.

EXAMPLES = (
    "Examples: joulebook explain chatcmpl-2610005012 · "
    "joulebook explain gateway-2026-10.csv.gz:12 · joulebook explain 'Energy!E10' · "
    "joulebook explain table-team_chargeback:1:cost_usd --usage logs/"
)


def explain(
    asked: Annotated[
        str,
        typer.Argument(
            metavar="REQUEST_ID|CELL",
            help="A request id, or FILE:LINE; a cell of the workbook, such as 'Energy!E10'; a "
            "table or figure of the page with row and column, such as figure-cost_by_cell:1.",
        ),
    ],
    month: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Month; for cells the last in the logs."),
    ] = None,
    usage: UsageOption = None,
    assume: AssumeOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a number back to its log line, prices and coefficients, with the arithmetic."""
    from pipeline import manifest
    from pipeline.explain.answer import explain as explanation_of
    from pipeline.explain.lines import as_json as plain
    from pipeline.explain.text import text_of

    require_month(month)
    settings = settings_of(config, usage, assume)
    if settings.is_generated_sample:
        warn("the logs are the bundled sample, whose data are generated, not real")
    made = explanation_of(settings, asked, month, tell)
    if as_json:
        print(manifest.to_json(plain(made)), end="")
    else:
        print("\n".join(map(inert, text_of(made).split("\n"))), end="")
