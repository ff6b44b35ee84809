"""The data sheet of work: summed work of each line and architecture, priced by the laws.

Every formula is printed from the law of the same name (`pipeline.dialects`), so coefficients, bias
and batch may move: the experts that a batch touches, and with them the weight bytes of a pass,
follow too.
"""

import polars as pl

from pipeline.dialects import excel_formula
from pipeline.laws import simple, work
from pipeline.report.section import Value
from pipeline.report.workbook.data import GROUP, BookData, Numbers
from pipeline.report.workbook.table import DataColumn, DataTable, fact_column, number_format

TERMS = ("prefill_energy_j", "kv_cache_energy_j", "next_token_energy_j")
COEFFICIENTS = (
    "a_j_per_flop",
    "b_j_per_kv_byte",
    "c_j_per_weight_byte",
    "s_j_per_layer_step",
    "s_j_per_step",
)
TOUCHED = "(IF({experts}>0," + excel_formula(work.experts_touched) + ",0))"
WEIGHT_BYTES = excel_formula(
    work.weight_bytes, {"params": "({fixed_params}+{expert_params}*" + TOUCHED + ")"}
)
WEIGHTS_READ = excel_formula(work.weight_read_bytes, {"pass_weight_bytes": "{weight_bytes}"})
NEXT_TOKEN = excel_formula(
    simple.next_token_energy_j,
    {
        "weight_read_bytes": f"({WEIGHTS_READ})",
        "steps": "({passes}*{gpu_count})",
    },
)
_PER_PASS = (
    excel_formula(
        simple.next_token_energy_j,
        {
            "decode_flop": "0",
            "weight_read_bytes": "{weight_bytes}",
            "layer_steps": "({layers}*{gpu_count})",
            "steps": "{gpu_count}",
        },
    )
    + "+"
    + excel_formula(
        simple.kv_cache_energy_j,
        {
            "kv_read_bytes": f"({excel_formula(work.state_moved_bytes, {'passes': '1'})})",
            "decode_attention_flop": "0",
        },
    )
)


def _prefill(flop: str) -> str:
    return excel_formula(simple.prefill_energy_j, {"prefill_flop": flop})


# column → (formula, kind of number, meaning), in the order of the sheet
_WORK_FORMULAS: dict[str, tuple[str, str]] = {
    "batch": (
        "INDEX(d_energy[batch],MATCH({group_no},d_energy[group_no],0))",
        "Requests served together, of the line of Data_Energy.",
    ),
    **{
        name: (
            f"INDEX(d_coefficient[{name}],"
            "MATCH({coefficient_set_id},d_coefficient[coefficient_set_id],0))",
            "Coefficient of the set, from Coefficients.",
        )
        for name in COEFFICIENTS
    },
    "weight_bytes": (WEIGHT_BYTES, "Weight bytes that one pass reads at this batch."),
    "prefill_energy_j": (
        excel_formula(simple.prefill_energy_j),
        "Law: energy of reading the prompts.",
    ),
    "kv_cache_energy_j": (
        excel_formula(simple.kv_cache_energy_j),
        "Law: energy of reading the cache and attending to it.",
    ),
    "next_token_energy_j": (NEXT_TOKEN, "Law: energy of passing new tokens through the weights."),
    "energy_j": (
        "{prefill_energy_j}+{kv_cache_energy_j}+{next_token_energy_j}",
        "Law: sum of the three terms.",
    ),
    "bias_factor": (
        "INDEX(d_bias[bias_factor],MATCH({bias_no},d_bias[bias_no],0))",
        "Measured over law for this kind of architecture, from Bias_factors.",
    ),
    "gpu_energy_j": ("{energy_j}*{bias_factor}", "Energy of the GPU boards: law × bias."),
    "energy_j_per_prefilled_token": (_prefill("(2*{body_params})"), "Rate of a prefilled token."),
    "energy_j_per_pair": (_prefill("{attention_flop_per_pair}"), "Rate of a pair of tokens."),
    "energy_j_per_prompt": (_prefill("(2*{head_params})"), "Rate of a prompt."),
    "energy_j_per_cache_position": (
        excel_formula(
            simple.kv_cache_energy_j,
            {"kv_read_bytes": "{kv_bytes_per_position}", "decode_attention_flop": "0"},
        ),
        "Rate of a cache position read.",
    ),
    "energy_j_per_decode_step": (
        _prefill("(2*({body_params}+{head_params}))"),
        "Rate of a decode pass.",
    ),
    "energy_j_per_pass": (_PER_PASS, "Rate of a pass: weights and launch at this batch."),
}
_WORK_FACTS = {
    "architecture_id": "Architecture: the model's own, or a stand-in of a closed model.",
    "architecture_class": "dense, moe, mla, window or hybrid.",
    "coefficient_set_id": "Set of coefficients, a line of the table on Coefficients.",
    "bias_no": "Line of the bias factors on Bias_factors; none: no bias is known.",
    "bytes_per_weight": "Bytes of one weight.",
    "gpu_count": "GPUs of the deployment.",
    "layers": "Layers.",
    "experts": "Experts of a layer; 0: none.",
    "active_experts": "Experts that one token passes.",
    "fixed_params": "Weights that every pass reads, whatever the batch.",
    "expert_params": "Weights of one expert in all layers.",
    "body_params": "Active weights of the layers.",
    "head_params": "Weights of the output head.",
    "attention_flop_per_pair": "Operations of attention for one pair of tokens.",
    "kv_bytes_per_position": "Cache bytes of one position.",
    "state_bytes": "State bytes of one request.",
    "passes": "Summed passes, one an output token.",
    "prefill_flop": "Summed operations of the prompts.",
    "decode_flop": "Summed operations of the new tokens.",
    "decode_attention_flop": "Summed operations of attending while writing.",
    "kv_read_bytes": "Summed cache bytes read, and state bytes moved.",
    "layer_steps": "Summed layers × passes × GPUs.",
}


def work_table(data: BookData, numbers: Numbers) -> DataTable:
    """Return summed work by line and architecture, priced by the laws."""
    frame = data.frame("work")
    bias = {key: n for n, key in enumerate(bias_keys(data), start=1)}
    keys = frame.select("architecture_class", "bias_set_id").rows()
    frame = frame.with_columns(
        pl.Series("group_no", [numbers.groups[key] for key in frame.select(GROUP).rows()]),
        pl.Series("bias_no", [bias.get(key) for key in keys], pl.Int64),
        sum((pl.col(name) for name in TERMS), pl.lit(0.0)).alias("energy_j"),
    ).with_columns((pl.col("energy_j") * pl.col("bias_factor")).alias("gpu_energy_j"))
    facts = [
        fact_column(frame, name, _WORK_FACTS.get(name, "Part of the line."), "none")
        for name in ("group_no", *GROUP, *_WORK_FACTS)
    ]
    has_bias = [number is not None for number in frame.get_column("bias_no").to_list()]
    live = [
        DataColumn(
            name,
            "number",
            meaning,
            frame.get_column(name).to_list(),
            formula,
            has_bias.__getitem__ if name == "bias_factor" else None,
            number_format=number_format(name),
        )
        for name, (formula, meaning) in _WORK_FORMULAS.items()
    ]
    return DataTable(
        "d_work",
        "Data_Work",
        "How much work is behind each energy, and what do the laws make of it, by architecture?",
        (*facts, *live),
    )


def bias_keys(data: BookData) -> list[tuple[Value, ...]]:
    """Return the bias factors' keys in the order of their numbers."""
    frame = data.frame("bias_factors")
    return [tuple(row) for row in frame.select("architecture_class", "coefficient_set_id").rows()]
