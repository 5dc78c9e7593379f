"""The page: Gradio tabs around components of our own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request

from agent.tasks import Task
from reviewer.backup.backups import DailyBackups
from reviewer.store import Store
from reviewer.ui import blind, library, live, people, progress, review
from reviewer.web.access import PERSON

HEAD = '<script src="/ui/common/first_theme.js"></script>'
"""What Gradio puts into the page's head by script, once it has chosen a theme of its own; what has to be
there before is in ``opening``."""


def theme() -> gr.themes.Base:
    """Gradio's plain theme with fonts that are on the machine: nothing is fetched."""
    fonts = ["Inter", "system-ui", "-apple-system", "Segoe UI", "DejaVu Sans", "sans-serif"]
    mono = ["ui-monospace", "SFMono-Regular", "DejaVu Sans Mono", "monospace"]
    return gr.themes.Base(
        font=fonts, font_mono=mono, primary_hue="blue", neutral_hue="slate", radius_size="md", text_size="sm"
    )


def build(store: Store, tasks: Mapping[str, Task], local: bool, backups: DailyBackups | None = None) -> gr.Blocks:
    """Everything one sees. ``backups``: None where the app makes none."""
    with (
        gr.Blocks(
            title="Spec-o3 review",
            fill_width=True,
            fill_height=True,
            analytics_enabled=False,
            # What was dropped on the page is gone after a day, in seconds; looked for once an hour.
            delete_cache=(3600, 86400),
        ) as blocks,
        gr.Tabs(elem_id="so-tabs"),
    ):
        with gr.Tab("Review", id="review"):
            review.build()
        with gr.Tab("Live", id="live"):
            live.build()
        with gr.Tab("Blind", id="blind"):
            blind.build()
        with gr.Tab("Progress", id="progress"):
            progress.build(store, local)
        with gr.Tab("Library", id="library"):
            library.build(store, local, tasks, backups)
        with gr.Tab("People", id="people"):
            people.build(store, local)
    return blocks


def mounted(store: Store, tasks: Mapping[str, Task], local: bool, backups: DailyBackups | None = None) -> FastAPI:
    """An app that is Gradio's page and its routes, and begins and ends as Gradio wants it."""
    blocks = build(store, tasks, local, backups)

    def user(request: Request) -> str | None:
        person: str | None = request.scope.get(PERSON)
        return person

    app: FastAPI = gr.mount_gradio_app(
        FastAPI(docs_url=None, redoc_url=None, openapi_url=None),
        blocks,
        path="/",
        auth_dependency=user,
        footer_links=[],
        run_history=False,
        show_error=True,
        # The largest files one drops here are DESI coadds.
        max_file_size="2gb",
        favicon_path=None,
        theme=theme(),
        head=HEAD,
        css_paths=[Path(__file__).parent / "static" / "common" / "theme.css"],
    )
    # Gradio checks that a file named in an event was really uploaded only once this is set, and mounting an
    # app (6.31) does not set it: without it whoever is signed in could have any file of the machine read.
    blocks.has_launched = True
    return app
