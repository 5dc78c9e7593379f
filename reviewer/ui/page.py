"""The page that Gradio serves at ``/``: one tab per part of the product, built once per language. Its addresses are
relative: a proxy may serve it below a path.

Each tab is a place for our own JavaScript.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
from fastapi import FastAPI, Request

from agent import language
from agent.language import tr
from reviewer.ui.languages import PageInLanguage, own_words
from reviewer.web.access import PERSON
from reviewer.web.routes.assets import PLOTLY_URL

STATIC = Path(__file__).parent / "static"
FIRST_DESK = "review/review.js"
STYLES = (
    "common/theme",
    "spectrum/view",
    "trace/trace_view",
    "review/review",
    "comments/comments",
    "find/find",
    "live/live",
    "evidence/evidence",
    "blind/blind",
    "progress/progress",
    "common/page",
    "data/data",
    "people/people",
    "help/help",
)
_IMPORTED = re.compile(r"""^(?:import|export)\b[^;'"]*?['"](\.\.?/[\w./]+)['"]""", re.MULTILINE)


def mount(
    app: FastAPI,
    public: str | None = None,
) -> FastAPI:
    """Mount Gradio's page and routes at ``/`` of ``app``; routes that ``app`` has already come first.

    :param public: the address of a proxy that serves the app below a path; None: it is at the root of its host
    """

    def in_language(code: str) -> FastAPI:
        own = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        blocks = build()
        if public is None:
            return _mount_at(f"/{code}", own, None, blocks)
        # Where Gradio gets the whole address, its routes are found at "/" only.
        return _mount_at("/", own, f"{public.rstrip('/')}/{code}", blocks)

    others = [
        PageInLanguage(c, partial(in_language, c), at_root=public is not None)
        for c in language.offered()
        if c != language.ENGLISH
    ]
    app.router.routes.extend(others)
    with language.speaking(language.ENGLISH):
        mounted = _mount_at("/", app, public, build())
    lifespan = mounted.router.lifespan_context

    @asynccontextmanager
    async def with_others(app: FastAPI) -> AsyncIterator[Any]:
        async with lifespan(app) as state:
            for page in others:
                page.serve()
            yield state
            for page in others:
                await page.stop()

    mounted.router.lifespan_context = with_others
    return mounted


def _mount_at(path: str, app: FastAPI, root: str | None, blocks: gr.Blocks) -> FastAPI:
    def person(request: Request) -> str | None:
        initials: str | None = request.scope.get(PERSON)
        return initials

    mounted: FastAPI = gr.mount_gradio_app(
        app,
        blocks,
        path=path,
        # What Gradio would find out from the request lacks the path of the proxy.
        root_path=root,
        auth_dependency=person,
        footer_links=[],
        run_history=False,
        show_error=True,
        # The largest files that people drop here are DESI coadds.
        max_file_size="2gb",
        pwa=True,
        theme=theme(),
        head=head(),
        i18n=own_words(),
    )
    # Gradio checks that a file named in an event was really uploaded only once this is set, and mounting an
    # app (6.31) does not set it: without it, anyone signed in could have any file of the machine read.
    blocks.has_launched = True
    return mounted


def build() -> gr.Blocks:
    """Return the whole page: our styles, then the tabs."""
    with gr.Blocks(
        title=tr("Spec-o3 review"),
        fill_width=True,
        fill_height=True,
        analytics_enabled=False,
        # Uploaded files are deleted after a day (seconds); checked once per hour.
        delete_cache=(3600, 86400),
    ) as blocks:
        # In the body, after the head: of two rules of equal weight the later one counts, and Gradio adds its own
        # to the end of the head while it starts.
        links = "".join(f'<link rel="stylesheet" href="ui/{name}.css">' for name in STYLES)
        gr.HTML(links, apply_default_css=False, js_on_load=None, elem_id="so-styles")
        with gr.Tabs(elem_id="so-tabs", overflow_behavior="wrap"):
            with _tab("review", tr("Review")):
                desk_place("review")
            with _tab("find", tr("Find")):
                desk_place("find")
            with _tab("live", tr("Live")):
                desk_place("live")
            with _tab("blind", tr("Blind")):
                desk_place("blind")
            with _tab("progress", tr("Progress")):
                desk_place("progress")
            with _tab("data", tr("Data")):
                desk_place("data")
            with _tab("people", tr("People")):
                desk_place("people")
    return blocks


def _tab(name: str, title: str) -> gr.Tab:
    """A tab that JavaScript finds by its id (common/tabs.js)."""
    return gr.Tab(title, id=name, elem_id=f"so-tab-{name}")


def desk_place(name: str) -> gr.HTML:
    """An element in which ``static/NAME/NAME.js`` builds its desk. The desk's data come over ``/api/v1``: a Gradio
    event that carries a spectrum takes half a second, one of our routes a few milliseconds."""
    mount_desk = f"({{ mount{name.title()} }}) => mount{name.title()}(element.querySelector('.so-{name}'))"
    return gr.HTML(
        html_template=f'<div class="so-{name}"></div>',
        js_on_load=f"import(new URL('ui/{name}/{name}.js', document.baseURI)).then({mount_desk})",
        apply_default_css=False,
        elem_id=f"so-{name}",
    )


def theme() -> gr.themes.Base:
    """Gradio's plain theme with fonts that are installed: nothing is downloaded."""
    fonts = ["Inter", "system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "DejaVu Sans Mono", "monospace"]
    return gr.themes.Base(
        font=fonts, font_mono=mono, primary_hue="blue", neutral_hue="slate", radius_size="md", text_size="sm"
    )


def preload_header() -> str:
    """The ``Link`` header of the page: the browser starts loading these before it runs Gradio's scripts. Short: some
    proxies refuse more than 4 KB of headers. What else the Review desk needs is in ``head``."""
    return ", ".join(
        (
            f"<{PLOTLY_URL[1:]}>; rel=preload; as=script",
            f"<ui/{FIRST_DESK}>; rel=modulepreload",
            "<api/v1/me>; rel=preload; as=fetch; crossorigin",
        )
    )


def head() -> str:
    """What Gradio adds to the page's head before it builds the tabs: the browser starts loading the Review desk
    while Gradio loads its own components."""
    return "\n".join(
        (
            '<script src="ui/common/first_theme.js"></script>',
            '<link rel="icon" type="image/png" href="favicon.ico">',
            '<link rel="apple-touch-icon" href="pwa_icon/192">',
            f'<link rel="preload" as="script" href="{PLOTLY_URL[1:]}" id="so-plotly">',
            '<script type="module" src="ui/common/plotly_ready.js"></script>',
            *(f'<link rel="modulepreload" href="ui/{name}">' for name in [FIRST_DESK, *modules(FIRST_DESK)]),
            *(f'<link rel="preload" as="style" href="ui/{name}.css">' for name in STYLES),
            '<link rel="preload" as="fetch" crossorigin href="ui/review/keymap.json">',
        )
    )


def modules(first: str) -> list[str]:
    """The modules that ``first`` imports, and those that they import, in the order in which a browser meets them."""
    names = [first]
    for name in names:
        text = (STATIC / name).read_text(encoding="utf-8")
        others = [posixpath.normpath(f"{posixpath.dirname(name)}/{other}") for other in _IMPORTED.findall(text)]
        names += [other for other in dict.fromkeys(others) if other not in names]
    return names[1:]
