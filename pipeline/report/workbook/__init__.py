"""The workbook of a report; `render` makes it."""

from pipeline.report.workbook.render import data_places, render

__all__ = ["data_places", "render"]
