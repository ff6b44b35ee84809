"""Pages of an API that say whether another page follows: is the last one there?"""

import re
from collections.abc import Iterable

from pipeline.ingest.detect import Recognised
from pipeline.ingest.records import file_text

_HAS_MORE = re.compile(r'"has_more"\s*:\s*(true|false)')


def says_more(found: Recognised) -> tuple[bool, ...]:
    """Return for each page in a file whether it says that more follow; none for other forms."""
    source = found.source
    if "has_more" not in (*source.columns, *source.passed_over) or found.file_kind == "csv":
        return ()
    text = file_text(found.path, found.is_gzip)
    return tuple(said == "true" for said in _HAS_MORE.findall(text))


def missing_ends(told: Iterable[tuple[str, str, tuple[bool, ...]]]) -> list[str]:
    """Return a note for each form of which every page says that more follow.

    Args:
        told: Form, file and what says_more returned for it.
    """
    pages: dict[str, list[tuple[str, bool]]] = {}
    for form, shown, more in told:
        pages.setdefault(form, []).extend((shown, each) for each in more)
    return [
        f"{said[-1][0]}: says has_more, and so does every other page of this form: the last one "
        "is missing, and what it holds counts nowhere. Fetch on with next_page"
        for said in pages.values()
        if said and all(more for _, more in said)
    ]
