"""User ids in a workspace: kept as hashes where asked, made with a secret that stands beside it."""

import hashlib
import secrets
from pathlib import Path

import duckdb

from pipeline.errors import BadInputError

_SALT = ".joulebook.salt"
_LEFT_OF_A_HASH = 16  # hex digits

HASHED_SQL = f"left(sha256($salt || user_id), {_LEFT_OF_A_HASH})"


def hashed(salt: str, user_id: str) -> str:
    """Return what stands in a warehouse for a user whose id is hashed, as `HASHED_SQL` does."""
    return hashlib.sha256((salt + user_id).encode()).hexdigest()[:_LEFT_OF_A_HASH]


def keys_of(con: duckdb.DuckDBPyConnection, folder: Path, user_id: str) -> set[str]:
    """Return what may stand in an opened warehouse for a user: the id, and its hash if any is made.

    Raises:
        BadInputError: Where the secret of its hashes is lost.
    """
    if _told(con) is None and not (folder / _SALT).exists():
        return {user_id}
    return {user_id, hashed(salt_of(con, folder), user_id)}


def salt_of(con: duckdb.DuckDBPyConnection, folder: Path) -> str:
    """Return the secret of a workspace, made once; its warehouse knows it by its hash.

    Raises:
        BadInputError: Where it is not the one that the warehouse's hashes were made with.
    """
    path, told = folder / _SALT, _told(con)
    if told is None and not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32), encoding="ascii")
    salt = path.read_text(encoding="ascii") if path.exists() else ""
    sha256 = hashlib.sha256(salt.encode()).hexdigest()
    if told is None:
        con.execute("update workspace set salt_sha256 = $sha256", {"sha256": sha256})
    elif told != sha256:
        raise BadInputError(
            f"{path}: expected the secret that user ids of this workspace were hashed with, found "
            f"{'another' if salt else 'none'}. Restore it from a backup: without it no user is "
            "found by an id, nor forgotten."
        )
    return salt


def _told(con: duckdb.DuckDBPyConnection) -> str | None:
    told: str | None = con.execute("select salt_sha256 from workspace").fetchall()[0][0]
    return told
