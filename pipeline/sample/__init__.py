"""The demo months: logs of an invented company, made by rule and labelled as generated.

company (who asks what, at which price) → traffic (requests with times, tasks and failed tries) →
forms (each log form as it looks in the wild, with faults put in on purpose) → truth (what a right
reader must find in them).
"""
