"""The page as it is sent: styles, the theme, and the Review desk. Gradio comes into it later.

Gradio's page shows nothing until its program has run, and the program is one long task of a second. So the
page is ours: the browser fetches every script of the Review desk at once, the desk opens the first item, then
takes Gradio's part into the page and moves into its tab when that is there (opening.js).
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

HERE = Path(__file__).parent / "static"
STYLES = (
    "common/theme",
    "spectrum/view",
    "trace/trace_view",
    "review/review",
    "live/live",
    "blind/blind",
    "progress/progress",
)
SCRIPT = "review/opening.js"
_IMPORTED = re.compile(r"""^(?:import|export)\b[^;'"]*?['"](\.\.?/[\w./]+)['"]""", re.MULTILINE)
# The frame that Gradio (6.31) gives its page, so that nothing moves when Gradio comes.
_FRAME = "margin: 0; padding: 0; display: flex; flex-direction: column;"

router = APIRouter()


@router.api_route("/", methods=["GET", "HEAD"])
def page() -> HTMLResponse:
    """The same for everybody; the gate has seen to it that somebody is signed in."""
    return HTMLResponse(_page())


@cache
def _page() -> str:
    return f"""<!doctype html>
<html lang="en" style="{_FRAME} min-height: 100%">
<head>
<meta charset="utf-8">
<title>Spec-o3 review</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
{head()}
</head>
<body style="{_FRAME} width: 100%; flex-grow: 1">
{styles()}
</body>
</html>
"""


def head() -> str:
    """The markup: nothing in it is inline, so that the page's policy need not allow what is."""
    return "\n".join(
        (
            '<script src="/ui/common/first_theme.js"></script>',
            '<script src="/ui/plotly.min.js" async></script>',
            f'<script type="module" src="/ui/{SCRIPT}"></script>',
            *(f'<link rel="modulepreload" href="/ui/{name}">' for name in modules(SCRIPT)),
            *(f'<link rel="preload" as="style" href="/ui/{name}.css">' for name in STYLES),
            '<link rel="preload" as="fetch" crossorigin href="/ui/review/keymap.json">',
            '<link rel="preload" as="fetch" crossorigin href="/api/me">',
        )
    )


def styles() -> str:
    """Our styles, at the beginning of the body: Gradio adds its own to the end of the head while it starts,
    and of two rules of one weight the later one in the page counts."""
    return "\n".join(f'<link rel="stylesheet" href="/ui/{name}.css">' for name in STYLES)


def modules(first: str) -> list[str]:
    """The modules that ``first`` imports, and that they import, in the order in which a browser meets them.

    Told of them at once, it need not read one to learn of the next.
    """
    found = [first]
    for name in found:
        text = (HERE / name).read_text(encoding="utf-8")
        others = [posixpath.normpath(f"{posixpath.dirname(name)}/{other}") for other in _IMPORTED.findall(text)]
        found += [other for other in dict.fromkeys(others) if other not in found]
    return found[1:]
