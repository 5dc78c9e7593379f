r"""The forms in which a model reads the tools and writes its turns: that of Spec-o3, and that of Qwen3.5.

A trace is stored without a form. It is written in one where a model reads it (rendering, a server), and
``agent.trajectory.tags.parse`` reads both. Qwen3.5's texts are those of its published chat template.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agent.tool import TOOL_NAME, tool_block, tool_schemas
from agent.trajectory.steps import Answer, Step, Think, Zoom
from agent.trajectory.tags import parse, turn_text


@dataclass(frozen=True)
class Form:
    r"""``<think>text</think>``, then a call as a JSON object in its tags (the form of Hermes), or the answer.

    ``opening``: what the chat template writes at the beginning of a turn, before the model.
    """

    name: str = "spec-o3"
    opening: str = ""

    def tools(self, measure: bool = False, sky: bool = False) -> str:
        """Return the description of the tools: of the zoom, and of ``measure`` and ``sky_context`` if offered."""
        return tool_block(measure, sky)

    def system(self, text: str, with_tool: bool, measure: bool = False, sky: bool = False) -> str:
        """Return the content of the system turn."""
        return text + (self.tools(measure, sky) if with_tool else "")

    def turn(self, steps: Iterable[Step]) -> str:
        """Return the text of one assistant turn, with the opening."""
        return turn_text(steps)

    def again(self, text: str) -> str:
        """Return an earlier turn as the model reads it: as it was written in this form, otherwise translated."""
        return text


_BEFORE_TOOLS = "# Tools\n\nYou have access to the following functions:\n\n<tools>\n"
_AFTER_TOOLS = (
    "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
    "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
    "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
    "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n"
    "- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within "
    "<tool_call></tool_call> XML tags\n- Required parameters MUST be specified\n"
    "- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT "
    "after\n- If there is no function call available, answer the question like normal with your current knowledge and "
    "do not tell the user about function calls\n</IMPORTANT>"
)


@dataclass(frozen=True)
class _Qwen35(Form):
    """Thought and call on lines of their own. The published template opens the thought itself, and puts the tools
    before the text of the system turn.
    """

    name: str = "qwen3.5"
    opening: str = "<think>\n"

    def tools(self, measure: bool = False, sky: bool = False) -> str:
        return _BEFORE_TOOLS + "\n".join(map(json.dumps, tool_schemas(measure, sky))) + _AFTER_TOOLS

    def system(self, text: str, with_tool: bool, measure: bool = False, sky: bool = False) -> str:
        return f"{self.tools(measure, sky)}\n\n{text}" if with_tool else text

    def turn(self, steps: Iterable[Step]) -> str:
        steps = tuple(steps)
        thought = "\n\n".join(step.text for step in steps if isinstance(step, Think))
        last = steps[-1] if steps else None
        rest = ""
        if isinstance(last, Zoom):
            rest = _call(last.tool or TOOL_NAME, last.arguments)
        elif isinstance(last, Answer):
            rest = turn_text([last])
        return self._written(thought, rest)

    def again(self, text: str) -> str:
        if text.startswith(self.opening):
            return text
        # A turn in the form of Spec-o3, from a stored trace, that this model continues.
        turn = parse(text)
        rest = _call(turn.call.name, turn.call.arguments) if turn.call else "".join(text.partition("<answer>")[1:])
        return self._written(turn.thought, rest)

    def _written(self, thought: str, rest: str) -> str:
        return f"{self.opening}{thought.strip()}\n</think>\n\n{rest}"


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call: texts as they are, other values as JSON."""
    lines = [f"<tool_call>\n<function={name}>\n"]
    for key, value in arguments.items():
        written = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"<parameter={key}>\n{written}\n</parameter>\n")
    return "".join([*lines, "</function>\n</tool_call>"])


SPEC_O3, QWEN3_5 = Form(), _Qwen35()
FORMS: Mapping[str, Form] = {form.name: form for form in (SPEC_O3, QWEN3_5)}
"""By name, which is the dialect of a server in ``servers.toml`` and ``model.dialect`` of a training run."""
