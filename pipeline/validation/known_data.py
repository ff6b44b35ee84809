"""What is known of public data sets of measured energy beside their rows."""

from pipeline.validation.measured_work import Measurement
from pipeline.validation.measurements import Subset

# Prompt lengths that are not published, by data set and task. ML.ENERGY v3 chat: the length at
# which the law's error on dense models does not depend on the batch, the same on H100 and B200. Its
# code completion is not here: files make up the prompt, and a guess would decide the energy.
ASSUMED_INPUT_TOKENS = {
    ("mlenergy_v2", "chat"): 200.0,
    ("mlenergy_v2", "code"): 200.0,
    ("mlenergy_v3", "lm-arena-chat"): 400.0,
    ("mlenergy_v3", "gpqa"): 250.0,
}

CAUTIONS = {
    "alejandroldz": "energy includes CPU and memory",
    "edgereasoning": "energy of the whole module",
    "mlenergy_v2": "prompts of 200 tokens assumed, software of 2024",
    "mlenergy_v3": "prompts of 400 (chat) and 250 tokens (gpqa) assumed",
    "splitwise": "energy derived from mean power and time",
    "wilkins_nocache": "generated without a KV cache",
}

# Which coefficient set was fitted to which rows: its error there is no test of it.
FITTED_TO = {
    "h100-sxm-vllm-1": Subset("argonne", "H100-SXM", "vLLM", is_dense=True),
    "h100-sxm-trtllm-1": Subset("argonne", "H100-SXM", "TensorRT-LLM", is_dense=True),
    "h200-sxm-vllm-1": Subset("arjunds", "H200-SXM", "vllm", is_dense=True),
    "b200-vllm-1": Subset("arjunds", "B200", "vllm", is_dense=True),
    "gh200-trtllm-1": Subset("argonne", "GH200", "TensorRT-LLM", is_dense=True),
    "a100-40-sxm-vllm-1": Subset("argonne", "A100-40GB-SXM", "vLLM", is_dense=True),
    "a100-80-pcie-transformers-1": Subset(
        "joulebench", "A100-80GB-PCIe", "transformers", is_dense=True
    ),
}

KNOWN_FAULT = "known fault of the data set"
OUTDATED = ("mlenergy_v2",)  # host overhead of 2024 that later releases of the software shed


def is_sound(row: Measurement) -> bool:
    """Return whether a row is free of the faults that are known of its data set."""
    match row.dataset:
        case "edgereasoning":  # power is read once a second: short runs show idle power
            return row.time_s >= 2 if row.phase == "prefill" else row.output_tokens >= 256
        case "splitwise":  # the mean power given for the longest prompts is clearly wrong
            return row.input_tokens < 8192
        case "alejandroldz":  # 7 B in 16 bits does not fit the workstation's GPU
            fits = row.bytes_per_weight < 2 or row.shape.held_params < 5e9
            return row.gpu != "Workstation" or fits
        case _:
            return True
