"""The catalog as a reader asks for it: models with their architectures, and a model's prices."""

from typing import Any

from pipeline import warehouse
from pipeline.errors import WrongUseError
from pipeline.price_hours import week_words
from pipeline.reference import load_reference
from pipeline.settings import Settings


def model_rows(settings: Settings) -> list[dict[str, Any]]:
    """Return every model of the catalog, by id, with what its energy rests on."""
    return _query(
        settings,
        """
        select
            stg_models.model_id, stg_models.developer, stg_models.is_open,
            stg_models.architecture_id, stg_models.stand_in_tier,
            stg_architectures.architecture_class, stg_models.context_tokens,
            raw_architectures.stated_total_params_b::double as stated_total_params_b,
            coalesce(raw_architectures.source, raw_models.source) as source
        from stg_models
        inner join raw_models on stg_models.model_id = raw_models.model_id
        left join stg_architectures
            on stg_models.architecture_id = stg_architectures.architecture_id
        left join raw_architectures
            on stg_models.architecture_id = raw_architectures.architecture_id
        order by lower(stg_models.model_id)
        """,
        {},
    )


def price_rows(settings: Settings, name: str) -> list[dict[str, Any]]:
    """Return every dated list price under which `name` may be billed, and own prices beside them.

    An own price holds in place of the list's; `is_disagreement` marks both where they differ for
    the same days, hours and prompt lengths.

    Raises:
        WrongUseError: Where no provider lists that exact name.
    """
    rows = _query(
        settings,
        """
        select
            stg_prices.provider, stg_prices.price_model, stg_prices.service_tier,
            stg_prices.token_kind, stg_prices.input_tokens_from,
            nullif(stg_prices.valid_from, '1900-01-01'::timestamp)::date as valid_from,
            nullif(stg_prices.valid_to, '9999-01-01'::timestamp)::date as valid_to,
            stg_prices.utc_weekday_from, stg_prices.utc_weekday_to,
            stg_prices.utc_minute_from, stg_prices.utc_minute_to,
            stg_prices.usd_per_mtok, stg_prices.is_own,
            exists (
                select 1
                from stg_prices as other
                where
                    other.provider = stg_prices.provider
                    and other.price_model = stg_prices.price_model
                    and other.token_kind = stg_prices.token_kind
                    and other.service_tier = stg_prices.service_tier
                    and other.input_tokens_from = stg_prices.input_tokens_from
                    and other.is_own <> stg_prices.is_own
                    and other.usd_per_mtok <> stg_prices.usd_per_mtok
                    and other.valid_from < stg_prices.valid_to
                    and stg_prices.valid_from < other.valid_to
                    and other.utc_weekday_from < stg_prices.utc_weekday_to
                    and stg_prices.utc_weekday_from < other.utc_weekday_to
                    and other.utc_minute_from < stg_prices.utc_minute_to
                    and stg_prices.utc_minute_from < other.utc_minute_to
            ) as is_disagreement
        from stg_prices
        inner join stg_price_names
            on
                stg_prices.provider = stg_price_names.provider
                and stg_prices.price_model = stg_price_names.price_model
        where stg_price_names.name = lower($name)
        order by all
        """,
        {"name": name},
    )
    if not rows:
        raise WrongUseError(
            f"model {name!r} has no list price under exactly this name; `joulebook models` lists "
            "the catalog, data/reference/price_names.csv the names that have a price."
        )
    return rows


def price_line(row: dict[str, Any]) -> str:
    """Return one price in words: whose, for which tokens, when, how much."""
    when = week_words(row)
    marks = (
        ("  own" if row["is_own"] else "")
        + ("  differs from the list" if row["is_own"] and row["is_disagreement"] else "")
        + ("  own price differs" if row["is_disagreement"] and not row["is_own"] else "")
    )
    return (
        f"{row['provider']}  {row['price_model']}  {row['service_tier']}  {row['token_kind']}  "
        f"from {row['input_tokens_from']:,} input tokens  "
        f"{row['valid_from'] or '…'} to {row['valid_to'] or '…'}"
        f"{when and f'  {when}'}  "
        f"{row['usd_per_mtok'].normalize():f} USD per million{marks}"
    )


def _query(settings: Settings, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    con = warehouse.connect(None, settings.memory_limit_gb, threads=1)
    load_reference(con, settings)
    warehouse.build(con, ("stg_models", "stg_architectures", "stg_prices", "stg_price_names"))
    result = con.execute(sql, parameters)
    names = [column[0] for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
