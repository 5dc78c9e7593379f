"""Output of a model or its server: small valid and damaged turns and streams, and long repetitions.

``python -m tests.support.inputs.model_output`` reads the repetitions with limited processor time, because a bad
pattern needs hours for 100,000 characters.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Callable, Iterator
from typing import Any

CHARACTERS = 100_000
PROCESSOR_SECONDS = 60
CALL = '<tool_call>\n{"name": "spectral_visualization_tool", "arguments": {"wavelength_range": [1, 2]}}</tool_call>'
REPEATED = (
    *("<think>", "</think>", "<tool_call>", "<tool_call>\n", "<answer>", "<answer>a</answer>", "<think>a</think>"),
    *("\\boxed{", "\\boxed{ ", "\\boxed", "\\boxed{\\text{", "{", '{"a":', '{"', "[", "(", "-", "1+", " ", "\n", "```"),
    *("wavelength_range[", "wavelength_range [ ", 'label:"', "label ", "<|im_start|>", "\x02", "\x03b1", "\x1b[0"),
    *("gpt ", "coadd-", "the label ", "known ", "a", "yes ", "spectral_visualization_tool {", "a</think>\\boxed{"),
)
AROUND = (
    *(("<answer>\\boxed{", " ", "{</answer>"), ("<answer>\\boxed{\\text{a}", " ", "{</answer>")),
    *(("\\boxed{", " ", "x"), ("<answer>\\boxed", " ", "x</answer>"), (CALL, "<tool_call>\n", "")),
    *((".fits ", "a", ""), ("<tool_call>wavelength_range[1", " ", "x</tool_call>")),
    *(("<tool_call>wavelength_range[", ".", "x</tool_call>"), ("<tool_call>[1e", "9", "]</tool_call>")),
    *((f"{CALL}<tool_call>\n{{", '"name": "\\a', "\n</tool_call>"), ("<tool_call>wavelength_range", "[ ", "")),
    *(("<tool_call>", "[", "</tool_call>"), ("<tool_call>", "-", "1</tool_call>"), ("", "1+", "1</tool_call>")),
)


def repetitions(characters: int = CHARACTERS) -> Iterator[str]:
    for before, part, after in (*(("", part, "") for part in REPEATED), *AROUND):
        yield before + part * (characters // len(part)) + after


def turns() -> list[bytes]:
    arguments = '{"wavelength_range": [4010, 4060.5], "label": "Hα"}'
    call = f'{{"name": "spectral_visualization_tool", "arguments": {arguments}}}'
    quoted = json.dumps({"name": "x", "arguments": '{"wavelength_range": [1e999, NaN]}'})
    texts = (
        f"<think>Look.</think>\n<tool_call>\n{call}\n</tool_call>",
        "<think>Seen.</think><answer>\\boxed{YES} Broad.</answer>",
        f"I look. {call}",
        f"<tool_call>{call[:-2]}</tool_call><tool_call>{{'wavelength_range': (1, 2)}}</tool_call>",
        "<answer>**no**</answer></think>\\boxed{NO}<|im_end|>",
        f"<tool_call>```json\n{quoted}\n```</tool_call>",
        "\x03b1 H\x02 \x1b[31m \x00b1 5 6500\x005",
    )
    return [text.encode() for text in (*texts, *repetitions(60))]


def streams() -> list[bytes]:
    def event(**delta: Any) -> str:
        return "data: " + json.dumps({"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    call = {"index": 0, "id": "c", "function": {"name": "spectral_visualization_tool", "arguments": '{"label": "x"}'}}
    lines = [
        event(role="assistant", content="<think>Lo"),
        event(content="ok.</think>"),
        event(reasoning_content="hm <answer>"),
    ]
    lines += [event(tool_calls=[call]), event(tool_calls=[call | {"id": None}])]
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 7}}'
    return ["\n\n".join([*lines, usage, "data: [DONE]", ""]).encode(), b": alive\n\ndata: {}\n\ndata: {\ndata: }\n\n"]


def main() -> None:
    from agent.policies.native import Reply, assistant_message
    from agent.policies.openai.stream import Delta
    from agent.text import one_line
    from agent.trajectory import tags
    from reviewer.blind.leaks import find_leaks
    from training.reward import score

    def streamed(text: str) -> None:
        reply = Reply()
        for start in range(0, len(text), 50):
            reply.add(Delta(text=text[start : start + 50]))
        tags.parse(reply.end())

    readers: tuple[Callable[[str], object], ...] = (
        *(tags.parse, lambda text: assistant_message(text, "call00001"), lambda text: score(text, "YES")),
        *(find_leaks, one_line, streamed),
    )
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    for text in repetitions():
        for read in readers:
            read(text)
    print("read")


if __name__ == "__main__":
    main()
