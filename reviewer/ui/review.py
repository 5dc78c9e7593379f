"""The Review tab: a place on the page. Its work is in review.js; what it shows comes over ``/api``.

Gradio gives it the place and nothing else: an event of Gradio's that carries a spectrum takes half a second,
the routes of ``reviewer.web.routes.review`` a few milliseconds.
"""

from __future__ import annotations

import gradio as gr

_ON_LOAD = """
import('/ui/review/opening.js').then(({ moveIn }) => moveIn(element.querySelector('.so-review')))
"""


def build() -> gr.HTML:
    """Queue, trace, spectrum and decision bar."""
    # A subclass of gr.HTML would make Gradio write a .pyi beside this file at import.
    return gr.HTML(
        html_template='<div class="so-review"></div>',
        js_on_load=_ON_LOAD,
        apply_default_css=False,
        elem_id="so-review",
    )
