"""The workbook of a report; `render` makes it."""

from pipeline.report.workbook.render import places, render

__all__ = ["places", "render"]
