"""Faults that a user can mend: each says what, where, expected, found and how, in one line."""


class JoulebookError(Exception):
    """A fault with a message for people and an exit code for schedulers."""

    exit_code = 1


class WrongUseError(JoulebookError):
    """An option, model or file that does not exist or does not fit."""

    exit_code = 2


class BadInputError(JoulebookError):
    """A file or claim that fails a quality gate."""

    exit_code = 3


class IncompleteInputError(JoulebookError):
    """Nothing to report: an empty file, or a month without rows."""

    exit_code = 4


class ClosedMonthError(JoulebookError):
    """A closed month that would change."""

    exit_code = 5


class LockedError(JoulebookError):
    """Another run holds the workspace."""

    exit_code = 75
