"""The Review tab: one component of our own. Its work is in review.js; what it shows comes over /api."""

from __future__ import annotations

from typing import Any

import gradio as gr

_ON_LOAD = """
import('/ui/review.js').then(({ mountReview }) => mountReview(element.querySelector('.so-review')))
"""


class ReviewDesk(gr.HTML):
    """Queue, trace, spectrum and decision bar. Gradio gives it a place on the page and nothing else: an event of
    Gradio's that carries a spectrum takes half a second, the routes of ``reviewer.ui.api`` a few milliseconds."""

    def __init__(self, **props: Any) -> None:
        props.setdefault("html_template", '<div class="so-review" data-tab="review"></div>')
        props.setdefault("js_on_load", _ON_LOAD)
        props.setdefault("apply_default_css", False)
        super().__init__(**props)
