"""Show names of columns: as they stand, but none that is rather a value, or a key to something."""

import re

_MOST_SHOWN = 12
_MOST_DIGITS = 3
# Letters of a name that is more likely a key than the name of a column.
_MOST_LETTERS_A_WORD = 24
_SECRET_WORDS = re.compile(
    r"(?i)\b(sk|pk|rk|ghp|gho|xox[a-z]|akia)[-_]\w{6}|\bbearer\b|\beyj\w{8}|password|authorization"
)


def listed(names: tuple[str, ...]) -> str:
    """Return names for a message, the first few of them."""
    shown = ", ".join(name[:40] if _is_plain(name) else "…" for name in names[:_MOST_SHOWN])
    return f"{shown}, …" if len(names) > _MOST_SHOWN else shown


def _is_plain(name: str) -> bool:
    """Say whether a text looks like the name of a column: a headerless file begins with data.

    Data may be a key or a password, which is never shown.
    """
    return (
        re.fullmatch(r"[^\W\d][\w .:\[\]()/]*", name) is not None
        and sum(sign.isdigit() for sign in name) <= _MOST_DIGITS
        and max(map(len, re.split(r"[\W_]+", name))) <= _MOST_LETTERS_A_WORD
        and not is_secret_like(name)
    )


def is_secret_like(name: str) -> bool:
    """Say whether a text may be a key or a password."""
    return _SECRET_WORDS.search(name) is not None
