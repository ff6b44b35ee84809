"""Take one user out of a workspace: the id goes, tokens and money stay."""

from typing import Any

from pipeline.errors import WrongUseError
from pipeline.ingest.tables import null_out
from pipeline.monthly import workspace
from pipeline.monthly.months_state import states
from pipeline.monthly.user_ids import keys_of
from pipeline.settings import Settings


def forget(settings: Settings, user_id: str) -> dict[str, Any]:
    """Empty a user's id wherever it stands; return how many rows held it, and which closed months.

    Reports never hold user ids. A closed month counts how much of its usage of no team names a
    user, so it may not be built anew to the byte afterwards: that is noted, and it is served as it
    was issued.

    Raises:
        WrongUseError: For an empty id.
        BadInputError: Where ids were hashed with a secret that is lost.
    """
    if not user_id.strip():
        raise WrongUseError("--user: expected the id of a user, found nothing.")
    with workspace.opened(workspace.require_workspace(settings), settings) as con:
        closed = {each.month: each.issue for each in states(con).values() if each.is_closed}
        con.execute("begin")
        held: set[str] = set()
        count = 0
        for each in sorted(keys_of(con, settings.folder, user_id)):
            rows = con.execute(
                "select distinct book_month from raw_usage where user_id = $id", {"id": each}
            ).fetchall()
            held |= {row[0] for row in rows}
            count += null_out(con, "user_id", each)
        for month in sorted(closed.keys() & held):
            workspace.note_event(con, month, "forget", closed[month], "", "")
        con.execute("commit")
        con.execute("checkpoint")  # so that the log of the database does not hold it either
    return {"row_count": count, "closed_months": sorted(closed.keys() & held)}
