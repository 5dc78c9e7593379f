"""The Live tab: a place on the page. Its work is in live.js; what it shows comes over ``/api/live``."""

from __future__ import annotations

import gradio as gr

_ON_LOAD = """
import('/ui/live/live.js').then(({ mountLive }) => mountLive(element.querySelector('.so-live')))
"""


def build() -> gr.HTML:
    """Bench, trace as it is written, spectrum, and the bar to run it from."""
    # A subclass of gr.HTML would make Gradio write a .pyi beside this file at import.
    return gr.HTML(
        html_template='<div class="so-live"></div>',
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_id="so-live",
    )
