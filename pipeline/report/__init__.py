"""What the reports say (sections) and how it is drawn (figures, workbook, page)."""
