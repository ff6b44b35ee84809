"""How much room a text takes in a cell: letters differ in width, and lines break between words.

Widths are in digits of the workbook's typeface, as those of columns are; rather too much than too
little, so that no program cuts a line off.
"""

import math
import re

_DIGITS_WIDE = {  # Calibri's letters over its digits, bold ones too
    **dict.fromkeys(" .,:;'|`ijlI!·", 0.52),
    **dict.fromkeys("frt()[]{}-J", 0.72),
    **dict.fromkeys("csz/", 0.85),
    **dict.fromkeys("ABCDGHKNOPQRUVX&+=<>×÷−≠", 1.25),
    **dict.fromkeys("mwMW%@—…", 1.7),
}
_PIECES = re.compile(r"[^\s-]*-+|[^\s-]+|\s+")  # what stays on one line: up to a hyphen or a space


def digits_wide(text: str) -> float:
    """Return how many digits stand in the room of a text."""
    return sum(_DIGITS_WIDE.get(letter, 1.0) for letter in text)


def widest_line(text: str) -> int:
    """Return how many digits stand in the room of the widest line of a text."""
    return max((math.ceil(digits_wide(line)) for line in text.split("\n")), default=0)


def widest_word(text: str) -> int:
    """Return how many digits stand in the room of the widest piece that no line break parts."""
    return max(map(widest_line, _PIECES.findall(text)), default=0)


def line_count(text: str, room: float) -> int:
    """Return how many lines a text takes in a cell that is some digits wide."""
    return sum(_lines_of_one(line, room) for line in text.split("\n"))


def _lines_of_one(text: str, room: float) -> int:
    count, used = 1, 0.0
    for piece in _PIECES.findall(text):
        needed = digits_wide(piece)
        if used + needed <= room:
            used += needed
        elif piece.isspace():
            used = room  # the next word begins a line, which no space does
        else:
            count += 1 if used else 0
            count += max(math.ceil(needed / room) - 1, 0)  # longer than a line: cut anywhere
            used = needed % room if needed > room else needed
    return count
