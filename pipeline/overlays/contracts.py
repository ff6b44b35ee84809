"""The columns of tables that a company fills itself: what cells hold, and what names a row."""

from dataclasses import dataclass

TOKEN_KINDS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")


@dataclass(frozen=True)
class Field:
    """One column of an overlay table: what its cells hold, and whether they may be empty."""

    name: str
    kind: str
    may_be_empty: bool = False


@dataclass(frozen=True)
class Contract:
    """The columns of a table, what names a row of it, and the days between which a row holds."""

    fields: tuple[Field, ...]
    keys: tuple[str, ...]
    is_dated: bool = False  # rows of one key may follow each other in days, weekdays and hours


_MONTHLY = (Field("month", "month"),)
_DATED = (Field("valid_from", "instant", True), Field("valid_to", "instant", True))
_SOURCE = (Field("source", "text", True),)

# Tables that only a company can fill. An empty model, team or region means all of them.
COMPANY_TABLES: dict[str, Contract] = {
    "contract_rates": Contract(
        (
            Field("provider", "text"),
            Field("model", "text"),
            Field("token_kind", "token_kind"),
            Field("service_tier", "text", True),
            Field("region", "text", True),
            *_DATED,
            Field("usd_per_mtok", "rate", True),
            Field("discount_frac", "frac", True),
            *_SOURCE,
        ),
        ("provider", "model", "token_kind", "service_tier", "region"),
        is_dated=True,
    ),
    "discounts_credits": Contract(
        (
            *_MONTHLY,
            Field("provider", "text"),
            Field("model", "text", True),
            Field("team", "text", True),
            Field("description", "text"),
            Field("usd", "money"),
            *_SOURCE,
        ),
        ("month", "provider", "model", "team", "description"),
    ),
    "commitments": Contract(
        (
            *_MONTHLY,
            Field("provider", "text"),
            Field("model", "text"),
            Field("hours", "number"),
            Field("units", "number"),
            Field("usd", "number"),
            Field("used_frac", "frac", True),
            *_SOURCE,
        ),
        ("month", "provider", "model"),
    ),
    "fx_rates": Contract(
        (
            *_MONTHLY,
            Field("currency", "currency"),
            Field("usd_per_unit", "rate"),
            Field("source", "text"),
        ),
        ("month", "currency"),
    ),
    "taxes": Contract(
        (
            *_MONTHLY,
            Field("provider", "text"),
            Field("usd", "number", True),
            Field("tax_frac", "frac", True),
            Field("description", "text"),
            *_SOURCE,
        ),
        ("month", "provider", "description"),
    ),
    "hosting_costs": Contract(
        (
            *_MONTHLY,
            Field("deployment", "text"),
            Field("gpu", "text"),
            Field("gpu_count", "count"),
            Field("hours", "number"),
            Field("usd", "number"),
            Field("bill_includes_power", "boolean"),
            *_SOURCE,
        ),
        ("month", "deployment", "gpu"),
    ),
}
# Prices of one's own stand beside the list's: unlike other tables of ours they are not inferred.
OWN_PRICES = Contract(
    (
        Field("provider", "text"),
        Field("price_model", "text"),
        Field("token_kind", "one_token_kind"),
        Field("service_tier", "text"),
        Field("input_tokens_from", "whole", True),
        *_DATED,
        Field("utc_time_from", "clock", True),
        Field("utc_time_to", "clock", True),
        Field("days", "weekdays", True),
        Field("usd_per_mtok", "number"),
        *_SOURCE,
        Field("source_date", "instant", True),
    ),
    ("provider", "price_model", "token_kind", "service_tier", "input_tokens_from"),
    is_dated=True,
)
# Of these two columns of a row exactly one is filled.
EITHER = {"contract_rates": ("usd_per_mtok", "discount_frac"), "taxes": ("usd", "tax_frac")}
