"""``spectral_visualization_tool``: its description for the model, its checks and its answers.

The texts are the published tool's (github.com/Maxwell-Jia/spec-o3, commit dd6eb91), because the checkpoints were
trained on them. Pictures come from ``agent.plot``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent.plot import draw, pixels_sha256
from agent.spectrum import Spectrum

TOOL_NAME = "spectral_visualization_tool"

TOOL_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": TOOL_NAME,
        "description": "A tool for visualizing spectral data with wavelength range zooming capabilities.",
        "parameters": {
            "type": "object",
            "properties": {
                "wavelength_range": {
                    "type": "array",
                    "items": {"type": "number"},
                    "description": "Wavelength range to focus on [min_wavelength, max_wavelength] in Angstroms",
                },
                "label": {
                    "type": "string",
                    "description": "Optional label for the spectral feature being analyzed",
                },
            },
            "required": ["wavelength_range"],
        },
    },
}

MEASURE = "measure"
MEASURE_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": MEASURE,
        "description": "Measures one spectral line, molecular band or band index and answers in words: the number with "
        "its 1 sigma error, the stretch and the continuum used, whether it is certain, absent or outside the data, and "
        "how often such a finding is right. It shows no picture.",
        "parameters": {
            "type": "object",
            "properties": {
                "feature": {
                    "type": "string",
                    "description": 'Name of a line, band or index, for example "Hα", "He II 4686", "TiO 7054", "TiO5"',
                },
                "wavelength": {
                    "type": "number",
                    "description": "Instead of a name: rest wavelength of a line in Angstroms, air or vacuum as the "
                    "spectrum is",
                },
                "element": {"type": "string", "description": 'With a wavelength: the ion, for example "Fe I"'},
            },
            "required": [],
        },
    },
}
"""The second tool (``agent.hints.measuring``). The published checkpoints were not trained with it and never get it."""


SKY_CONTEXT = "sky_context"
SKY_SCHEMA: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": SKY_CONTEXT,
        "description": "Shows what star catalogues measured at the position of the object, independently of the "
        "spectrum: one picture with its place in the colour-magnitude diagram and a finder of the stars around it, and "
        "numbers with their 1 sigma errors: parallax, luminosity, colours, proper motion, variability, other light in "
        "the fibre. The numbers are the same at each call.",
        "parameters": {
            "type": "object",
            "properties": {
                "label": {"type": "string", "description": "Optional label for the question being answered"},
            },
            "required": [],
        },
    },
}
"""The third tool (``agent.sky.context``). The published checkpoints never get it."""
TOOLS = (TOOL_NAME, MEASURE, SKY_CONTEXT)


def tool_schemas(measure: bool = False, sky: bool = False) -> list[dict[str, Any]]:
    """Return the tools that a model is offered."""
    return [TOOL_SCHEMA, *([MEASURE_SCHEMA] if measure else []), *([SKY_SCHEMA] if sky else [])]


def tool_block(measure: bool = False, sky: bool = False) -> str:
    """Return the description of the tools after the system message of a Spec-o3 model: the text of the published chat
    template, one line per tool.
    """
    return (
        "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
        "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
        + "\n".join(json.dumps(schema) for schema in tool_schemas(measure, sky))
        + "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
        "<tool_call></tool_call> XML tags:\n<tool_call>\n"
        '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
    )


TOOL_BLOCK = tool_block()
"""The block that the published checkpoints were trained with."""


__all__ = [
    "MEASURE",
    "MEASURE_SCHEMA",
    "SKY_CONTEXT",
    "SKY_SCHEMA",
    "TITLE",
    "TOOLS",
    "TOOL_BLOCK",
    "TOOL_NAME",
    "TOOL_SCHEMA",
    "Observation",
    "call",
    "frame_of",
    "overview",
    "tool_block",
    "tool_schemas",
    "tool_wavelength",
]

TITLE = "Spectrum"
"""Always the same: the published cold-start pictures carry the file's name, which shows the model, and a blind scorer,
which survey and which object it is.
"""
MAX_TEXT = 1024


@dataclass(frozen=True)
class Observation:
    """The answer of the tool.

    ``window`` is the window drawn, in Å, in ``frame``; None for the full spectrum and for an error. A wavelength in
    the rest frame lies at λ_observed = λ_rest (1 + z); ``z`` is 0 in the observed frame.
    """

    text: str
    image: Image.Image | None
    ok: bool
    window: tuple[float, float] | None
    frame: Literal["observed", "rest"]
    z: float

    @property
    def picture(self) -> str | None:
        """SHA-256 of the picture's RGBA bytes; None without a picture."""
        return None if self.image is None else pixels_sha256(self.image)


def call(spectrum: Spectrum, arguments: object, name: str = TOOL_NAME) -> Observation:
    """Answer one call as the model wrote it. A wrong call gets an error as answer, as in training; nothing is raised.

    ``arguments`` is the parsed JSON of the call, of any type. Windows are read, and pictures drawn, in the rest frame
    if the spectrum is observed and has a redshift other than 0, otherwise as the file has it; in the spectrum's own
    medium. Every pixel is drawn whatever its ivar or mask, as published.
    """
    frame, z = frame_of(spectrum)
    if name != TOOL_NAME:
        return Observation(_cut(f"Error when executing tool: {name!r}"), None, False, None, frame, z)
    if not isinstance(arguments, Mapping):
        kind = type(arguments).__name__
        text = f"Error when executing tool: '{kind}' object has no attribute 'get'"
        return Observation(text, None, False, None, frame, z)
    requested = arguments.get("wavelength_range")
    wavelength = tool_wavelength(spectrum)
    window = None if requested is None else _window(requested, wavelength)
    if requested is not None and window is None:
        text = (
            f"Error: The specified wavelength range {requested} is invalid or outside the available data range "
            f"[{wavelength.min():.1f}, {wavelength.max():.1f}]."
        )
        return Observation(_cut(text), None, False, None, frame, z)
    try:
        image = draw(wavelength, spectrum.flux, window, TITLE)
    except (ValueError, ArithmeticError) as refusal:
        text = f"Error processing spectral visualization: {refusal}"
        return Observation(_cut(text), None, False, None, frame, z)
    drawn = None if window is None else (float(window[0]), float(window[1]))
    return Observation(_cut(_success(window, arguments.get("label"))), image, True, drawn, frame, z)


def overview(spectrum: Spectrum) -> Image.Image:
    """Draw the first picture of an inspection: the full spectrum in the frame that the tool uses."""
    return draw(tool_wavelength(spectrum), spectrum.flux, None, TITLE)


def frame_of(spectrum: Spectrum) -> tuple[Literal["observed", "rest"], float]:
    """Return the frame in which the tool draws this spectrum, and the z that leads back to observed."""
    if spectrum.frame == "rest" or spectrum.redshift:
        return "rest", float(spectrum.redshift or 0.0)
    return "observed", 0.0


def tool_wavelength(spectrum: Spectrum) -> NDArray[np.float64]:
    """Return the wavelengths in Å (N,) that the tool uses for pictures and windows, in the spectrum's medium."""
    if spectrum.frame == "observed" and spectrum.redshift:
        return spectrum.wavelength / (1.0 + spectrum.redshift)
    return spectrum.wavelength


def _window(requested: object, wavelength: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the window as the model wrote it; None if it is not two increasing numbers that overlap the data."""
    if not isinstance(requested, list | tuple) or len(requested) != 2:
        return None
    if not all(isinstance(x, int | float) for x in requested):
        return None
    lo, hi = requested
    try:
        overlaps = lo < hi and lo <= wavelength.max() and hi >= wavelength.min()
    except OverflowError:  # an integer too long for a float
        return None
    return (lo, hi) if overlaps else None


def _success(window: tuple[float, float] | None, label: object) -> str:
    what = (
        "Generated full spectrum visualization"
        if window is None
        else f"Generated spectral visualization focused on wavelength range {window} Å"
    )
    return f"{what} for {label}." if label else f"{what}."


def _cut(text: str) -> str:
    """Cut a long answer in its middle, as the published agent loop does."""
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return text[:half] + "...(truncated)..." + text[-half:]
