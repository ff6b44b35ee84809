"""The same SQL on Spark: transpiled, run, and handed back to the machine that draws the reports."""
