"""One request without logs: the same tables, the same SQL, one row of usage."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from pipeline import rival_estimate, warehouse
from pipeline.errors import WrongUseError
from pipeline.ingest import contract
from pipeline.ingest.load import create_tables
from pipeline.overlays.model_names import require_model
from pipeline.reference import load_reference, require_gpu, require_stack
from pipeline.settings import Settings

OWN_LAW = "simple"
ARCHITECTURE_NUMBERS = (
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "head_dim",
    "ffn",
    "ffn_matrices",
    "vocab",
    "experts",
    "active_experts",
    "bytes_per_weight",
    "bytes_per_kv_element",
)
# A dense model has the same number in two columns; a change of one moves the other first.
_FOLLOWERS = {"layers": ("attention_layers", "dense_layers"), "ffn": ("dense_ffn",)}
_MOST_GPUS = 1_000_000
_TARGETS = ("int_class_energy", "int_batches", "int_deployments", "int_group_costs")


@dataclass(frozen=True)
class Question:
    """One request to estimate; lengths in tokens."""

    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    batch: float = 1.0
    gpu: str | None = None
    stack: str | None = None
    gpu_count: int | None = None
    law: str = OWN_LAW
    architecture: Mapping[str, str] = field(default_factory=dict)  # what-if: column → value


def estimate(settings: Settings, question: Question) -> dict[str, Any]:
    """Return energy, range, cost and carbon of one request, keys as in the contract.

    By the law of others the keys are the same, what that law does not say is null, and its title,
    source, domain and what it ignores come on top.

    Raises:
        WrongUseError: For an unknown model, GPU or law, impossible lengths, or a request whose
            cache does not fit beside the weights.
    """
    _require_sense(question)
    con = warehouse.connect(None, settings.memory_limit_gb, threads=1)
    load_reference(con, settings)
    create_tables(con)
    model_id = require_model(con, question.model)
    gpu = require_gpu(con, question.gpu) if question.gpu else None
    stack = require_stack(con, question.stack) if question.stack else None
    _change_architecture(con, question, model_id)
    _insert(con, replace(question, gpu=gpu, stack=stack), model_id)
    try:
        warehouse.build(con, (*_TARGETS, *_rival_targets(question)))
    except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise WrongUseError(
            "--arch, --gpus: expected numbers that a model may have, found some whose work cannot "
            f"be counted: {str(error).splitlines()[0]}. Give smaller ones."
        ) from None
    if question.law == OWN_LAW:
        return _answer(con, question, model_id)
    return rival_estimate.by_rival(con, question.law, _answer(con, question, model_id))


def _rival_targets(question: Question) -> tuple[str, ...]:
    return () if question.law == OWN_LAW else ("int_rival_energy",)


def text_of(answer: Mapping[str, Any]) -> str:
    """Return an answer as lines for people."""
    if answer["law"] != OWN_LAW:
        return rival_estimate.text_of(answer)
    cost = answer["list_cost_usd"]
    money = "no list price" if cost is None else f"{cost.normalize():f} USD list price"
    return (
        f"{answer['model_id']} on {answer['gpu_count']} × {answer['gpu']} ({answer['stack']}), "
        f"batch {answer['effective_batch']:g}\n"
        f"  prefill      {answer['prefill_energy_j']:14.6f} J\n"
        f"  KV cache     {answer['kv_cache_energy_j']:14.6f} J\n"
        f"  next token   {answer['next_token_energy_j']:14.6f} J\n"
        f"  law          {answer['energy_j']:14.6f} J  × bias {answer['bias_factor']:.3g}\n"
        f"  GPU energy   {answer['gpu_energy_j']:14.4g} J  "
        f"({answer['energy_low_j']:.4g} to {answer['energy_high_j']:.4g}), "
        f"grade {answer['evidence_grade']}, {answer['coefficient_set_id']}\n"
        f"  facility     {answer['facility_energy_kwh'] * 1000:14.4g} Wh, "
        f"{answer['carbon_gco2e']:.4g} g CO2e, {money}\n"
        f"  {_optimum_text(answer['optimum_output_tokens'])}\n"
    )


def _optimum_text(output_tokens: float | None) -> str:
    if output_tokens is None:
        return "no cache that grows: the longer the answer, the less energy per output token"
    return f"least energy per output token at {output_tokens:.2f} output tokens"


def _require_sense(question: Question) -> None:
    rival_estimate.require_law(question.law)
    if question.input_tokens < 1:
        raise WrongUseError(f"--input {question.input_tokens}: expected at least 1 token.")
    if question.output_tokens < 0:
        raise WrongUseError(f"--output {question.output_tokens}: expected 0 or more tokens.")
    if not 0 <= question.cached_tokens <= question.input_tokens:
        raise WrongUseError(
            f"--cached {question.cached_tokens}: expected 0 to {question.input_tokens} "
            "(the cached tokens are part of the input)."
        )
    total = question.input_tokens + question.output_tokens
    if total > contract.MOST_TOKENS_PER_REQUEST:
        raise WrongUseError(
            f"--input + --output = {total}: expected at most {contract.MOST_TOKENS_PER_REQUEST}."
        )
    if not 1 <= question.batch < float("inf"):
        raise WrongUseError(f"--batch {question.batch:g}: expected 1 or more.")
    if question.gpu_count is not None and not 1 <= question.gpu_count <= _MOST_GPUS:
        raise WrongUseError(
            f"--gpus {question.gpu_count}: expected 1 or more, at most {_MOST_GPUS}."
        )


def _change_architecture(con: duckdb.DuckDBPyConnection, question: Question, model_id: str) -> None:
    """Give the model the numbers of --arch: judge an architecture that nobody has measured."""
    if not question.architecture:
        return
    architecture_id = con.execute(
        "select architecture_id from raw_models where model_id = $model", {"model": model_id}
    ).fetchall()[0][0]
    if architecture_id is None:
        raise WrongUseError(
            f"--arch: the architecture of {model_id} is not public, so it cannot be changed. "
            "Start from an open model."
        )
    for name, value in question.architecture.items():
        if name not in ARCHITECTURE_NUMBERS:
            raise WrongUseError(
                f"--arch: no number '{name}'; expected some of {', '.join(ARCHITECTURE_NUMBERS)}."
            )
        _require_fitting(name, value)
        for column in (*_FOLLOWERS.get(name, ()), name):
            con.execute(
                f"update raw_architectures set {column} = $value where architecture_id = $id "
                f"and ({column} = {name} or $is_own)",
                {"value": value, "id": architecture_id, "is_own": column == name},
            )


def _require_fitting(name: str, text: str) -> None:
    """Refuse a number that no architecture has: all are whole but the bytes of a value."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf") or not (name.startswith("bytes_") or value.is_integer()):
        kind = "a number" if name.startswith("bytes_") else "a whole number"
        raise WrongUseError(f"--arch: {name}={text}; expected {kind} above 0.")


def _insert(con: duckdb.DuckDBPyConnection, question: Question, model_id: str) -> None:
    """Put the question where a log would stand, at the date of the price table."""
    priced_on = con.execute("select max(source_date) from raw_prices").fetchall()[0][0]
    asked_at = dt.datetime.fromisoformat(str(priced_on))
    con.execute(
        "insert into raw_usage by name select 1 as input_id, 1::bigint as source_line, "
        "$at as occurred_at, strftime($at, '%Y-%m') as month, $model as model_name, "
        "$n - $k as uncached_input_tokens, $k as cache_read_tokens, $m as output_tokens, "
        "true as is_cache_known, false as is_duplicate, 'other' as query_class",
        {
            "at": asked_at,
            "model": model_id,
            "n": question.input_tokens,
            "k": question.cached_tokens,
            "m": question.output_tokens,
        },
    )
    con.execute("insert into raw_inputs by name select 1 as input_id, 'estimate' as source_file")
    con.execute("delete from raw_deployments where model_id = $model", {"model": model_id})
    con.execute(
        "insert into raw_deployments values ($model, $gpu, $stack, $gpus, $batch, null)",
        {
            "model": model_id,
            "gpu": question.gpu,
            "stack": question.stack,
            "gpus": question.gpu_count,
            "batch": question.batch,
        },
    )


def _answer(con: duckdb.DuckDBPyConnection, question: Question, model_id: str) -> dict[str, Any]:
    result = con.execute("""
        select
            energy.gpu, energy.stack, energy.coefficient_set_id, energy.batch,
            (select max(gpu_count) from int_deployments) as gpu_count,
            (select bool_and(is_own_set) from int_deployments) as is_own_set,
            energy.prefill_energy_j, energy.kv_cache_energy_j, energy.next_token_energy_j,
            energy.energy_j, energy.bias_factor, energy.gpu_energy_j,
            energy.energy_low_j, energy.energy_high_j,
            energy.optimum_output_tokens, energy.evidence_grade,
            energy.facility_energy_kwh,
            energy.electricity_usd_per_kwh, energy.carbon_gco2e_per_kwh,
            costs.list_cost_usd, batches.batch_max,
            (select min(context_tokens) from int_deployments) as context_tokens
        from int_batches as batches
        inner join int_group_costs as costs using (month)
        left join int_class_energy as energy using (month)
    """)
    names = [column[0] for column in result.description or ()]
    row = dict(zip(names, result.fetchall()[0], strict=True))
    if row["batch"] is None:
        raise WrongUseError(
            f"{model_id}: a request of {question.input_tokens} + {question.output_tokens} tokens "
            f"does not fit: its KV cache leaves room for {max(row['batch_max'], 0):g} requests "
            "beside the weights. Give more --gpus, a larger --gpu, or a shorter request."
        )
    facility_energy_kwh = row["facility_energy_kwh"]
    return {
        "model_id": model_id,
        "gpu": row["gpu"],
        "stack": row["stack"],
        "law": question.law,
        "coefficient_set_id": row["coefficient_set_id"],
        "input_tokens": question.input_tokens,
        "cached_tokens": question.cached_tokens,
        "output_tokens": question.output_tokens,
        "batch": question.batch,
        "effective_batch": row["batch"],
        "gpu_count": row["gpu_count"],
        "prefill_energy_j": row["prefill_energy_j"],
        "kv_cache_energy_j": row["kv_cache_energy_j"],
        "next_token_energy_j": row["next_token_energy_j"],
        "energy_j": row["energy_j"],
        "bias_factor": row["bias_factor"],
        "gpu_energy_j": row["gpu_energy_j"],
        "energy_low_j": row["energy_low_j"],
        "energy_high_j": row["energy_high_j"],
        "optimum_output_tokens": row["optimum_output_tokens"],
        "evidence_grade": row["evidence_grade"],
        "facility_energy_kwh": facility_energy_kwh,
        "list_cost_usd": row["list_cost_usd"],
        "energy_cost_usd": _usd(facility_energy_kwh * row["electricity_usd_per_kwh"]),
        "carbon_gco2e": facility_energy_kwh * row["carbon_gco2e_per_kwh"],
        "is_own_set": row["is_own_set"],
        "is_beyond_context": row["context_tokens"] is not None
        and question.input_tokens + question.output_tokens > row["context_tokens"],
    }


def _usd(value: float) -> str:
    """Return an estimated cost as a decimal string, to a thousandth of a micro-dollar."""
    return f"{value:.9f}"
