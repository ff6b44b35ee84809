"""Measure the marts of decisions on requests to 60 models, many of them steps of sessions.

What no other mart reads as well counts with them. Seconds are those of the processor over the
number of threads, so that they hold on a busy machine too.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pipeline import warehouse
from pipeline.ingest.load import create_tables, find_files, load
from pipeline.marts import MARTS
from pipeline.reference import load_reference
from pipeline.settings import Input, Settings

MODEL_COUNT, THREADS = 60, 2
DECISIONS = (
    "mart_concurrency", "mart_implied_batch", "mart_model_comparison", "mart_price_reversals",
    "mart_sweet_spot", "mart_items_per_call", "mart_waste", "mart_architecture_levers",
    "mart_agentic", "mart_compaction", "mart_agent_limits", "mart_reasoning_budget",
    "mart_forecast", "mart_budget", "mart_anomalies",
)  # fmt: skip

# Models that providers sell and, up to the number asked for, others on own servers. A session keeps
# its model; every class of work is there.
_LOG_SQL = """
    with
    names as (
        select provider, price_model as model_name, 0 as place from int_catalog_models
        union all
        select 'self-hosted', model_id, 1 from stg_models
        where
            architecture_id is not null
            and model_id not in (select model_id from int_catalog_models)
    ),
    models as (
        select
            provider,
            model_name,
            row_number() over (order by place, provider, model_name) - 1 as model_number
        from names
        qualify model_number < {model_count}
    )
    select log.* replace (
        models.provider as provider,
        models.model_name as model_name,
        ['chat', 'rag', 'summarization', 'agentic', 'other', 'reasoning', 'code_completion',
            'batch_extraction'][(1 + hash(log.request_id) % 8)::bigint] as query_class
    )
    from read_parquet('{log}') as log
    inner join models on hash(coalesce(log.task_id, log.request_id)) % {model_count} = model_number
"""


class Decisions(NamedTuple):
    """What the marts of decisions took."""

    seconds: float
    peak_gb: float


def write_log(path: Path, log: Path) -> None:
    """Write the requests of a log anew, spread over the models."""
    settings = Settings()
    con = warehouse.connect(None, settings.memory_limit_gb, THREADS)
    load_reference(con, settings)
    create_tables(con)
    warehouse.build(con, ["int_catalog_models", "stg_models"])
    sql = _LOG_SQL.format(model_count=MODEL_COUNT, log=log)
    con.execute(f"copy ({sql}) to '{path}' (format parquet)")
    con.close()


def measure(log: Path) -> Decisions:
    """Build all marts but those of decisions, then all, and return by how much longer that took."""
    settings = Settings()
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        spread = Path(folder) / "log.parquet"
        write_log(spread, log)
        con = warehouse.connect(Path(folder) / "bench.duckdb", settings.memory_limit_gb, THREADS)
        load_reference(con, settings)
        load(con, find_files([Input(str(spread))], Path("/")), settings)
        seconds = []
        for marts in ([name for name in MARTS if name not in DECISIONS], MARTS):
            start = time.process_time()
            warehouse.build(con, marts)
            seconds.append(time.process_time() - start)
        con.close()
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB on Linux
    return Decisions((seconds[1] - seconds[0]) / THREADS, peak_kib * 1024 / 1e9)


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[-1]))._asdict()))
