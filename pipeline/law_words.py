"""What each law is in words, read from the texts of the law functions: title, source, domain."""

import inspect
import re
from collections.abc import Callable
from typing import Any

from pipeline.laws import rivals

OWN = {
    "law": "simple",
    "title": "four prices of work: prefill, KV cache, next token, step.",
    "source": "Structure of SIMPLE (arXiv 2611.03330); form with batch and values by us.",
    "domain": "Any open architecture; each coefficient set names its lengths and batches.",
    "ignores": "Power caps and clocks; what a class of architecture adds is a bias factor.",
}


def all_words() -> list[dict[str, str]]:
    """Return name, title, source, domain and what is ignored of our law and every rival."""
    return [OWN, *(words_of(law) for law in rivals.LAWS)]


def words_of(law: Callable[..., Any]) -> dict[str, str]:
    """Return the same of one rival."""
    title, *parts = re.split(r"\n+(Source|Domain|Ignores): ", inspect.getdoc(law) or "")
    words = [" ".join(part.split()) for part in parts]
    return {
        "law": law.__name__.removesuffix("_j"),
        "title": title.strip().removeprefix("Return "),
        **{key.lower(): text for key, text in zip(words[::2], words[1::2], strict=True)},
    }
