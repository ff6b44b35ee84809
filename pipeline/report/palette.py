"""Colours of the series of a figure, the same in the page and in the workbook.

Light colours keep 3:1 on white, dark ones on near black. Neighbours differ in lightness as well as
in hue, so that they part in grey print and for colour-blind readers.
"""

ACCENT = "#0b5c7a"
SERIES_LIGHT = ("#0b5c7a", "#d97a06", "#4c9a78", "#7a4f9e", "#b2495f", "#6b7785", "#8a8a1f")
SERIES_DARK = ("#5db5d8", "#f2b45c", "#8fd1b2", "#c3a2e0", "#e79aa9", "#b4bdc6", "#d0cf6b")
