"""What clouds log and bill: Bedrock's calls, Azure's calls and metrics, FOCUS cost rows."""

import csv
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from source_rows import buckets, fates, form, lines, loaded, table

from pipeline.ingest.load import find_files, load
from pipeline.settings import Input, Settings

Con = duckdb.DuckDBPyConnection


def call(**fields: object) -> dict[str, Any]:
    """Return one record of Bedrock's invocation log."""
    return {
        "schemaType": "ModelInvocationLog",
        "schemaVersion": "1.0",
        "timestamp": "2026-05-02T08:00:00Z",
        "accountId": "123456789012",
        "identity": {"arn": "arn:aws:iam::123456789012:user/x"},
        "region": "us-east-1",
        "requestId": "r1",
        "operation": "Converse",
        "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "input": {"inputBodyJson": {"messages": "SECRET"}, "inputTokenCount": 120},
        "output": {"outputBodyJson": {"stopReason": "end_turn"}, "outputTokenCount": 340},
        **fields,
    }


def metric(name: str, total: object, **fields: object) -> dict[str, object]:
    """Return one row of Azure Monitor's metrics."""
    return {
        "TimeGenerated [UTC]": "2026-05-02T08:00:00Z",
        "MetricName": name,
        "Total": total,
        "ModelDeploymentName": "gpt-4o-prod",
        "ModelName": "gpt-4o",
        "Region": "swedencentral",
        **fields,
    }


CHARGE: dict[str, object] = {
    "BilledCost": "1.5",
    "BillingAccountId": "acct-1",
    "BillingCurrency": "USD",
    "ChargeCategory": "Usage",
    "ChargeDescription": "Input tokens",
    "ChargePeriodStart": "2026-10-01T00:00:00Z",
    "ChargePeriodEnd": "2026-11-01T00:00:00Z",
    "ConsumedQuantity": "500000.0",
    "ConsumedUnit": "Tokens",
    "EffectiveCost": "1.4",
    "PricingCategory": "Standard",
    "ProviderName": "OpenAI",
    "RegionId": "NULL",
    "SkuId": "gpt-5-input",
    "SkuMeter": "Input Tokens",
    "SkuPriceDetails": "",
    "SubAccountId": "proj-a",
    "Tags": '{"team": "support"}',
}


def tokens(quantity: object, direction: str, action: str = "", **fields: object) -> dict[str, Any]:
    """Return one FOCUS row of tokens."""
    details = {"ModelId": "gpt-5", "TokenDirection": direction}
    if action:
        details["TokenCacheAction"] = action
    return {
        **CHARGE,
        "ConsumedQuantity": quantity,
        "SkuPriceDetails": json.dumps(details),
        **fields,
    }


# Bedrock -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        ("cacheReadInputTokenCount", "cacheWriteInputTokenCount"),
        ("cacheReadInputTokens", "cacheWriteInputTokens"),
    ],
)
def test_input_of_bedrock_excludes_the_cache_in_either_spelling(
    con: Con, tmp_path: Path, spelling: tuple[str, str]
) -> None:
    read, written = spelling
    record = call(inferenceRegion="us-west-2", requestMetadata={"team": "search"}, something_new=1)
    record["input"] |= {read: 9_000, written: 60}
    path = lines(tmp_path / "bedrock.jsonl", [record])

    (row,) = loaded(con, path)

    assert form(path) == "bedrock_invocation_log"
    assert buckets(row) == (120, 9_000, 60, None, 340)
    assert row["occurred_at"] == "2026-05-02 08:00:00"
    assert (row["team"], row["region"], row["finish_reason"]) == ("search", "us-west-2", "end_turn")


CONVERSE_CACHE = {"cacheReadInputTokens": 7, "cacheWriteInputTokens": 5}
MESSAGE_CACHE = {"cache_read_input_tokens": 7, "cache_creation_input_tokens": 5}


@pytest.mark.parametrize(
    "body",
    [
        {"usage": CONVERSE_CACHE},
        {"usage": MESSAGE_CACHE},
        [{"chunk": 1}, {"metadata": {"usage": CONVERSE_CACHE}}],
        [{"message": {"usage": MESSAGE_CACHE}}, {"type": "message_stop"}],
    ],
)
def test_cached_tokens_may_stand_in_the_reply_alone(con: Con, tmp_path: Path, body: object) -> None:
    record = call(output={"outputBodyJson": body, "outputTokenCount": 340})

    (row,) = loaded(con, lines(tmp_path / "bedrock.jsonl", [record]))

    assert buckets(row) == (120, 7, 5, None, 340)


@pytest.mark.parametrize(
    ("model_id", "model"),
    [
        (
            "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-20250514-v1:0",
            "anthropic.claude-sonnet-4-20250514-v1:0",
        ),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-pro-v1:0",
            "us.amazon.nova-pro-v1:0",
        ),
        ("arn:aws:bedrock:us-east-1:1:application-inference-profile/xyz",) * 2,
        ("cohere.command-r-plus-v1:0",) * 2,
    ],
)
def test_an_arn_gives_the_model_away_or_stays_for_a_mapping(
    con: Con, tmp_path: Path, model_id: str, model: str
) -> None:
    (row,) = loaded(con, lines(tmp_path / "bedrock.jsonl", [call(modelId=model_id)]))

    assert row["model_name"] == model


def test_bedrock_calls_repeat_fail_embed_and_break(con: Con, tmp_path: Path) -> None:
    failed = call(requestId="r2", errorCode="ThrottlingException", input={}, output={})
    embedding = call(
        requestId="r3",
        modelId="amazon.titan-embed-text-v2:0",
        output={"outputBodyJson": {"embedding": [0.1]}},
    )
    bad = call(requestId="r4", timestamp="<timestamp>")

    rows = loaded(con, lines(tmp_path / "bedrock.jsonl", [call(), call(), failed, embedding, bad]))

    assert fates(rows) == [
        "accepted",
        "duplicate",
        "no_usage",
        "accepted",
        "occurred_at_unreadable",
    ]
    assert (rows[3]["charge_kind"], rows[3]["charge_quantity"]) == ("embeddings", 120)


def test_prompts_in_bedrock_logs_are_not_kept(con: Con, tmp_path: Path) -> None:
    loaded(con, lines(tmp_path / "bedrock.jsonl", [call()]))

    for (name,) in con.execute("select table_name from duckdb_tables()").fetchall():
        found = con.execute(f"select count(*) from {name} as t where t::varchar like '%SECRET%'")
        assert found.fetchall() == [(0,)], name


def test_published_bedrock_calls_are_2140_in_9000_cached_1116_out(con: Con, samples: Path) -> None:
    rows = loaded(con, samples / "logs" / "bedrock_model_invocation_log.jsonl")

    assert fates(rows) == ["accepted"] * 4
    assert [row["is_cache_known"] for row in rows] == [False, False, False, True]
    assert sum(row["uncached_input_tokens"] for row in rows) == 8 + 1_500 + 512 + 120
    assert sum(row["cache_read_tokens"] or 0 for row in rows) == 9_000
    assert sum(row["output_tokens"] for row in rows) == 20 + 500 + 256 + 340


# Azure ---------------------------------------------------------------------------------------


def azure_call(properties: object) -> dict[str, object]:
    return {
        "time": "2026-05-02T08:00:01.1234567Z",
        "category": "RequestResponse",
        "operationName": "ChatCompletions_Create",
        "durationMs": 2_315,
        "correlationId": "c1",
        "location": "swedencentral",
        "properties": properties,
    }


def test_azure_calls_hold_no_tokens_and_the_note_names_what_does(con: Con, tmp_path: Path) -> None:
    good = azure_call('{"modelName": "gpt-4o", "responseLength": 1810}')
    path = lines(tmp_path / "azure.jsonl", [good, azure_call("{broken"), azure_call(None)] * 9)
    told: list[str] = []

    load(con, find_files([Input(str(path))], Path("/")), Settings(), told.append)

    found = con.execute("select reject_reasons, model_name, count(*) from raw_usage group by all")
    assert sorted(found.fetchall(), key=str) == [
        ("no_usage", "gpt-4o", 9),
        ("no_usage", None, 18),
    ]
    (note,) = (text for text in told if text.startswith("note: "))
    assert "no token counts" in note
    assert "ProcessedPromptTokens" in note


def test_a_real_azure_call_is_recognised_and_set_aside(con: Con, samples: Path) -> None:
    path = samples / "logs" / "azure_openai_requestresponse_shape.jsonl"

    (row,) = loaded(con, path)

    assert form(path) == "azure_openai_requests"
    assert row["reject_reasons"] == "no_usage"
    assert (row["occurred_at"], row["latency_s"]) == ("2026-05-02 08:00:01.123456", 2.315)


@pytest.mark.parametrize(
    "names",
    [
        ("ProcessedPromptTokens", "GeneratedTokens", "AzureOpenAIRequests"),
        ("InputTokens", "OutputTokens", "ModelRequests"),
        ("Processed Prompt Tokens", "Generated Completion Tokens", "Azure OpenAI Requests"),
    ],
)
def test_metrics_of_one_minute_make_one_bucket_under_old_and_new_names(
    con: Con, tmp_path: Path, names: tuple[str, str, str]
) -> None:
    rows = [metric(name, total) for name, total in zip(names, (1_530, 452, 3), strict=True)]
    path = table(tmp_path / "metrics.csv", [*rows, metric("TokenTransaction", 1_982)])

    (row,) = loaded(con, path)

    assert form(path) == "azure_openai_metrics"
    assert buckets(row) == (1_530, None, None, None, 452)
    assert (row["request_count"], row["model_name"], row["route"]) == (3, "gpt-4o", "gpt-4o-prod")
    assert (row["occurred_at"], row["bucket_end_at"]) == (
        "2026-05-02 08:00:00",
        "2026-05-02 08:01:00",
    )
    assert row["is_cache_known"] is False


def test_metrics_under_both_names_are_not_added_and_split_ones_are(
    con: Con, tmp_path: Path
) -> None:
    rows = [
        metric("ProcessedPromptTokens", 1_000, StatusCode="200"),
        metric("ProcessedPromptTokens", 500, StatusCode="408"),
        metric("InputTokens", 1_500, StatusCode=""),
        metric("CachedPromptTokens", 600, StatusCode=""),
        metric("GeneratedTokens", 452, StatusCode=""),
    ]

    (row,) = loaded(con, table(tmp_path / "metrics.csv", rows))

    assert buckets(row) == (900, 600, None, None, 452)


def test_deployments_and_times_are_buckets_of_their_own(con: Con, tmp_path: Path) -> None:
    names = ("InputTokens", "OutputTokens")
    american = {"TimeGenerated [UTC]": "5/2/2026, 9:00:00.000 PM", "TimeGrain": "PT1H"}
    rows = [metric(name, 10, TimeGrain="PT1H") for name in names]
    rows += [metric(name, 20, ModelDeploymentName="b", TimeGrain="PT1H") for name in names]
    rows += [metric(name, 30, **american) for name in names]
    rows += [metric(name, 0, ModelDeploymentName="idle", TimeGrain="PT1H") for name in names]
    rows += [metric(name, "?", ModelDeploymentName="bad", TimeGrain="PT1H") for name in names]

    found = loaded(con, table(tmp_path / "metrics.csv", rows))

    assert [(row["source_line"], row["output_tokens"]) for row in found[:3]] == [
        (2, 10),
        (4, 20),
        (6, 30),
    ]
    assert found[2]["occurred_at"] == "2026-05-02 21:00:00"
    assert found[2]["bucket_end_at"] == "2026-05-02 22:00:00"
    assert fates(found) == ["accepted"] * 3 + ["no_usage", "tokens_unreadable"]


def test_metrics_exported_again_count_once(con: Con, tmp_path: Path) -> None:
    first = [metric("InputTokens", 10), metric("OutputTokens", 1)]
    later = [metric("InputTokens", 12), metric("OutputTokens", 2)]

    rows = loaded(con, table(tmp_path / "1.csv", first), table(tmp_path / "2.csv", later))

    assert fates(rows) == ["duplicate", "accepted"]


def test_published_azure_metrics_are_one_request(con: Con, samples: Path) -> None:
    (row,) = loaded(con, samples / "logs" / "azure_openai_metrics_shape.csv")

    assert buckets(row) == (1_530, None, None, None, 452)
    assert row["request_count"] == 1


# FOCUS ---------------------------------------------------------------------------------------


def test_token_rows_of_one_model_make_one_record_with_all_their_money(
    con: Con, tmp_path: Path
) -> None:
    rows = [
        tokens("500000.0", "Input", "Uncached", BilledCost="1.50"),
        tokens("2000000.0", "Input", "Write", BilledCost="7.50"),
        tokens("10", "Input", "Write", BilledCost="0", SkuMeter="Cache Write 1h Input Tokens"),
        tokens("8000000.0", "Input", "Read", BilledCost="2.40"),
        tokens("1500000.0", "Output", BilledCost="22.50"),
    ]
    path = table(tmp_path / "focus.csv", rows)

    (row,) = loaded(con, path)

    assert form(path) == "focus"
    assert buckets(row) == (500_000, 8_000_000, 2_000_000, 10, 1_500_000)
    assert row["billed_cost_usd"] == "33.900000000000"
    assert (row["model_name"], row["team"], row["project"]) == ("gpt-5", "support", "proj-a")
    assert (row["occurred_at"], row["bucket_end_at"]) == (
        "2026-10-01 00:00:00",
        "2026-11-01 00:00:00",
    )
    assert (row["charge_kind"], row["request_count"], row["region"]) == (None, None, None)


def test_directions_may_have_columns_of_their_own(con: Con, tmp_path: Path) -> None:
    own = {**CHARGE, "SkuId": "gpt-5", "x_TokenDirection": "Input", "x_TokenCacheAction": "Read"}
    other = {**own, "x_TokenDirection": "Output", "x_TokenCacheAction": "", "x_QueryClass": "rag"}
    rows = [{**own, "x_QueryClass": "rag"}, other]

    (row,) = loaded(con, table(tmp_path / "focus.csv", rows))

    assert buckets(row) == (0, 500_000, None, None, 500_000)
    assert (row["model_name"], row["query_class"]) == ("gpt-5", "rag")


def test_all_other_rows_are_charges_as_billed(con: Con, tmp_path: Path) -> None:
    plain = {**CHARGE, "ConsumedUnit": "GB", "ConsumedQuantity": "2.5"}
    rows = [
        plain,
        {**plain, "ChargeCategory": "Tax", "BilledCost": "0.3"},
        {**plain, "ChargeCategory": "Credit", "BilledCost": "-5"},
        {**plain, "BilledCost": "NULL", "EffectiveCost": "1.4"},
        tokens("5", "Input", "Uncached", ConsumedUnit="1000 Tokens"),
    ]

    found = loaded(con, table(tmp_path / "focus.csv", rows))

    assert [(row["charge_kind"], row["billed_cost_usd"]) for row in found] == [
        ("other", "1.500000000000"),
        ("tax", "0.300000000000"),
        ("credit", "-5.000000000000"),
        ("other", "1.400000000000"),
        ("billed_tokens", "1.500000000000"),
    ]
    assert (found[0]["charge_quantity"], found[0]["charge_unit"]) == (2.5, "GB")
    assert fates(found) == ["accepted"] * 5


@pytest.mark.parametrize(
    ("start", "at"),
    [
        ("4/1/25", "2025-04-01 00:00:00"),
        ("12/31/2025", "2025-12-31 00:00:00"),
        ("2024-09-18 22:00:00", "2024-09-18 22:00:00"),
        ("2026-01-01T00:00:00+02:00", "2025-12-31 22:00:00"),
    ],
)
def test_times_of_focus_may_be_american_or_lack_a_zone(
    con: Con, tmp_path: Path, start: str, at: str
) -> None:
    row = {**CHARGE, "ChargePeriodStart": start}

    (found,) = loaded(con, table(tmp_path / "focus.csv", [row]))

    assert (found["occurred_at"], found["reject_reasons"]) == (at, None)


def test_columns_of_newer_versions_and_unknown_ones_do_no_harm(con: Con, tmp_path: Path) -> None:
    newer = {name: cell for name, cell in CHARGE.items() if name not in ("ProviderName", "Tags")}
    newer |= {"ServiceProviderName": "Solora AI", "HostProviderName": "x", "x_Own": "y"}

    (row,) = loaded(con, table(tmp_path / "focus.csv", [newer]))

    assert (row["provider"], row["team"], row["reject_reasons"]) == ("Solora AI", None, None)


def test_focus_rows_exported_again_count_once_and_bad_ones_not_at_all(
    con: Con, tmp_path: Path
) -> None:
    plain = {**CHARGE, "ConsumedUnit": "GB"}
    first = [plain, plain, tokens("5", "Output")]
    euro = {**plain, "BillingCurrency": "EUR"}
    bad = {**plain, "BilledCost": "1,5", "SkuId": "other"}

    rows = loaded(
        con,
        table(tmp_path / "1.csv", first),
        table(tmp_path / "2.csv", [*first, euro, bad]),
    )

    assert sorted(fates(rows)) == [
        *["accepted"] * 3,
        "billed_cost_unreadable",
        "currency_not_usd",
        *["duplicate"] * 3,
    ]


def test_focus_is_read_from_parquet_with_its_own_types(con: Con, tmp_path: Path) -> None:
    path = tmp_path / "focus.parquet"
    duckdb.sql(
        "copy (select 1.5::decimal(10, 4) as BilledCost, 'USD' as BillingCurrency, "
        "'Usage' as ChargeCategory, timestamptz '2026-10-01 00:00:00+00' as ChargePeriodStart, "
        "2.0::double as ConsumedQuantity, 'GB' as ConsumedUnit, map {'team': 'x'} as Tags) "
        f"to '{path}'"
    )

    (row,) = loaded(con, path)

    assert (row["billed_cost_usd"], row["charge_quantity"]) == ("1.500000000000", 2)
    assert (row["occurred_at"], row["reject_reasons"]) == ("2026-10-01 00:00:00", None)


@pytest.mark.slow
def test_our_own_focus_export_is_read_back_as_it_was_written(
    con: Con, tmp_path: Path, log: Callable[..., Path]
) -> None:
    from pipeline.job import make_report

    usage = log(
        [
            {
                "occurred_at": "2026-10-05T10:00:00Z",
                "model_name": "claude-sonnet-4-5",
                "team": "search",
                "input_tokens": 10_000,
                "cache_read_tokens": 6_000,
                "cache_write_1h_tokens": 1_000,
                "output_tokens": 400,
            }
        ]
    )
    settings = Settings(inputs=(Input(str(usage)),), folder=Path("/"))
    made = make_report(settings, "2026-10", tmp_path, lambda text: None)

    (row,) = loaded(con, made.out_dir / "focus.csv")

    assert buckets(row) == (3_000, 6_000, None, 1_000, 400)
    assert (row["provider"], row["model_name"]) == ("anthropic", "claude-sonnet-4-5")
    (cost,) = made.marts["mart_cost_per_task"]
    assert Decimal(row["billed_cost_usd"]) == cost["cost_usd"]


def test_200_real_focus_rows_are_charges_that_sum_to_2_7253408097(con: Con, samples: Path) -> None:
    path = samples / "logs" / "focus10_sample_200rows.csv"
    with path.open(encoding="utf-8-sig") as file:
        billed = sum(Decimal(row["BilledCost"]) for row in csv.DictReader(file))

    rows = loaded(con, path)

    assert fates(rows) == ["accepted"] * 200
    assert {row["charge_kind"] for row in rows} == {"other"}
    assert sum(Decimal(row["billed_cost_usd"]) for row in rows) == billed
    assert billed == Decimal("2.7253408097")


@pytest.mark.parametrize(
    ("name", "expected", "usd"),
    [
        # 1.5 + 7.5 + 2.4 + 22.5
        (
            "focus_draft_ai_prompt_caching.csv",
            (500_000, 8_000_000, 2_000_000, None, 1_500_000),
            "33.9",
        ),
        # 10.5 + 0.2625 + 9
        ("focus12_energy_example_own.csv", (8_400_000, 2_100_000, None, None, 900_000), "19.7625"),
    ],
)
def test_published_token_rows_are_one_record(
    con: Con, samples: Path, name: str, expected: tuple[int | None, ...], usd: str
) -> None:
    (row,) = loaded(con, samples / "logs" / name)

    assert buckets(row) == expected
    assert Decimal(row["billed_cost_usd"]) == Decimal(usd)


@pytest.mark.parametrize(
    ("name", "usd"),
    [
        ("a1", ["200000"]),
        ("a2", ["0", "0", "0"]),
        ("b2", ["0", "0", "0"]),
        ("c", ["3000", "50000"]),
    ],
)
def test_credits_are_billed_when_bought_and_not_when_used(
    con: Con, samples: Path, name: str, usd: list[str]
) -> None:
    rows = loaded(con, samples / "logs" / f"focus12_virtual_currency_{name}.csv")

    assert sorted(Decimal(row["billed_cost_usd"]) for row in rows) == [Decimal(x) for x in usd]
    assert fates(rows) == ["accepted"] * len(usd)
