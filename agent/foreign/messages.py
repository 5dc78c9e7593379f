"""Messages of a conversation as events, in the forms that model servers and logs write them; limits of their size.

A text is kept as it is. A picture is taken only from the log itself, or from its folder: an address is never followed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from agent.foreign.record import Call, Event, ForeignTraceError, Result, Role, Words
from agent.language import deferred, tr

MOST_BYTES = 256 * 2**20
"""Size of one JSON value: a file, a line, or a member of an archive after unpacking."""
MOST_PICTURE = 20 * 2**20
"""Size of the file of one picture, in bytes."""
MOST_EVENTS = 20_000
"""Events of one run."""
NUMBERED = "call "
"""What the id of a call begins with if the log gives none: its number in the conversation follows."""

_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("assistant", "ai", "model", "agent"), "assistant"),
}
_TOOL_ROLES = ("tool", "function")
_TEXT = ("text", "input_text", "output_text", "refusal", "compaction")
_REASONING = ("reasoning", "thinking")
_PICTURE = ("image", "image_url", "input_image", "blob", "uri", "file")
_CALL = ("tool_use", "tool_call", "server_tool_use", "server_tool_call", "function")
_RESULT = ("tool_result", "tool_call_response", "server_tool_call_response")
_RESULT_KEYS = ("response", "result", "content", "server_tool_call_response")
_PARTS = (*_TEXT, *_PICTURE)
_ADDRESSES = ("image", "image_url", "url", "uri", "path", "file_id")
"""Keys of a picture that is not in the message itself, unless the address holds it."""
_URL_SAFE = str.maketrans("-_", "+/", "\r\n ")


def text(value: object) -> str:
    """Return a value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[Any]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def first_text(given: Mapping[str, Any], *keys: str) -> str:
    """Return the first text, of one letter or more, that an object has under these keys, "" if it has none."""
    return next((value for key in keys if (value := text(given.get(key)))), "")


def read_limited(file: BinaryIO, where: str) -> bytes:
    """Return the whole content of a file or stream. :raises ForeignTraceError: it is longer than ``MOST_BYTES``"""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ForeignTraceError(
            tr("{where}: longer than {n} MiB; split the log into smaller ones", where=where, n=MOST_BYTES // 2**20)
        )
    return data


def json_value(data: bytes | str, where: str) -> Any:
    """Return the JSON value in ``data``. :raises ForeignTraceError: it is no JSON, or nested too deeply"""
    try:
        return json.loads(data)
    except RecursionError:
        raise ForeignTraceError(tr("{where}: nested too deeply to be read", where=where)) from None
    except ValueError as error:
        raise ForeignTraceError(
            tr("{where}: found no JSON ({error}), expected an object", where=where, error=error)
        ) from None


def json_or_text(value: object) -> object:
    """Return the JSON value that a text holds; the value itself if it is no text or no JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json_value(value, "")
        except ForeignTraceError:
            return value
    return value


def json_rows(path: Path) -> tuple[list[tuple[str, Any]], list[str]]:
    """Return the JSON values of a file, one or JSON Lines, each with its name; and what is wrong with the other lines.

    :raises ForeignTraceError: the file is too long, or most of it is no JSON
    """
    with path.open("rb") as file:
        data = read_limited(file, str(path))
    try:
        return [(path.name, json_value(data, str(path)))], []
    except ForeignTraceError:
        rows: list[tuple[str, Any]] = []
        faults: list[str] = []
        for number, line in enumerate(data.splitlines(), start=1):
            if line.strip():
                name = f"{path.name}, line {number}"
                try:
                    rows.append((name, json_value(line, name)))
                except ForeignTraceError as error:
                    faults.append(error.sentence)
        if not rows or len(faults) > len(rows):
            raise
        return rows, faults[:100]


class Messages:
    """The events of messages that are added in their order, and what of them could not be read.

    :ivar faults: one sentence each, none twice
    :ivar sent: number of the first events that a model was sent, if the others are what it answered
    :param folder: has the pictures that the log names by a path; None: the log may name none
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.events: list[Event] = []
        self.faults: list[str] = []
        self.sent = 0
        self._folder = folder
        self._waiting: list[str] = []
        self._calls = 0

    def fault(self, sentence: str) -> None:
        """Note what could not be read."""
        if sentence not in self.faults and len(self.faults) < 100:
            self.faults.append(sentence)

    def message(self, message: Mapping[str, Any]) -> None:
        """Add a message with ``role``, ``content`` or ``parts``, ``tool_calls`` and so on.

        What a tool returned may stand beside its result, or in a message of the user that names the call.
        """
        role, of_call = text(message.get("role")).lower(), message.get("tool_call_id")
        content = message.get("parts", message.get("content"))
        if role in _TOOL_ROLES and not any(_kind(part) in _RESULT for part in items(content)):
            error = message.get("error")
            self.result(of_call or message.get("id"), content or mapping(error).get("message") or error, ok=not error)
            return
        if "reasoning_content" in message:
            self._part({"type": "reasoning", "content": message["reasoning_content"]})
        self.content(_ROLES.get(role, "user"), content)
        for call in items(message.get("tool_calls")):
            self._part_call(mapping(call))
        match self.events[-2:]:
            case [Result() as result, Words(role="user") as words] if role in _TOOL_ROLES or items(of_call):
                joined = "\n".join(filter(None, (result.text, words.text)))
                self.events[-2:] = [replace(result, text=joined, pictures=result.pictures + words.pictures)]

    def content(self, role: Role, content: object) -> None:
        """Add what one message says: a text, or a list of parts."""
        for is_shown, parts in groupby(items(content) or [content], _is_shown):
            if not is_shown:
                for part in parts:
                    self._part(part)
                continue
            for group in ([part] for part in parts) if role == "assistant" else [parts]:
                words, pictures = self._shown(group)
                if words or pictures:
                    self._add(Words(role, words, pictures=pictures))

    def _shown(self, parts: Iterable[Any]) -> tuple[str, tuple[bytes, ...]]:
        """Return the texts of parts, one per line, and their pictures."""
        texts, pictures = [], []
        for part in parts:
            if _kind(part) in _PICTURE:
                pictures += self._picture(part)
            elif _is_shown(part):
                texts.append(text(part) or first_text(mapping(part), "text", "content"))
            else:
                self.fault(deferred("a part of type {kind!r:.60} is not read", kind=_kind(part)))
        return "\n".join(filter(None, texts)), tuple(pictures)

    def _part(self, part: Mapping[str, Any]) -> None:
        kind = _kind(part)
        if kind in _REASONING:
            thought = first_text(part, "thinking", "reasoning", "content", "text")
            is_hidden = part.get("redacted") is True or (not thought and "signature" in part)
            thought = text(part.get("summary")) if is_hidden else thought
            if is_hidden and not thought:
                self.fault(deferred("reasoning of the model is not in the log"))
            else:  # empty, too: an export of ours may have an empty thought
                self._add(Words("assistant", thought, is_thought=True))
        elif kind in _CALL:
            self._part_call(part)
            if "result" in part:
                self.result(part.get("id"), part.get("error") or part["result"], ok=not part.get("error"))
        elif kind in _RESULT:
            content = next((part[key] for key in _RESULT_KEYS if key in part), "")
            self.result(part.get("tool_use_id") or part.get("id"), content, ok=part.get("is_error") is not True)
        else:
            self.fault(deferred("a part of type {kind!r:.60} is not read", kind=kind))

    def _part_call(self, part: Mapping[str, Any]) -> None:
        function = mapping(part.get("function"))
        keys = ("arguments", "input", "server_tool_call")
        given = next((part[key] for key in keys if key in part), function.get("arguments"))
        name = part.get("name") or function.get("name") or part.get("function")
        self.call(part.get("id") or part.get("call_id"), name, given)

    def call(self, call_id: object, name: object, arguments: object) -> None:
        """Add a call of a tool. A call without id gets one from its number in the conversation."""
        self._calls += 1
        parsed = json_or_text(arguments)
        if parsed in (None, ""):
            parsed = {}
        elif not isinstance(parsed, Mapping):
            self.fault(
                deferred("arguments of {name!r:.60}: found {value}, expected an object", name=name, value=parsed)
            )
            parsed = {"arguments": parsed}
        key = text(call_id) or f"{NUMBERED}{self._calls}"
        self._waiting.append(key)
        self._add(Call(key, text(name), parsed))

    def result(self, call_id: object, content: object, ok: bool = True) -> None:
        """Add the result of a call; without id, of the first call that has none."""
        key = text(call_id) or next(iter(self._waiting), "")
        if key in self._waiting:
            self._waiting.remove(key)
        given = json_or_text(content)  # a text may hold the parts in JSON
        parts = items(given) or items(mapping(given).get("content")) or [given]
        pictures: tuple[bytes, ...] = ()
        if any(_kind(part) in _PARTS for part in parts):
            words, pictures = self._shown(parts)
        elif isinstance(content, str) or content in (None, [], {}):
            words = text(content)
        else:
            words = json.dumps(content, ensure_ascii=False)
        failed = any(mapping(given).get(key) is True for key in ("isError", "is_error"))
        self._add(Result(key, words, pictures, ok and not failed))

    def _add(self, event: Event) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.fault(deferred("only the first {n} events are read", n=MOST_EVENTS))

    def _picture(self, part: Mapping[str, Any]) -> list[bytes]:
        """Return the bytes of a picture that lies in the log itself, or in its folder."""
        inner = (part, *(mapping(part.get(key)) for key in ("source", "image", "image_url")))
        given = {key: value for each in inner for key, value in each.items() if isinstance(value, str)}
        media = first_text(given, "mime_type", "mimeType", "media_type")
        modality = first_text(given, "modality") or media.partition("/")[0] or "image"
        if modality != "image":
            self.fault(deferred("a part of type {kind!r:.60} is not read", kind=modality))
            return []
        data, where = first_text(given, "data", "content"), first_text(given, *_ADDRESSES)
        head, _, rest = (data or where).partition(",")
        if head.startswith("data:") and (data or head.endswith(";base64")):
            data = rest
        elif not data:
            file = self._file(where)
            if file is None:
                self.fault(deferred("picture {name!r:.80} is only named, not in the log", name=where[:200]))
            return [] if file is None else [file]
        if len(data) > MOST_PICTURE * 4 // 3 + 4:
            self.fault(deferred("a picture is larger than {n} MiB and is left out", n=MOST_PICTURE // 2**20))
            return []
        try:
            return [base64.b64decode(data.translate(_URL_SAFE), validate=True)]
        except (binascii.Error, ValueError):
            self.fault(deferred("picture {name!r:.40} is no base64 and is left out", name=data[:99]))
            return []

    def _file(self, path: str) -> bytes | None:
        """Return a file in the folder of the log; None if the path leads elsewhere, or to no file that may be read."""
        if self._folder is None or "://" in path:
            return None
        try:
            file = (self._folder / path).resolve()
            if file.is_relative_to(self._folder.resolve()) and file.is_file() and file.stat().st_size <= MOST_PICTURE:
                return file.read_bytes()
        except (OSError, ValueError, RuntimeError):  # a NUL, a lone surrogate, 4,000 letters, a link to itself
            pass
        return None


def _kind(part: object) -> str:
    return text(mapping(part).get("type"))


def _is_shown(part: object) -> bool:
    """Whether a part is a text or a picture."""
    return isinstance(part, str) or _kind(part) in ("", *_PARTS)
