"""How much of the month the figures stand on: what is known of requests and tokens."""

import polars as pl

from pipeline.report.numbers import show
from pipeline.report.section import Column, Section, Table
from pipeline.report.sections import columns as c
from pipeline.report.sections import reading as r

_COLUMNS = (
    Column("measure", "What is known", "text", meaning="The fact a request or token has."),
    Column("known_count", "Known", "count", meaning="Requests or tokens with the fact."),
    Column("total_count", "Of", "count", meaning="Requests or tokens of the month."),
    Column("missing_count", "Not known", "count", meaning="The rest."),
    Column("known_frac", "Share", "frac", meaning="Known over all."),
    Column("consequence", "What happens to the rest", "text", meaning="Effect on the figures."),
)
MEASURES = (
    ("Requests with a cost", "priced", "request_count", "Left out of every cost sum."),
    ("Requests with an energy", "measured", "request_count", "Left out of every energy sum."),
    ("Requests of a known model", "known_model", "request_count", "Shown as unmapped."),
    (
        "Requests with a known cache share",
        "cache_known",
        "request_count",
        "Computed without cache; the low end is widened.",
    ),
    (
        "Requests whose class is stated",
        "explicit_class",
        "request_count",
        "Class read from the shape of the request.",
    ),
    ("Requests of a team", "attributed", "request_count", "Shown as unattributed."),
    (
        "Requests of known outcome",
        "known_outcome",
        "request_count",
        "Counted as tasks, never as solved.",
    ),
    ("Output tokens with a cost", "priced", "output_tokens", "Left out of every cost sum."),
    ("Output tokens with an energy", "measured", "output_tokens", "Left out of every energy sum."),
)


_UNRESOLVED = (
    Column("model_name", "Name in the logs", "text", meaning="As logged; no id or alias we know."),
    c.PROVIDER,
    c.REQUESTS,
    Column("input_tokens", "Input", "tokens", "tokens", "Input tokens, cached ones included."),
    Column("output_tokens", "Output", "tokens", "tokens", "Output tokens, reasoning included."),
    Column("token_frac", "Share of tokens", "frac", meaning="Of all tokens of the month."),
    c.COST,
    c.UNPRICED,
    Column(
        "nearest_model_id",
        "Nearest name",
        "text",
        meaning="A suggestion by spelling alone; nothing is computed with it.",
        unknown="none near",
    ),
)
_SUMMED = (
    *("request_count", "input_tokens", "output_tokens", "token_frac", "cost_usd"),
    "unpriced_request_count",
)
_HOW_TO_MAP = (
    "Their energy is unknown. Map them under [model_names] in the settings or in model_names.csv "
    "of the overlay folder, or add them to the catalog."
)


def section(mart: pl.DataFrame, unresolved: pl.DataFrame) -> Section:
    """Return what is known of the requests and tokens of one month.

    Args:
        mart: mart_coverage of the month.
        unresolved: mart_unresolved_models of the month.
    """
    rows = () if mart.is_empty() else tuple(_row(mart, *measure) for measure in MEASURES)
    return Section(
        name="coverage",
        title="Coverage",
        sheet="Coverage",
        question="How much of the month do the figures stand on?",
        statements=(*_statements(rows), *_names(unresolved)),
        tables=_tables(rows, unresolved),
        empty_reason="" if rows else "No accepted request falls in this month.",
    )


def _tables(rows: tuple[r.Row, ...], unresolved: pl.DataFrame) -> tuple[Table, ...]:
    known = Table("coverage", "What is known of the month", _COLUMNS, rows)
    ordered = r.sorted_by(unresolved, "token_frac", "model_name", "provider")
    names = Table(
        "unresolved_models",
        "Names that the catalog does not know",
        _UNRESOLVED,
        r.table_rows(ordered, _UNRESOLVED),
        r.total_row(ordered, _UNRESOLVED, _SUMMED),
        _HOW_TO_MAP,
    )
    return tuple(table for table in (known, names) if table.rows)


def _names(unresolved: pl.DataFrame) -> tuple[str, ...]:
    if unresolved.is_empty():
        return ()
    count = unresolved.get_column("model_name").n_unique()
    part = show(r.known_sum(unresolved, "token_frac"), "frac")
    return (f"Names that the catalog does not know: {count:,}, with {part} of the tokens.",)


def _row(mart: pl.DataFrame, label: str, fact: str, of: str, consequence: str) -> r.Row:
    known, total = (_count(mart, name) for name in (f"{fact}_{of}", of))
    missing = None if known is None or total is None else total - known
    return (label, known, total, missing, r.share(known, total), consequence)


def _count(mart: pl.DataFrame, name: str) -> int | None:
    value = r.known_sum(mart, name)
    return None if value is None else int(value)


def _statements(rows: tuple[r.Row, ...]) -> tuple[str, ...]:
    partial = [(row[4], str(row[0])) for row in rows if isinstance(row[4], float) and row[4] < 1]
    if not rows:
        return ()
    if not partial:
        return ("Every fact is known of every request.",)
    least, label = min(partial)
    return (f"Least known: {label[0].lower()}{label[1:]}, {show(least, 'frac')}.",)
