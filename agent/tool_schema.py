"""What a model is told about its one tool, in the published words (see ``agent.tool`` for what it does)."""

from __future__ import annotations

import json
from typing import Any

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
                    "description": "Wavelength range to focus on "
                    "[min_wavelength, max_wavelength] in Angstroms",
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

TOOL_BLOCK = (
    "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
    + json.dumps(TOOL_SCHEMA)
    + "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
    "<tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)
"""What is written after the system message of a Spec-o3 model; the published chat template's text."""
