"""Measured power against tokens and against the law: telemetry and a list of runs in, findings out.

`runs` reads what was run, `tracks` integrates what was measured, `energy` and `baselines` put both
together, `quality` says what the log can bear, `linearity`, `law`, `models` and `order` judge,
`uncertainty` says how sure it is, and `answer` is the whole.
"""
