"""Make the bytes of a workbook depend on its content alone.

The library stamps the moment of saving into every archive member and into the document's
properties, and cannot describe a chart to a reader who does not see it. Both are mended here.
"""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import quoteattr

_CORE = "docProps/core.xml"
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")
_CHART_NAME = re.compile(r'(<(?:xdr:)?cNvPr [^>]*?name=")Chart (\d+)"')


def fixed_bytes(
    workbook: bytes, instant: dt.datetime, chart_texts: Mapping[str, Sequence[str]]
) -> bytes:
    """Return a saved workbook with fixed times and described charts.

    Args:
        workbook: The bytes as the library saved them.
        instant: The moment that stands for every time in the file, without a zone.
        chart_texts: For each archive member of drawings, what each of its charts shows.
    """
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook)) as saved,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as fixed,
    ):
        for name in saved.namelist():
            content = saved.read(name)
            if name == _CORE:
                stamp = instant.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
                content = _MODIFIED.sub(rb"\g<1>" + stamp + rb"\g<2>", content)
            if name in chart_texts:
                content = _described(content.decode(), chart_texts[name]).encode()
            fixed.writestr(_member(name, instant), content)
    return buffer.getvalue()


def _member(name: str, instant: dt.datetime) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, instant.timetuple()[:6])
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = 3
    member.external_attr = 0o644 << 16
    return member


def _described(drawing: str, texts: Sequence[str]) -> str:
    def describe(match: re.Match[str]) -> str:
        number = int(match[2])
        return f'{match[1]}Chart {number}" descr={quoteattr(texts[number - 1])}'

    return _CHART_NAME.sub(describe, drawing)
