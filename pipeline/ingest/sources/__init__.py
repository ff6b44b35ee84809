"""The log forms that can be read.

Every source has one declaration in this package and one select in `sql/sources/<name>.sql`, which
turns its own columns into the usage record. Facts on the forms: their makers' documentation and
real files.
"""

from pipeline.ingest.sources import (
    agents,
    bills,
    gateways,
    general,
    observability,
    providers,
    replies,
    servers,
    traces,
)
from pipeline.ingest.sources.general import GENERAL_COLUMNS
from pipeline.ingest.sources.source import Source

__all__ = ["GENERAL_COLUMNS", "SOURCES", "SOURCE_BY_NAME", "Source"]

# In order of recognition: the more particular signature first.
SOURCES: tuple[Source, ...] = (
    *traces.SOURCES,
    *providers.SOURCES,
    *bills.SOURCES,
    *gateways.SOURCES,
    *observability.SOURCES,
    *servers.SOURCES,
    *agents.SOURCES,
    *general.SOURCES,
    *replies.SOURCES,
)

SOURCE_BY_NAME = {source.name: source for source in SOURCES}
