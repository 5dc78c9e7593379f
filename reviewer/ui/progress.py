"""The Progress tab: how far the campaign is, as charts. The store counts, ``progress.js`` draws."""

from __future__ import annotations

import gradio as gr

from reviewer.store import Store

_ON_LOAD = """
import('/ui/progress/progress.js').then(({ mountProgress }) => mountProgress(element.querySelector('.so-progress')))
"""


def build(store: Store, local: bool) -> gr.HTML:
    """The place of the charts; they fetch their figures over their own route whenever they come into view."""
    # A subclass of gr.HTML would make Gradio write a .pyi beside this file at import.
    return gr.HTML(
        html_template='<div class="so-progress"></div>',
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_id="so-progress",
    )
