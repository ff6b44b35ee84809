"""What the counts of a row must satisfy if its form was understood, and what is said if not.

A log whose words mean something else than its form declares breaks these in row after row, while
every single row still looks like usage.
"""

from dataclasses import dataclass
from typing import Any

import duckdb

from pipeline.errors import BadInputError
from pipeline.ingest import contract
from pipeline.ingest.sources import SOURCE_BY_NAME, Source
from pipeline.settings import Settings

_SHOWN_ROWS = 3


@dataclass(frozen=True)
class Identity:
    """A claim on the counts of a row: the rule that it breaks, and where it can be checked."""

    rule: str
    claim: str  # what holds, in words
    broken: str  # what a row shows that breaks it
    checkable_sql: str


IDENTITIES = (
    Identity(
        contract.TOTAL_RULE,
        "input + output = total",
        "input and output that are not the logged total",
        f"total_tokens is not null and ({contract.ALL_TOKENS_SQL}) is not null",
    ),
    Identity(
        contract.INPUT_RULE,
        "uncached + cached input = input",
        "parts of the input that are not the logged input",
        f"stated_input_tokens is not null and ({contract.INPUT_SQL}) is not null",
    ),
    Identity(
        contract.CACHE_RULE,
        "cached ≤ input",
        "more cached tokens than input",
        "coalesce(is_input_total, false) and uncached_input_tokens is not null"
        " and coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)"
        " + coalesce(cache_write_1h_tokens, 0) > 0",
    ),
    Identity(
        contract.REASONING_RULE,
        "reasoning ≤ output",
        "more reasoning than output",
        "reasoning_tokens is not null and output_tokens is not null",
    ),
)


def checkable_sql() -> str:
    """Return the SQL of which identities a row can be held to: one bit each, in their order."""
    bits = (
        f"case when {each.checkable_sql} then {1 << number} else 0 end"
        for number, each in enumerate(IDENTITIES)
    )
    return f"({' + '.join(bits)})::utinyint"


def checked(con: duckdb.DuckDBPyConnection, input_id: int) -> list[dict[str, Any]]:
    """Return how many rows of a file each identity was checked on, and how many broke it."""
    counts = _counts(con, "identities_checked", input_id)
    broken = _counts(con, "identities_checked, reject_reasons", input_id)
    rows = [
        {
            "identity": each.claim,
            "rule": each.rule,
            "rows_checked": sum(count for bits, count in counts if bits >> number & 1),
            "rows_broken": sum(
                count
                for bits, reasons, count in broken
                if bits >> number & 1 and each.rule in reasons
            ),
        }
        for number, each in enumerate(IDENTITIES)
    ]
    return [row for row in rows if row["rows_checked"]]


def _counts(con: duckdb.DuckDBPyConnection, keys: str, input_id: int) -> list[tuple[Any, ...]]:
    """Count the rows that can be checked by keys, only bad ones where the reasons are a key."""
    is_bad = " and reject_reasons is not null" if "reject_reasons" in keys else ""
    return con.execute(
        f"select {keys}, count(*) from raw_usage "
        f"where input_id = $id and identities_checked > 0{is_bad} group by all",
        {"id": input_id},
    ).fetchall()


def require_kept(
    con: duckdb.DuckDBPyConnection, shown: str, source_name: str, settings: Settings, input_id: int
) -> None:
    """Stop where so many rows break an identity that the form must be another dialect.

    The limits are those of bad rows, but the share is one of the rows that can be checked: where
    few rows are cached, few can show what the word for input means.

    Raises:
        BadInputError: Naming the identity, what the form declares, and rows that contradict it.
    """
    for found in checked(con, input_id):
        broken, can = found["rows_broken"], found["rows_checked"]
        if broken < settings.max_bad_rows or broken <= settings.max_bad_frac * can:
            continue
        identity = next(each for each in IDENTITIES if each.rule == found["rule"])
        source = SOURCE_BY_NAME[source_name]
        raise BadInputError(
            f"{shown}: wrong dialect? {identity.rule}: expected {identity.claim} as the form "
            f"'{source.title}' declares ({meaning(source)}), found {identity.broken} in "
            f"{broken:,} of {can:,} rows that can be checked: "
            f"{_counterexamples(con, input_id, identity)}. If this log counts otherwise, name its "
            "columns as the general form does (uncached_input_tokens, cache_read_tokens, "
            "output_tokens); if the rows are damaged, mend them or raise max_bad_frac in the "
            "settings."
        )


def meaning(source: Source) -> str:
    """Say what a form's words for input and output count."""
    cache = "includes" if source.input_includes_cache else "excludes"
    reasoning = "includes" if source.output_includes_reasoning else "excludes"
    return f"input {cache} cached tokens, output {reasoning} reasoning"


def _counterexamples(con: duckdb.DuckDBPyConnection, input_id: int, identity: Identity) -> str:
    rows = con.execute(
        f"""
        select
            source_line, {contract.INPUT_SQL},
            coalesce(cache_read_tokens, 0) + coalesce(cache_write_5m_tokens, 0)
            + coalesce(cache_write_1h_tokens, 0),
            output_tokens, reasoning_tokens
        from raw_usage
        where input_id = $id and contains(reject_reasons, $rule)
        order by source_line
        limit {_SHOWN_ROWS}
        """,
        {"id": input_id, "rule": identity.rule},
    ).fetchall()
    return "; ".join(
        f"line {line}: {_count(total)} input, {_count(cached)} cached, {_count(output)} output"
        + (f", {_count(reasoning)} reasoning" if reasoning is not None else "")
        for line, total, cached, output, reasoning in rows
    )


def _count(value: int | None) -> str:
    return "no" if value is None else f"{value:,}"
