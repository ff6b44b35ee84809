"""What the laws are called in reports."""

LAW_NAMES = {
    "simple": "Our law",
    "simple_with_bias": "Our law × bias",
    "simple_reading_a": "SIMPLE as we read it",
    "linear": "Linear in tokens",
    "linear_interaction": "Linear with interaction",
    "parameters_tokens": "Parameters × output tokens",
    "parameters_output_tokens": "Parameters × output tokens",
    "parameters_all_tokens": "Parameters × all tokens",
    "ecologits_0_8": "EcoLogits to 0.8.2",
    "ecologits_0_9": "EcoLogits 0.9",
    "ecologits_batch": "EcoLogits' form with batch",
    "epoch_ai": "Epoch AI",
    "vartziotis": "Vartziotis et al.",
    "closed_form": "Closed form per model",
}
