"""How much of a month may be of unknown models or without a price: the limits of the settings."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb

from pipeline.errors import BadInputError
from pipeline.settings import Settings

_SHOWN_NAMES, _SHOWN_LETTERS = 5, 80
_HOW_TO_MAP = (
    "Map them under [model_names] in the settings or in model_names.csv of the overlay folder, or "
    "add them with `joulebook models --add`."
)
_HOW_TO_PRICE = "Log the bill, or map the names to priced models."


def require_within_limits(con: duckdb.DuckDBPyConnection, settings: Settings, month: str) -> None:
    """Stop where more of a month's tokens than allowed have no model or no price.

    Raises:
        BadInputError: With the share, the limit, and the largest names with theirs.
    """
    _require(con, month, "unmapped", settings.max_unmapped_frac)
    _require(con, month, "unpriced", settings.max_unpriced_frac)


def unresolved_notes(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line on the rows of mart_unresolved_models, largest first, where there are any."""
    if not rows:
        return []
    ordered = sorted(rows, key=lambda row: (-(row["token_frac"] or 0), row["model_name"]))
    shown = "; ".join(
        f"{_name(row['model_name'])} at {row['provider']} (tokens {row['token_frac'] or 0:.1%}, "
        f"requests {row['request_count']:,}, nearest name {row['nearest_model_id'] or 'none'})"
        for row in ordered[:_SHOWN_NAMES]
    )
    return [f"not in the catalog, so without energy: {shown}{_rest(len(ordered))}. {_HOW_TO_MAP}"]


_TOKENS = {
    "unmapped": "case when is_known_model then 0 else input_tokens + output_tokens end",
    "unpriced": "unpriced_tokens",
}
_WORDS = {
    "unmapped": ("are of models that the catalog does not know", _HOW_TO_MAP),
    "unpriced": ("have no price and no bill", _HOW_TO_PRICE),
}


def _require(con: duckdb.DuckDBPyConnection, month: str, lack: str, limit: float | None) -> None:
    if limit is None:
        return
    rows = con.execute(
        f"select model_id, provider, {_TOKENS[lack]} as lacking_tokens, "
        "sum(input_tokens + output_tokens) over () as all_tokens "
        "from int_model_coverage where month = $month "
        "order by lacking_tokens desc, model_id, provider",
        {"month": month},
    ).fetchall()
    total = sum(tokens for _, _, tokens, _ in rows)
    if not total or total <= Decimal(str(limit)) * rows[0][3]:
        return
    lacking = [(name, provider, tokens / all_tokens) for name, provider, tokens, all_tokens in rows]
    names = [row for row in lacking if row[2] > 0]
    shown = ", ".join(
        f"{_name(name)} at {provider} {share:.1%}" for name, provider, share in names[:_SHOWN_NAMES]
    )
    what, how = _WORDS[lack]
    raise BadInputError(
        f"month {month}: expected at most max_{lack}_frac = {limit:.2%} of its tokens, but "
        f"{total / rows[0][3]:.2%} {what}: {shown}{_rest(len(names))}. {how}"
    )


def _name(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 1] + "…")


def _rest(count: int) -> str:
    return f" and {count - _SHOWN_NAMES} more" if count > _SHOWN_NAMES else ""
