"""Joulebook: LLM usage logs in, cost, energy and carbon of every task out.

logs and catalogs → pipeline/ingest → raw_* and rejected → sql/staging → sql/intermediate
→ sql/marts → sql/checks → pipeline/report → reports/<month>/
"""

__version__ = "0.1.0"
