"""Make a drawing of matplotlib small, and let it follow the reader's colour scheme.

Every colour is drawn as a stand-in and becomes a CSS variable here, because the drawing library
knows one colour scheme only and a browser may ask for either. Equal styles become one class, places
are rounded to a tenth of a point, and what draws nothing is left out.
"""

import re

from pipeline.report.numbers import clean_text
from pipeline.report.palette import SERIES_DARK, SERIES_LIGHT

# Stand-in, light, dark.
INK = ("#010101", "#1d2733", "#e6eaee")
FAINT_INK = ("#020202", "#5b6773", "#a3adb7")
GRID = ("#030303", "#dfe4e8", "#39424b")
GAP = ("#040404", "#ffffff", "#12171c")
SERIES = tuple(
    (f"#05050{number}", light, dark)
    for number, (light, dark) in enumerate(zip(SERIES_LIGHT, SERIES_DARK, strict=True))
)
_ALL_COLOURS = (INK, FAINT_INK, GRID, GAP, *SERIES)
_FONT = "system-ui,'Segoe UI',Roboto,Arial,sans-serif"
# matplotlib writes these two for every line; what holds for all stands once.
_FOR_ALL = "*{stroke-linejoin:round;stroke-linecap:butt}text{font:12px " + _FONT + "}"


def lean(svg: str, title: str, alt: str) -> str:
    """Return a drawing with colours by scheme, the reader's own font, a title and no clutter."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r"<style.*?</style>|<clipPath.*?</clipPath>", "", body, flags=re.DOTALL)
    body = re.sub(r"<[^>]*>", lambda tag: _lean_tag(tag[0]), body)
    body = re.sub(r">\s*\n\s*<", "><", body)
    body = _without_bare_groups(body).replace("<defs></defs>", "")
    body = _with_short_names(_with_circles(body))
    body, classes = _with_classes(body)
    start = body.index(">") + 1
    words = f"<title>{_escaped(title)}</title><desc>{_escaped(alt)}</desc>"
    return body[:start] + f"{words}<style>{_scheme_css(classes)}{classes}</style>" + body[start:]


def _lean_tag(tag: str) -> str:
    """Return a tag with colours as variables and places to a tenth of a point."""
    lean_tag = re.sub(r' clip-path="[^"]*"| ?font-family: [^;"]*;| version="1.1"', "", tag)
    lean_tag = re.sub(r' xmlns:xlink="[^"]*"', "", lean_tag).replace("xlink:href", "href")
    lean_tag = re.sub(r' transform="rotate\(-?0 [^)]*\)"|(?<=<g) id="[^"]*"', "", lean_tag)
    lean_tag = re.sub(r"(?<=\d)(\.\d)\d+", r"\1", lean_tag)
    lean_tag = re.sub(r' d="([^"]*)"', lambda path: f' d="{_lean_path(path[1])}"', lean_tag)
    for number, (stand_in, *_) in enumerate(_ALL_COLOURS):
        lean_tag = lean_tag.replace(f": {stand_in}", f":var(--c{number})")
    return lean_tag


def _lean_path(path: str) -> str:
    """Return a path of straight lines with steps in place of places, which are far shorter."""
    if "C" in path:  # a mark's form, drawn once
        return re.sub(
            r"(?<=[A-Za-z]) | (?=[A-Za-z])", "", re.sub(r"\.0\b", "", " ".join(path.split()))
        )
    written, at = [], (0, 0)
    for command, *numbers in re.findall(r"([MLz])\s*(-?[\d.]*)\s*(-?[\d.]*)", path):
        if command == "z":
            written.append("z")
            continue
        place = (round(10 * float(numbers[0])), round(10 * float(numbers[1])))
        written.append(
            _step(command, place if command == "M" else (place[0] - at[0], place[1] - at[1]))
        )
        at = place
    return "".join(written)


def _step(command: str, tenths: tuple[int, int]) -> str:
    """Return one command of a path: a move to a place, or a line by a step."""
    x, y = (f"{tenth / 10:g}" for tenth in tenths)
    if command == "L" and tenths[1] == 0:
        return f"h{x}"
    if command == "L" and tenths[0] == 0:
        return f"v{y}"
    return f"{'M' if command == 'M' else 'l'}{x},{y}"


def _without_bare_groups(svg: str) -> str:
    """Return a drawing without groups that say nothing of what they hold."""
    kept: list[str] = []
    is_bare: list[bool] = []  # of the groups that are open
    for part in re.split(r"(<g\b[^>]*>|</g>)", svg):
        if part.startswith("<g"):
            if not part.endswith("/>"):
                is_bare.append(part == "<g>")
            if part not in ("<g>", "<g/>"):
                kept.append(part)
        elif part != "</g>" or not is_bare.pop():
            kept.append(part)
    return "".join(kept)


def _with_circles(svg: str) -> str:
    """Return a drawing whose round marks, four curves each, are circles."""
    rings = r'<path id="([^"]*)" d="M0 ([\d.]+)C[^"]*" style="([^"]*)"/>'
    for name, radius, style in re.findall(rings, svg):
        svg = re.sub(
            rf'<use href="#{name}" x="([^"]*)" y="([^"]*)" style="([^"]*)"/>',
            rf'<circle r="{radius}" cx="\1" cy="\2" style="\3; {style}"/>',
            svg,
        )
    return re.sub(rings, "", svg).replace("<defs></defs>", "")


def _with_short_names(svg: str) -> str:
    """Return a drawing whose marks are named by number, in the order in which they come."""
    names: dict[str, str] = {}

    def renamed(tag: re.Match[str]) -> str:
        name = names.setdefault(tag[2], f"m{len(names)}")
        return f'{tag[1]}{name}"'

    return re.sub(r'(<(?:path|use)\b[^<>]*?(?:\bid="|href="#))([^"]*)"', renamed, svg)


def _with_classes(svg: str) -> tuple[str, str]:
    """Return a drawing with a class for every distinct style, and the styles as CSS."""
    classes: dict[str, str] = {}

    def named(tag: re.Match[str]) -> str:
        rules = re.sub(r"\s*([:;])\s*", r"\1", re.sub(r"font-size: 12px; ?", "", tag[1]))
        rules = re.sub(r"text-anchor:start;?|;$", "", rules)
        return f' class="{classes.setdefault(rules, f"s{len(classes)}")}"'

    styled = re.sub(r'(?<=[a-z"]) style="([^"]*)"(?=[^<>]*>)', named, svg)
    # in an address a single quotation mark needs no escape
    styled = re.sub(r'(?<==)"([^"\']*)"(?=[^<>]*>)', r"'\1'", styled)
    return styled, "".join(f".{name}{{{rules}}}" for rules, name in classes.items())


def _scheme_css(classes: str) -> str:
    """Return the colours that the classes use, in both schemes."""
    used = [(n, c) for n, c in enumerate(_ALL_COLOURS) if f"(--c{n})" in classes]
    light, dark = (
        ";".join(f"--c{number}:{colour[scheme]}" for number, colour in used) for scheme in (1, 2)
    )
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{_FOR_ALL}"


def _escaped(text: str) -> str:
    plain = clean_text(text).replace("&", "&amp;")
    return plain.replace("<", "&lt;").replace(">", "&gt;")
