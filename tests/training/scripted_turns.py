"""Turns of a scripted model: calls, errors of the tool, answers, and bad form."""

from __future__ import annotations

import json

from agent.tool import TOOL_NAME


def zoom(window: object, label: object = None, name: str = TOOL_NAME) -> str:
    arguments = {"wavelength_range": window} | ({"label": label} if label else {})
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<think>Next.</think>\n<tool_call>\n{call}\n</tool_call>"


YES = r"<think>Done.</think><answer>\boxed{YES} broad Hα</answer>"
NO = r"<think>Done.</think><answer>\boxed{NO} no emission</answer>"
SCRIPTS = {
    "answer at once": [YES],
    "two zooms": [zoom([6500, 6600], "Hα"), zoom([4800.5, 4920]), YES],
    "errors of the tool": [zoom([20000, 30000]), zoom("all"), zoom([6600, 6500], "the line"), NO],
    "another function": [zoom([6500, 6600], name="zoom"), YES],
    "a long label": [zoom([6500, 6600], "α" * 3000), YES],
    "no call and no answer": ["<think>I wonder.</think>"],
    "the last turn's call is not run": [zoom([6500 + n, 6600]) for n in range(8)],
    "bad form": [zoom([6500, 6600]), r"\boxed{YES} without tags"],
}
