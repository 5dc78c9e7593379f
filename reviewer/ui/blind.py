"""The Blind tab: a place on the page. Its work is in blind.js; what it shows comes over ``/api/blind``."""

from __future__ import annotations

import gradio as gr

_ON_LOAD = """
import('/ui/blind/blind.js').then(({ mountBlind }) => mountBlind(element.querySelector('.so-blind')))
"""


def build() -> gr.HTML:
    """Scoring for scorers, sessions for coordinators."""
    # A subclass of gr.HTML would make Gradio write a .pyi beside this file at import.
    return gr.HTML(
        html_template='<div class="so-blind"></div>',
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_id="so-blind",
    )
