"""Published traces of inference servers: times and lengths, hardly anything else."""

from pipeline.ingest.sources.source import Source

SOURCES = (
    Source(
        name="azure_trace",
        title="Azure LLM inference trace",
        containers=("table",),
        signature=("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
        columns=("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
        needs=("model",),
    ),
    Source(
        name="mooncake_trace",
        title="Mooncake trace",
        containers=("json",),
        signature=("timestamp", "input_length", "output_length"),
        columns=("timestamp", "input_length", "output_length"),
        needs=("model", "start"),
    ),
)
