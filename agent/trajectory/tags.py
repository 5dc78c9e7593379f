r"""Parse and write the tagged text of a Spec-o3 model. ``parse`` never raises; it lists each fault that it accepted.

Form: ``<think>text</think>``, then ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>`` or
``<answer>\boxed{YES} explanation</answer>``. A call in Qwen3.5's form, ``<function=NAME><parameter=KEY>value ...``, is
read too.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.tool import TOOL_NAME, tool_schemas
from agent.trajectory.repair import repair
from agent.trajectory.steps import Answer, Step, Think, Verdict, Zoom

CLASSES = ("YES", "NO")

CONTROL = (
    *("<image>", "<video>", "<audio>"),
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>"),
    *("<|image_pad|>", "<|video_pad|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>"),
    *("<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"),
    *("<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"),
)
"""Not allowed in any text, prompts included: the placeholders of pictures in ShareGPT rows, and every token that
Qwen2.5-VL's tokenizer adds to its vocabulary, but for ``<tool_call>`` and ``</tool_call>``, which prompts explain.
"""

RESERVED = (
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<answer>",
    "</answer>",
    "<tool_response>",
    "</tool_response>",
    *CONTROL,
)
"""Not allowed in the text of a step: it would be read as the format."""

_TAG = re.compile(r"<(/?)(think|tool_call|answer)>")
_SPECIAL = re.compile(r"<\|(?:im_end|endoftext|im_start)\|>(?:assistant\n)?")
# [^{}]* also matches white space; matching it a second time would take quadratic time on a long run of spaces.
_BOX = re.compile(r"\\boxed\s*\{(?:\s*\\text\s*\{([^{}]*)\}\s*|([^{}]*))\}")
# What only points at a box before it: signs, and the words "the final answer is".
_SIGNS = r"[^\w.!?%)\]}]*"
_POINTER = re.compile(
    rf"{_SIGNS}(?:(?<!\w)(?:(?:the|my) )?(?:final )?(?:answer|verdict)(?: is)?)?{_SIGNS}$", re.IGNORECASE
)
_WINDOW = re.compile(r"wavelength_range\W+?\[\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\]")
_LABEL = re.compile(r"""label["']?\s*:\s*["']([^"'\n{}]*)["']""")
_FUNCTION, _FUNCTION_END, _PARAMETER, _PARAMETER_END = "<function=", "</function>", "<parameter=", "</parameter>"
_TYPES = {
    key: of.get("type")
    for schema in tool_schemas(measure=True, sky=True)
    for key, of in schema["function"]["parameters"]["properties"].items()
}
_REQUIRED = {
    schema["function"]["name"]: schema["function"]["parameters"]["required"]
    for schema in tool_schemas(measure=True, sky=True)
}
_DEEPEST = 20
"""Objects and lists within each other that a call may have; what nests deeper is no call of this tool, and
could be neither copied nor written.
"""


@dataclass(frozen=True)
class Call:
    """A tool call as the model wrote it: strict JSON values (NaN and the infinities became text)."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """The content of the answer tags: the verdict, None if none could be read, and the rest."""

    verdict: Verdict | None
    explanation: str


@dataclass(frozen=True)
class Turn:
    """One assistant turn. A call and an answer in one turn is a fault; the published loop runs the call."""

    thought: str = ""
    call: Call | None = None
    answer: Reply | None = None
    faults: tuple[str, ...] = ()


@dataclass
class _Parts:
    """The content of each tag, in order; ``outside`` is the text in no tag."""

    think: list[str] = field(default_factory=list)
    tool_call: list[str] = field(default_factory=list)
    answer: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def put(self, tag: str | None, text: str) -> None:
        if tag is not None or text.strip():
            getattr(self, tag or "outside").append(text.strip())


def turn_text(steps: Iterable[Step]) -> str:
    """Return the canonical text of one assistant turn: think steps, then one zoom, the answer, or neither."""
    text, thoughts = "", []
    for step in steps:
        match step:
            case Think():
                thoughts.append(step.text)
            case Zoom():
                call = {"name": step.tool, "arguments": dict(step.arguments)}
                text = f"\n<tool_call>\n{json.dumps(call, ensure_ascii=False)}\n</tool_call>"
            case Answer():
                boxed = rf"\boxed{{{step.verdict or ''}}} {step.explanation}".rstrip()
                text = f"<answer>{boxed}</answer>"
    thought = "\n\n".join(thoughts)
    return f"<think>{thought}</think>{text}" if thoughts else text.lstrip("\n")


def reserved_tags(text: str) -> list[str]:
    """Return the tags of the format that occur in a step's text."""
    return [tag for tag in RESERVED if tag in text]


def control_tokens(text: str) -> list[str]:
    """Return the control tokens that occur in a text."""
    return [token for token in CONTROL if token in text]


def between(text: str, opening: str, closing: str) -> Iterator[str]:
    """Return what ``re.findall(f"{opening}(.*?){closing}", text, re.DOTALL)`` gives, but in linear time.

    The regular expression takes quadratic time if a model repeats the opening and never closes it.
    """
    at = 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
        yield text[start + len(opening) : end]
        at = end + len(closing)


def read_response(response: str) -> tuple[bool, str]:
    """Return whether the form of a whole response is right, and the class it predicts, by the published rules.

    ``response`` is everything an assistant wrote in one inspection. The rules are those of the published reward
    (``training.reward``): the order of think and answer is not checked, and without a box YES is searched before NO.
    """
    answers = list(between(response, "<answer>", "</answer>"))
    one_answer = response.count("<answer>") == response.count("</answer>") == len(answers) == 1
    thought = response.count("<think>") == response.count("</think>") > 0
    answer = answers[-1].strip() if answers else ""  # if there are several, the last counts
    box = _boxed(answer)
    predicted = _class_named(answer) if box is None else box
    if not predicted:
        predicted = _boxed(response) or _class_named(response) or _last_line(response)
    return thought and one_answer and box in CLASSES, predicted


def _boxed(text: str) -> str | None:
    """Return the contents of the first box, in capitals if it is a class; None without a box."""
    box = next(between(text, "\\boxed{", "}"), None)
    if box is None:
        return None
    words = box.strip()
    return words.upper() if words.upper() in CLASSES else words


def _class_named(text: str) -> str:
    return next((name for name in CLASSES if re.search(rf"\b{name}\b", text, re.IGNORECASE)), "")


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.split("\n")) if line.strip()), "")


def parse(text: str) -> Turn:
    """Read one assistant turn, whatever the model wrote; ``Turn.faults`` lists what was accepted although it was
    wrong.
    """
    text, damage = repair(text)
    parts = _split(_SPECIAL.sub("", text))
    parts.faults[:0] = damage
    call = _first_call(parts)
    answer = _last_answer(parts)
    if call is not None and answer is not None:
        parts.faults.append("a tool call and an answer in one turn")
    if parts.outside:
        parts.faults.append("text outside the tags" if parts.think else "no <think> tags")
    thought = "\n\n".join(t for t in (*parts.think, *parts.outside) if t)
    return Turn(_TAG.sub("", thought), call, answer, tuple(parts.faults))


def _split(text: str) -> _Parts:
    parts = _Parts()
    inside: str | None = None
    at = 0
    for tag in _TAG.finditer(text):
        chunk, at = text[at : tag.start()], tag.end()
        closing, name = tag[1] == "/", tag[2]
        if closing and inside in (name, None):
            if inside is None:
                parts.faults.append(f"</{name}> without <{name}>")
                # A second </think> closes nothing; only the text before it can be a thought.
                if not chunk.strip():
                    continue
            parts.put(name, chunk)
            inside = None
            continue
        if inside is not None:
            parts.faults.append(f"<{inside}> not closed")
        parts.put(inside, chunk)
        inside = None if closing else name
    if inside is not None:
        parts.faults.append(f"<{inside}> not closed")
    parts.put(inside, text[at:])
    return parts


def _first_call(parts: _Parts) -> Call | None:
    if not parts.tool_call and not parts.answer:
        naked = next((t for t in parts.outside if TOOL_NAME in t and ("{" in t or _FUNCTION in t)), None)
        if naked is not None:
            parts.faults.append("no <tool_call> tags")
            parts.outside.remove(naked)
            before, begin, rest = naked.partition(_FUNCTION if _FUNCTION in naked else "{")
            parts.put(None, before)
            parts.tool_call.append(begin + rest)
    calls = [call for raw in parts.tool_call if (call := _call(raw, parts.faults)) is not None]
    if len(calls) > 1:
        parts.faults.append(f"{len(calls)} tool calls in one turn: the first was taken")
    return calls[0] if calls else None


def _call(raw: str, faults: list[str]) -> Call | None:
    if _FUNCTION in raw:
        return _function_call(raw, faults)
    call = _json_object(raw)
    if call is None:
        window = _WINDOW.search(raw)
        if window is None:
            faults.append(f"a tool call that cannot be read: {raw!r:.80}")
            return None
        faults.append("broken JSON in a tool call: its window and label were read")
        label = _LABEL.search(raw)
        named = {"label": label[1]} if label else {}
        return Call(TOOL_NAME, {**named, "wavelength_range": [_number(window[1]), _number(window[2])]})
    name, arguments = call.get("name"), call.get("arguments", call.get("parameters"))
    if isinstance(arguments, str):
        faults.append("arguments given as text")
        arguments = _json_object(arguments)
    if not isinstance(arguments, dict):
        faults.append("a tool call without arguments")
        arguments = {key: value for key, value in call.items() if key in ("wavelength_range", "label", "feature")}
    # The name may be any JSON value.
    if name not in tuple(_REQUIRED):
        faults.append(f"a call of {name!r:.60}")
    arguments, damage = _repaired(arguments)
    faults.extend(damage)
    return Call(name if isinstance(name, str) else "", arguments)


def _function_call(raw: str, faults: list[str]) -> Call | None:
    """Read ``<function=NAME>`` with its ``<parameter=KEY>`` blocks, by the types of the tool's schema: a text as it
    stands, anything else as JSON.
    """
    functions = raw.split(_FUNCTION)[1:]
    if len(functions) > 1:
        faults.append(f"{len(functions)} functions in one tool call: the first was taken")
    name, named, body = functions[0].partition(">")
    if not named:
        faults.append(f"a tool call that cannot be read: {raw!r:.80}")
        return None
    if _FUNCTION_END not in body:
        faults.append("<function> not closed")
    arguments: dict[str, Any] = {}
    for block in body.rpartition(_FUNCTION_END)[0 if _FUNCTION_END in body else 2].split(_PARAMETER)[1:]:
        key, _, rest = block.partition(">")
        text, closed, _ = rest.rpartition(_PARAMETER_END)
        if not closed:
            # What was cut may be a number short of its last digits.
            faults.append(f"a tool call that cannot be read: {raw!r:.80}")
            return None
        if key in arguments:
            faults.append(f"{key!r:.60} twice: the first was taken")
            continue
        text, damage = repair(text.removeprefix("\n").removesuffix("\n"))
        faults.extend(damage)
        arguments[repair(key)[0]] = text if _TYPES.get(key, "string") == "string" else _value(key, text, faults)
    if name not in _REQUIRED:
        faults.append(f"a call of {name!r:.60}")
    else:
        faults.extend(f"a tool call without {key}" for key in _REQUIRED[name] if key not in arguments)
    return Call(repair(name)[0], arguments)


def _value(key: str, text: str, faults: list[str]) -> Any:
    """Return the value of a parameter that is no text; if it cannot be read the text itself, which the tool refuses."""
    if text.strip() in ("null", "None"):
        return None
    value = _literal(text.strip(), alone=True)
    if value is None:
        faults.append(f"{key}: {text!r:.60} is not JSON")
        return text
    value, damage = _repaired(value)
    faults.extend(damage)
    return value


def _json_object(raw: str) -> dict[str, Any] | None:
    """Return the object in ``raw``: JSON, JSON followed by other text, or a Python literal; None if there is none."""
    parsed = _literal(re.sub(r"^```(?:json)?|```$", "", raw.strip()).strip())
    return parsed if isinstance(parsed, dict) else None


def _literal(raw: str, alone: bool = False) -> Any:
    """Return the JSON value or the Python literal that ``raw`` begins with; None if there is none.

    :param alone: nothing may follow it
    """
    # strict=False: the published rows hold raw control characters inside strings.
    reader = json.JSONDecoder(strict=False, parse_constant=str, parse_float=_number)
    try:
        parsed, end = reader.raw_decode(raw)
        if alone and end < len(raw):
            return None
    except (ValueError, RecursionError):
        try:
            parsed = ast.literal_eval(raw)
            json.dumps(parsed, allow_nan=False)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return None
    return None if _is_deep(parsed) else parsed


def _is_deep(value: object) -> bool:
    layer = [value]
    for _ in range(_DEEPEST):
        layer = [inner for outer in layer for inner in _inside(outer)]
    return bool(layer)


def _inside(outer: object) -> Iterable[object]:
    return outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()


def _number(text: str) -> float | str:
    """Return a number that JSON can hold; text if it cannot (1e999)."""
    try:
        number = int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
    return number if abs(number) < float("inf") else text


def _repaired(value: Any) -> tuple[Any, tuple[str, ...]]:
    if isinstance(value, str):
        return repair(value)
    if isinstance(value, dict):
        pairs = [(repair(str(key))[0], *_repaired(inner)) for key, inner in value.items()]
        return {key: inner for key, inner, _ in pairs}, tuple(f for _, _, faults in pairs for f in faults)
    if isinstance(value, list):
        items = [_repaired(inner) for inner in value]
        return [inner for inner, _ in items], tuple(f for _, faults in items for f in faults)
    return value, ()


def _last_answer(parts: _Parts) -> Reply | None:
    if len(parts.answer) > 1:
        parts.faults.append(f"{len(parts.answer)} answers in one turn: the last was taken")
    if parts.answer:
        return _reply(parts.answer[-1], parts.faults)
    boxed = next((t for t in parts.outside if _BOX.search(t)), None)
    if boxed is None or parts.tool_call:
        return None
    parts.faults.append("no <answer> tags")
    parts.outside.remove(boxed)
    return _reply(boxed, parts.faults)


def _reply(text: str, faults: list[str]) -> Reply:
    box = _BOX.search(text)
    if box is None:
        faults.append(r"no \boxed{} in the answer")
        words = {word.upper() for word in re.findall(r"\b(?:yes|no)\b", text, re.IGNORECASE)}
        return Reply(_verdict(words.pop()) if len(words) == 1 else None, text)
    before, after = text[: box.start()].strip(), text[box.end() :].strip()
    if before:
        faults.append("words before the box")
        before = before[:-100] + _POINTER.sub("", before[-100:])
        after = after if re.search(r"\w", after) else ""  # the end of bold type
    verdict = _verdict((box[1] or box[2] or "").strip().upper())
    if verdict is None:
        faults.append(f"{box[0]!r:.60} is neither YES nor NO")
    return Reply(verdict, " ".join(filter(None, (before, after))))


def _verdict(word: str) -> Verdict | None:
    return "YES" if word == "YES" else "NO" if word == "NO" else None
