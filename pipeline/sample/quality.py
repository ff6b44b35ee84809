"""What the invented company says of the quality of answers: generated, measured by nobody."""

from pipeline.sample.company import (
    GATEWAY_WORKLOADS,
    GPT_5,
    GPT_OSS,
    LITELLM_WORKLOADS,
    QWEN_32B,
    Model,
)
from pipeline.sample.finance import SAYS, table

_SAID_ON = "2026-10-31"

# Four choices a question; a few tokens of thought help little, and many add little more.
_CHANCE_FRAC, _MOST_FRAC, _HALF_TOKENS = 0.25, 0.95, 1_100
_VALUE_USD = 0.20  # of a right answer
_BUDGETS = (("minimal", 200), ("low", 700), ("medium", 2_000), ("high", 6_000))
_THINKERS = (GPT_5, GPT_OSS, QWEN_32B)

# Models of nearly one skill count as equal where the work is easy.
_EQUAL_CLASSES = ("chat", "rag", "batch_extraction")
_EQUAL_SKILLS = (0.93, 0.94)


def overlays() -> dict[str, str]:
    """Return the text of every overlay table on quality by its file name."""
    return {
        "quality.csv": table(
            "model,query_class,budget,accuracy_frac,chance_frac,output_tokens,value_usd,source,"
            "source_date",
            [
                f"{model.name},reasoning,{budget},{_accuracy_frac(model, tokens):.3f},"
                f"{_CHANCE_FRAC},{tokens},{_VALUE_USD},{SAYS},{_SAID_ON}"
                for model in _THINKERS
                for budget, tokens in _BUDGETS
            ],
        ),
        "equal_quality.csv": table(
            "query_class,model,source",
            [
                f"{query_class},{name},{SAYS}"
                for query_class in _EQUAL_CLASSES
                for name in _equal_models(query_class)
            ],
        ),
    }


def _accuracy_frac(model: Model, tokens: int) -> float:
    """Return the share of right answers; 1,100 tokens bring half of what thinking can bring."""
    most = _MOST_FRAC * model.skill
    return _CHANCE_FRAC + (most - _CHANCE_FRAC) * tokens**2 / (tokens**2 + _HALF_TOKENS**2)


def _equal_models(query_class: str) -> list[str]:
    least, most = _EQUAL_SKILLS
    return sorted(
        {
            model.name
            for workload in (*LITELLM_WORKLOADS, *GATEWAY_WORKLOADS)
            if workload.query_class == query_class
            for model, _ in workload.models
            if least <= model.skill <= most
        }
    )
