"""The sheets of models: the catalog, its architectures and its list prices, for the calculator."""

import polars as pl

from pipeline.report.workbook.data import BookData
from pipeline.report.workbook.table import DataColumn, DataTable, fact_column

_MODEL_MEANINGS = {
    "model_id": "Model.",
    "developer": "Who makes it.",
    "is_open": "Are its weights published?",
    "is_used": "Did the month use it?",
    "stand_in_tier": "Tier of open models that a closed one is computed with.",
    "context_tokens": "Longest input plus output.",
    "architecture_count": "Architectures behind it: 1, or its stand-ins.",
    "first_architecture_no": "First of them in Data_Architectures; the others follow it.",
    "catalog_no": "Number of the model in the catalog.",
    "source": "Where its shape comes from; of a closed model, that of its first stand-in.",
    "source_date": "Day of the source.",
}
_ARCHITECTURE_MEANINGS = {
    "architecture_no": "Number of the line.",
    "model_id": "Model that it stands for.",
    "architecture_id": "Architecture: the model's own, or a stand-in.",
    "architecture_class": "dense, moe, mla, window or hybrid.",
    "bytes_per_weight": "Bytes of one weight.",
    "layers": "Layers.",
    "experts": "Experts of a layer; 0: none.",
    "active_experts": "Experts that one token passes.",
    "body_params": "Active weights of the layers.",
    "head_params": "Weights of the output head.",
    "fixed_params": "Weights that every pass reads, whatever the batch.",
    "expert_params": "Weights of one expert in all layers.",
    "held_weight_bytes": "Bytes of all weights that the GPUs hold.",
    "attention_flop_per_pair": "Operations of attention for one pair of tokens.",
    "kv_bytes_per_position": "Cache bytes of one position.",
    "state_bytes": "State bytes of one request.",
}
_PRICE_MEANINGS = {
    "catalog_no": "Number of the model in Catalog.",
    "model_id": "Model.",
    "provider": "Whose price it is: the provider in the logs, else the maker.",
    "input_tokens_from": "Prompt length from which the price holds, for the whole request.",
    "uncached_input_usd_per_mtok": "USD a million input tokens.",
    "cache_read_usd_per_mtok": "USD a million input tokens read from a cache.",
    "output_usd_per_mtok": "USD a million output tokens.",
}


def model_table(data: BookData) -> DataTable:
    """Return the catalog, one row a model, those that the month used first."""
    of_stand_in = pl.format("{}, a stand-in: {}", "architecture_id", "source")
    frame = (
        numbered_models(data)
        .with_columns(
            pl.when(pl.col("stand_in_tier").is_null())
            .then("source")
            .otherwise(of_stand_in)
            .alias("source")
        )
        .group_by("model_id", maintain_order=True)
        .agg(
            *(
                pl.col(name).first()
                for name in (
                    *("developer", "is_open", "is_used", "stand_in_tier", "context_tokens"),
                    *("source", "source_date", "catalog_no"),
                )
            ),
            pl.len().cast(pl.Int64).alias("architecture_count"),
            pl.col("architecture_no").min().alias("first_architecture_no"),
        )
    )
    return DataTable(
        "d_model",
        "Catalog",
        "Which models are in the catalog, which of them did the month use, and who says so?",
        _columns(frame, _MODEL_MEANINGS, {"stand_in_tier": "own shape"}),
    )


def architecture_table(data: BookData) -> DataTable:
    """Return the numbers of each architecture behind each model."""
    return DataTable(
        "d_architecture",
        "Data_Architectures",
        "Which numbers of its architecture does the energy of a model follow from?",
        _columns(numbered_models(data), _ARCHITECTURE_MEANINGS, {}),
    )


def list_price_table(data: BookData) -> DataTable:
    """Return the list prices of the catalog at the end of the month; they may be changed."""
    catalog = numbered_models(data).select("model_id", "catalog_no").unique()
    frame = data.frame("list_prices").join(
        catalog, on="model_id", how="inner", maintain_order="left"
    )
    return DataTable(
        "d_list_price",
        "Data_List_prices",
        "What do the catalog's models cost by list price at the end of the month? For Calculator.",
        _columns(frame, _PRICE_MEANINGS, {}),
    )


def numbered_models(data: BookData) -> pl.DataFrame:
    """Return the catalog by architecture, lines and models numbered in their order."""
    frame = data.frame("models").with_row_index("architecture_no", offset=1)
    return frame.with_columns(
        pl.col("architecture_no").cast(pl.Int64),
        pl.col("model_id").rle_id().cast(pl.Int64).add(1).alias("catalog_no"),
    )


def _columns(
    frame: pl.DataFrame, meanings: dict[str, str], unknown: dict[str, str]
) -> tuple[DataColumn, ...]:
    return tuple(
        fact_column(
            frame,
            name,
            meaning,
            unknown.get(name, "unknown"),
            is_input=name.endswith("_usd_per_mtok"),
        )
        for name, meaning in meanings.items()
    )
