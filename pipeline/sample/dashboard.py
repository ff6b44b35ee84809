"""The usage export of a direct OpenAI account, in day buckets: a form without requests or money."""

from collections.abc import Iterable
from datetime import UTC, date, datetime

from pipeline.sample import shapes
from pipeline.sample.company import Model
from pipeline.sample.dice import Dice
from pipeline.sample.lines import Line
from pipeline.sample.shapes import Tokens
from pipeline.sample.traffic import Request, days_of, milliseconds, moment_of

_DAY_MS = 24 * 3_600_000
BATCH_MODEL = Model("openai", "gpt-5-mini-2025-08-07", "gpt-5-mini", 0, 0, 110, "none", 1.0)
BOARD_MODEL = Model("openai", "gpt-4o-2024-08-06", "gpt-4o", 0, 0, 0, "blocks", 1.0)
_BATCH_PREFIX, _BOARD_PREFIX = 900, 1_300
_DASHBOARD_COLUMNS = (
    "start_time,end_time,start_time_iso,end_time_iso,project_id,num_model_requests,user_id,"
    "api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens,"
    "input_uncached_tokens,input_text_tokens,output_text_tokens,input_cached_text_tokens,"
    "input_audio_tokens,input_cached_audio_tokens,output_audio_tokens,input_image_tokens,"
    "input_cached_image_tokens,output_image_tokens"
)


def usage_export(days: Iterable[tuple[date, list[Request]]]) -> list[Line]:
    """Return the dashboard's usage export in day buckets; a day without use keeps its times."""
    lines = [Line(_DASHBOARD_COLUMNS, "not_a_row")]
    for day, buckets in days:
        times = _bucket_times(day)
        if not buckets:
            lines.append(Line(times + "," * 20, "rejected", "no_usage"))
        lines += [Line(_dashboard_row(times, bucket), request=bucket) for bucket in buckets]
    return lines


def daily_buckets(month: date) -> list[tuple[date, list[Request]]]:
    """Return each day with its billing buckets; a day without use has none."""
    dice = Dice(f"buckets/{month}")
    return [(day, _buckets_of(dice, day)) for day in days_of(month)]


def _buckets_of(dice: Dice, day: date) -> list[Request]:
    if day.weekday() == 6:
        return []
    found = [_bucket(dice, day, BATCH_MODEL, "batch_extraction", _BATCH_PREFIX, (42, 84))]
    if day.weekday() < 5:
        found.append(_bucket(dice, day, BOARD_MODEL, "summarization", _BOARD_PREFIX, (6, 19)))
    if day.weekday() == 0:  # a second key, so a second row for the same day and model
        found.append(_bucket(dice, day, BOARD_MODEL, "summarization", _BOARD_PREFIX, (2, 6)))
    return found


def _bucket(
    dice: Dice, day: date, model: Model, query_class: str, prefix: int, requests: tuple[int, int]
) -> Request:
    count = dice.whole(*requests)
    parts = [shapes.answers(dice, model, query_class, 1, prefix)[0] for _ in range(count)]
    tokens = Tokens(
        sum(part.uncached for part in parts),
        sum(part.cache_read for part in parts),
        output=sum(part.output for part in parts),
    )
    start_ms = milliseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
    return Request(start_ms, model, "finance-ops", "invoices", "", query_class, False, tokens,
                   request_count=count)  # fmt: skip


def _bucket_times(day: date) -> str:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    end = moment_of(milliseconds(start) + _DAY_MS)
    return (
        f"{milliseconds(start) // 1_000},{milliseconds(end) // 1_000},"
        f"{start.isoformat()},{end.isoformat()}"
    )


def _dashboard_row(times: str, bucket: Request) -> str:
    tokens, is_batch = bucket.tokens, bucket.model == BATCH_MODEL
    uncached, cached = f"{tokens.uncached}.0", f"{tokens.cache_read}.0"
    words = ["proj_sample_invoices", f"{bucket.request_count}.0", "user-sample-01"]
    words += ["key_sample_batch" if is_batch else "key_sample_board", bucket.model.name]
    words += ["TRUE" if is_batch else "FALSE", "default"]
    counts = [f"{tokens.input}.0", f"{tokens.output}.0", cached, uncached, uncached]
    counts += [f"{tokens.output}.0", cached, *["0.0"] * 6]
    return ",".join([times, *words, *counts])
