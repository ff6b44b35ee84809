"""What providers and clouds bill: costs without token counts, and FOCUS cost rows."""

from pipeline.ingest.sources.source import Source, known_by

_OPENAI_COST_COLUMNS = (
    "start_time",
    "end_time",
    "start_time_iso",
    "end_time_iso",
    "amount_value",
    "amount_currency",
    "quantity",
    "quantity_unit",
    "line_item",
    "user_id",
    "api_key_id",
    "project_id",
)

_ANTHROPIC_COST_COLUMNS = (
    "usage_date_utc",
    "model",
    "workspace",
    "api_key",
    "api_key_id",
    "usage_type",
    "context_window",
    "token_type",
    "cost_usd",
    "cost_type",
    "inference_geo",
    "speed",
)

_FOCUS_COLUMNS = (
    "BilledCost",
    "EffectiveCost",
    "BillingCurrency",
    "BillingAccountId",
    "SubAccountId",
    "ChargePeriodStart",
    "ChargePeriodEnd",
    "ChargeCategory",
    "ChargeDescription",
    "ConsumedQuantity",
    "ConsumedUnit",
    "PricingCategory",
    "ProviderName",
    "ServiceProviderName",
    "RegionId",
    "ResourceId",
    "SkuId",
    "SkuMeter",
    "SkuPriceId",
    "SkuPriceDetails",
    "Tags",
    "x_TokenDirection",
    "x_TokenCacheAction",
    "x_QueryClass",
)

SOURCES = (
    *known_by(
        Source(
            name="openai_costs",
            title="OpenAI costs (API page or dashboard export)",
            containers=("table", "json"),
            signature=("start_time", "amount_value", "amount_currency"),
            columns=_OPENAI_COST_COLUMNS,
            duplicate_key=("request_id",),
        ),
        ("data[].results[].amount.value", "data[].start_time"),
        ("results[].amount.value", "start_time"),
    ),
    *known_by(
        Source(
            name="anthropic_cost_report",
            title="Anthropic cost report page",
            containers=("json",),
            signature=("data[].starting_at", "data[].results[].amount"),
            columns=(),
            duplicate_key=("request_id",),
        ),
        ("starting_at", "results[].amount"),
    ),
    Source(
        name="anthropic_console_cost",
        title="Anthropic console cost export",
        containers=("table",),
        signature=("usage_date_utc", "model", "token_type", "cost_usd"),
        columns=_ANTHROPIC_COST_COLUMNS,
        duplicate_key=("request_id",),
    ),
    Source(
        name="focus",
        title="FOCUS cost rows",
        containers=("table",),
        signature=("BilledCost", "BillingCurrency", "ChargeCategory", "ChargePeriodStart"),
        columns=_FOCUS_COLUMNS,
        duplicate_key=("request_id",),
        input_includes_cache=False,
    ),
)
