"""What an accepted usage row is: its columns, and the rules that a row must not break.

Source files hand over counts as DOUBLE, where NaN says "there, but unreadable", and times where
infinity says the same. So one list of rules sees every fault, and names it. DuckDB holds NaN for
equal to itself and above all numbers: it is never below zero, nor different from its floor.
"""

from dataclasses import dataclass

MOST_TOKENS_PER_REQUEST = 100_000_000
MOST_REQUESTS_PER_ROW = 1_000_000_000
# Sums of products of lengths must stay whole in 64 bits: r · (n + m)² · 6 < 2⁶³.
MOST_SQUARED_TOKENS = 10**18

UNREADABLE_COST_USD = -999_999_999_999

RECORD = (
    ("request_id", "varchar"),
    ("occurred_at", "timestamp"),
    ("bucket_end_at", "timestamp"),
    ("provider", "varchar"),
    ("model_name", "varchar"),
    ("team", "varchar"),
    ("project", "varchar"),
    ("user_id", "varchar"),
    ("api_key_id", "varchar"),
    ("route", "varchar"),
    ("session_id", "varchar"),
    ("task_id", "varchar"),
    ("parent_id", "varchar"),
    ("query_class", "varchar"),
    ("uncached_input_tokens", "double"),
    ("cache_read_tokens", "double"),
    ("cache_write_5m_tokens", "double"),
    ("cache_write_1h_tokens", "double"),
    ("output_tokens", "double"),
    ("reasoning_tokens", "double"),
    ("is_cache_known", "boolean"),
    ("request_count", "double"),
    ("is_batch", "boolean"),
    ("service_tier", "varchar"),
    ("region", "varchar"),
    ("effort", "varchar"),
    ("status", "varchar"),
    ("finish_reason", "varchar"),
    ("is_solved", "boolean"),
    ("latency_s", "double"),
    ("ttft_s", "double"),
    ("running_requests", "double"),  # mean over a bucket, as the serving engine says
    ("billed_cost_usd", "decimal(24, 12)"),
    ("billed_currency", "varchar"),  # that the bill was written in; null: US dollars
    ("charge_kind", "varchar"),
    ("charge_quantity", "double"),
    ("charge_unit", "varchar"),
)

COUNTS = (
    "uncached_input_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "reasoning_tokens",
    "request_count",
)

# Columns that many logs lack. A null takes as long to store as a number, so raw_usage stores them
# from the first file on that has them, and computes them as null before.
RARE = (
    "request_id",
    "bucket_end_at",
    "provider",
    "team",
    "project",
    "user_id",
    "api_key_id",
    "route",
    "session_id",
    "task_id",
    "parent_id",
    "query_class",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
    "request_count",
    "is_batch",
    "service_tier",
    "region",
    "effort",
    "status",
    "finish_reason",
    "is_solved",
    "latency_s",
    "ttft_s",
    "running_requests",
    "billed_cost_usd",
    "billed_currency",
    "charge_kind",
    "charge_quantity",
    "charge_unit",
)

# What a source's select may add: it helps to judge a row, and is not kept.
JUDGED_ONLY = (
    ("is_input_total", "boolean"),  # uncached input was computed as all input minus the cached
    ("total_tokens", "double"),  # what the log says that all input and all output sum to
    ("stated_input_tokens", "double"),  # what it says of all input, beside all parts of it
)

# A row without any usage, such as an empty bucket: set aside, but no fault of the file.
NO_USAGE = "no_usage"
NO_USAGE_SQL = """(
    uncached_input_tokens is null and output_tokens is null
    and billed_cost_usd is null and charge_kind is null
)"""

CACHE_RULE = "cache_exceeds_input"
REASONING_RULE = "reasoning_exceeds_output"
TOTAL_RULE = "parts_differ_from_total"
INPUT_RULE = "parts_differ_from_input"


@dataclass(frozen=True)
class Rule:
    """A way for a row to be bad: its name, the SQL that finds it, and words for people."""

    name: str
    sql: str
    meaning: str


def _any_count(condition: str) -> str:
    return "(" + " or ".join(condition.format(count=count) for count in COUNTS) + ")"


_CACHED = (
    "coalesce(cache_read_tokens, 0)"
    " + coalesce(cache_write_5m_tokens, 0) + coalesce(cache_write_1h_tokens, 0)"
)
_INPUT = f"coalesce(uncached_input_tokens, 0) + {_CACHED}"
_ALL_TOKENS = f"({_INPUT} + coalesce(output_tokens, 0))"
# All input, and all tokens: null where not known.
INPUT_SQL = f"uncached_input_tokens + {_CACHED}"
ALL_TOKENS_SQL = f"{INPUT_SQL} + output_tokens"
# A bucket that does not say its requests: at least one for 10,000 tokens of output.
_REQUESTS = """greatest(
            coalesce(
                request_count,
                case when bucket_end_at is not null then floor(output_tokens / 10000) end,
                1
            ),
            1
        )"""

RULES = (
    Rule("occurred_at_missing", "occurred_at is null", "no time"),
    Rule("occurred_at_unreadable", "isinf(occurred_at)", "a time that cannot be read"),
    Rule(
        "time_outside_2000_2100",
        "occurred_at < '2000-01-01'::timestamp or"
        " (occurred_at >= '2100-01-01'::timestamp and not isinf(occurred_at))",
        "a time before 2000 or from 2100 on",
    ),
    Rule(
        "model_missing",
        "model_name is null and charge_kind is null",
        "no model, and none assumed",
    ),
    Rule(
        "tokens_unreadable",
        _any_count("isnan({count})"),
        "a count that is no number",
    ),
    Rule(
        CACHE_RULE,
        "uncached_input_tokens < 0 and coalesce(is_input_total, false)",
        "more cached than all input",
    ),
    Rule(
        "tokens_negative",
        _any_count("{count} < 0").replace(
            "uncached_input_tokens < 0",
            "(uncached_input_tokens < 0 and not coalesce(is_input_total, false))",
        ),
        "a count below zero",
    ),
    Rule(
        "tokens_not_whole",
        _any_count("{count} <> floor({count})"),
        "a count with a fraction",
    ),
    Rule(
        "tokens_absurd",
        # Few tokens are asked about no further: most rows are.
        f"({_ALL_TOKENS} > {MOST_TOKENS_PER_REQUEST} and not isnan({_ALL_TOKENS}) and ("
        f"{_ALL_TOKENS} > {MOST_TOKENS_PER_REQUEST} * {_REQUESTS} or"
        f" {_ALL_TOKENS} / {_REQUESTS} * {_ALL_TOKENS} > {MOST_SQUARED_TOKENS}))"
        f" or ({_REQUESTS} > {MOST_REQUESTS_PER_ROW} and not isnan({_ALL_TOKENS}))",
        "more than 100 million tokens in a request",
    ),
    Rule(
        "output_tokens_missing",
        "output_tokens is null and charge_kind is null and billed_cost_usd is null",
        "no output tokens",
    ),
    Rule(
        "input_tokens_missing",
        "uncached_input_tokens is null and output_tokens is not null and charge_kind is null",
        "no input tokens",
    ),
    Rule(
        TOTAL_RULE,
        f"not isnan(total_tokens) and total_tokens <> {ALL_TOKENS_SQL}"
        f" and not isnan({ALL_TOKENS_SQL})",
        "input and output that are not the logged total",
    ),
    Rule(
        INPUT_RULE,
        f"not isnan(stated_input_tokens) and stated_input_tokens <> {INPUT_SQL}"
        f" and not isnan({INPUT_SQL})",
        "parts of the input that are not the logged input",
    ),
    Rule(
        REASONING_RULE,
        "not isnan(reasoning_tokens) and not isnan(output_tokens)"
        " and reasoning_tokens > output_tokens",
        "more reasoning than output",
    ),
    Rule(
        "bucket_ends_before_start",
        "isfinite(occurred_at) and bucket_end_at < occurred_at",
        "a bucket that ends before it starts",
    ),
    Rule("request_count_zero", "request_count = 0", "tokens of no request"),
    Rule(
        "billed_cost_unreadable",
        f"billed_cost_usd = {UNREADABLE_COST_USD}",
        "a bill that is no number",
    ),
    Rule(
        "currency_not_usd",
        "billed_cost_usd is not null and upper(billed_currency) <> 'USD'"
        " and fx_usd_per_unit is null",
        "a bill in another currency than US dollars, and no rate for its month",
    ),
    Rule(
        "billed_cost_negative",
        f"billed_cost_usd < 0 and billed_cost_usd <> {UNREADABLE_COST_USD} and charge_kind is null",
        "a bill below zero (credits need a charge_kind)",
    ),
)


def reject_reasons_sql() -> str:
    """Return the SQL of a row's broken rules, joined by '; ', null where it breaks none.

    Whether any rule is broken is asked first: good rows then never build the text.
    """
    is_bad = "\n        or ".join(f"({rule.sql})" for rule in RULES)
    broken = ",\n        ".join(f"case when {rule.sql} then '{rule.name}' end" for rule in RULES)
    return (
        f"case when {NO_USAGE_SQL} then '{NO_USAGE}'\n    when {is_bad}\n"
        f"    then concat_ws('; ',\n        {broken}) end"
    )
