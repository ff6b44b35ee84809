"""A workspace of many months: load what is new, report, close, restate, prove."""
