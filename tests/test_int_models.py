"""Logged names lead to catalog models by exact match, and to a provider and a price."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Book, rows_of

from pipeline.settings import Settings

# Every name the tests ask for: (provider as logged, model as logged).
NAMES = [
    ("", "meta-llama/Llama-3.1-8B"),
    ("", "META-LLAMA/llama-3.1-8b"),
    ("", "gpt-4o-2031-01-31"),
    ("", "gpt-4o-20310131"),
    ("", "gpt-4o@20310131"),
    ("", "gpt-4o-203101"),
    ("", "gpt-4o-mini-mini"),
    ("", "Claude Sonnet 4.5"),
    ("", "claude-4-5-sonnet-20310131"),
    ("openai", "openai/gpt-4o"),
    ("OpenAI", "gpt-4o"),
    ("internal", "internal/meta-llama/Llama-3.1-8B"),
    ("internal", "vllm/meta-llama/Llama-3.1-8B"),
    ("openai", "our-chat"),
    ("", "our-chat"),
    ("openai", "gpt-4.1"),
    ("openai", "gpt-4o-mini"),
    ("openai", "gpt-4o-mini-20310131"),
    ("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
    ("vllm", "meta-llama/Llama-3.1-8B"),
    ("ollama", "meta-llama/Llama-3.1-8B"),
    ("acme", "meta-llama/Llama-3.1-8B"),
    ("", "acme-1"),
]
MAP = {"our-chat": "gpt-4o", "gpt-4.1": "gpt-4o-mini"}


@pytest.fixture(scope="module")
def book(book_of: Callable[..., Book]) -> Book:
    rows = [
        {"provider": provider, "model_name": name, "input_tokens": 9, "output_tokens": 3}
        for provider, name in NAMES
    ]
    return book_of(rows, settings=Settings(model_names=MAP), targets=["int_models"])


def resolved(book: Book, name: str, provider: str = "") -> dict[str, Any]:
    rows = rows_of(book, "select * from int_models")
    [row] = [
        row
        for row in rows
        if (row["logged_provider"], row["logged_model_name"]) == (provider, name)
    ]
    return row


@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        pytest.param("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B", id="as it stands"),
        pytest.param("META-LLAMA/llama-3.1-8b", "meta-llama/Llama-3.1-8B", id="in another case"),
        pytest.param("gpt-4o-2031-01-31", "gpt-4o", id="with a dashed date"),
        pytest.param("gpt-4o-20310131", "gpt-4o", id="with a plain date"),
        pytest.param("gpt-4o@20310131", "gpt-4o", id="with a date after an at sign"),
        pytest.param("Claude Sonnet 4.5", "claude-sonnet-4-5", id="an alias"),
        pytest.param("claude-4-5-sonnet-20310131", "claude-sonnet-4-5", id="an alias with a date"),
    ],
)
def test_a_name_of_the_catalog_is_found(book: Book, name: str, model_id: str) -> None:
    assert resolved(book, name)["model_id"] == model_id


@pytest.mark.parametrize("name", ["gpt-4o-203101", "gpt-4o-mini-mini", "acme-1"])
def test_an_unknown_name_stays_itself(book: Book, name: str) -> None:
    row = resolved(book, name)

    assert (row["model_id"], row["is_known_model"]) == (name, False)


def test_the_providers_own_name_before_the_model_is_dropped(book: Book) -> None:
    assert resolved(book, "openai/gpt-4o", "openai")["model_id"] == "gpt-4o"
    assert (
        resolved(book, "internal/meta-llama/Llama-3.1-8B", "internal")["model_id"]
        == "meta-llama/Llama-3.1-8B"
    )


def test_another_providers_name_before_the_model_is_kept(book: Book) -> None:
    assert not resolved(book, "vllm/meta-llama/Llama-3.1-8B", "internal")["is_known_model"]


def test_the_users_map_names_what_the_catalog_does_not(book: Book) -> None:
    assert resolved(book, "our-chat", "openai")["model_id"] == "gpt-4o"


def test_the_users_map_wins_over_the_catalog(book: Book) -> None:
    assert resolved(book, "gpt-4.1", "openai")["model_id"] == "gpt-4o-mini"


def test_a_mapped_name_has_the_price_of_the_model_it_stands_for(book: Book) -> None:
    assert resolved(book, "gpt-4.1", "openai")["price_model"] == "gpt-4o-mini"
    assert resolved(book, "our-chat")["price_model"] == "gpt-4o"


def test_a_closed_model_without_provider_is_served_by_its_developer(book: Book) -> None:
    assert resolved(book, "Claude Sonnet 4.5")["provider"] == "anthropic"


@pytest.mark.parametrize("name", ["meta-llama/Llama-3.1-8B", "acme-1"])
def test_any_other_model_without_provider_is_self_hosted(book: Book, name: str) -> None:
    assert resolved(book, name)["provider"] == "self-hosted"


def test_a_provider_has_one_name_however_it_is_written(book: Book) -> None:
    name = "anthropic.claude-sonnet-4-5-20250929-v1:0"

    assert resolved(book, name, "bedrock")["provider"] == "aws"
    assert resolved(book, "gpt-4o", "OpenAI")["provider"] == "openai"


@pytest.mark.parametrize(
    ("provider", "kind"),
    [
        ("vllm", "self_hosted"),
        ("ollama", "one_user"),
        ("", "self_hosted"),
        pytest.param("acme", "api", id="an unknown provider is an API"),
    ],
)
def test_the_provider_says_who_runs_the_gpus(book: Book, provider: str, kind: str) -> None:
    assert resolved(book, "meta-llama/Llama-3.1-8B", provider)["hosting_kind"] == kind


@pytest.mark.parametrize(
    ("provider", "name", "price_model"),
    [
        pytest.param("openai", "gpt-4o-mini", "gpt-4o-mini", id="by its name"),
        pytest.param("openai", "gpt-4o-mini-20310131", "gpt-4o-mini", id="without its date"),
        pytest.param("", "Claude Sonnet 4.5", "claude-sonnet-4-5", id="by its model"),
        pytest.param(
            "bedrock",
            "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
            id="as that provider lists it",
        ),
        pytest.param("vllm", "meta-llama/Llama-3.1-8B", None, id="without a list price"),
        pytest.param("", "acme-1", None, id="of an unknown model"),
    ],
)
def test_a_price_is_found(book: Book, provider: str, name: str, price_model: str | None) -> None:
    assert resolved(book, name, provider)["price_model"] == price_model
