"""What a model may write to make a reader take for ever, and the readers, in a process that may not.

``python tests/support/hostile_turns.py`` ends by itself, or is ended by the system when it has used its seconds of
processor time: a pattern that tries every way to read 100,000 characters needs hours.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator

CHARACTERS = 100_000
PROCESSOR_SECONDS = 60
ARGUMENTS = '{"wavelength_range": [1, 2]}'
CALL = f'<tool_call>\n{{"name": "spectral_visualization_tool", "arguments": {ARGUMENTS}}}</tool_call>'
REPEATED = (
    *(
        "<think>",
        "</think>",
        "<tool_call>",
        "<tool_call>\n",
        "<answer>",
        "<answer>a</answer>",
        "<think>a</think>",
    ),
    *(
        "\\boxed{",
        "\\boxed{ ",
        "\\boxed",
        "\\boxed{\\text{",
        "{",
        '{"a":',
        '{"',
        "[",
        "(",
        "-",
        "1+",
        " ",
        "\n",
        "```",
    ),
    *(
        "wavelength_range[",
        "wavelength_range [ ",
        'label:"',
        "label ",
        "<|im_start|>",
        "\x02",
        "\x03b1",
        "\x1b[0",
    ),
    *(
        "gpt ",
        "coadd-",
        "the label ",
        "known ",
        "a",
        "yes ",
        "spectral_visualization_tool {",
        "a</think>\\boxed{",
    ),
)
AROUND = (
    *(("<answer>\\boxed{", " ", "{</answer>"), ("<answer>\\boxed{\\text{a}", " ", "{</answer>")),
    *(("\\boxed{", " ", "x"), ("<answer>\\boxed", " ", "x</answer>"), (CALL, "<tool_call>\n", "")),
    *((".fits ", "a", ""), ("<tool_call>wavelength_range[1", " ", "x</tool_call>")),
    *(("<tool_call>wavelength_range[", ".", "x</tool_call>"), ("<tool_call>[1e", "9", "]</tool_call>")),
    *(
        (f"{CALL}<tool_call>\n{{", '"name": "\\a', "\n</tool_call>"),
        ("<tool_call>wavelength_range", "[ ", ""),
    ),
    *(
        ("<tool_call>", "[", "</tool_call>"),
        ("<tool_call>", "-", "1</tool_call>"),
        ("", "1+", "1</tool_call>"),
    ),
)


def texts() -> Iterator[str]:
    for part in REPEATED:
        yield part * (CHARACTERS // len(part))
    for before, part, after in AROUND:
        yield before + part * (CHARACTERS // len(part)) + after


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
    for text in texts():
        for read in readers:
            read(text)
    print("read")


if __name__ == "__main__":
    main()
