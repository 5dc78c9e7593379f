"""Messages of a conversation as events, in the forms that model servers and logs write them; limits of their size.

A text is kept as it is. A picture is taken only from the log itself: an address or a file name is never followed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO

from agent.foreign.record import Call, Event, ForeignTrace, ForeignTraceError, Result, Role, Words
from agent.language import deferred, tr
from agent.text import LONE_SURROGATE

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


def text(value: object) -> str:
    """Return a value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a value if it is an object of JSON, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[Any]:
    """Return a value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def read_limited(file: BinaryIO, where: str) -> bytes:
    """Return the whole content of a file or stream. :raises ForeignTraceError: it is longer than ``MOST_BYTES``"""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ForeignTraceError(
            tr("{where}: longer than {n} MiB; split the log into smaller ones", where=where, n=MOST_BYTES // 2**20)
        )
    return data


def read_file(path: Path) -> bytes:
    """Return the bytes of a file. :raises ForeignTraceError: it is longer than ``MOST_BYTES``"""
    with path.open("rb") as file:
        return read_limited(file, str(path))


def json_value(data: bytes | str, where: str) -> Any:
    """Return the JSON value in ``data``, whole characters only, null for NaN and the infinities.

    :raises ForeignTraceError: it is no JSON, or nested too deeply
    """
    try:
        value = json.loads(data, parse_constant=lambda _: None)
        if (b"\\ud" if isinstance(data, bytes) else "\\ud") in data.lower():  # type: ignore[operator]
            written = json.dumps(value, ensure_ascii=False)
            if LONE_SURROGATE.search(written):
                value = json.loads(LONE_SURROGATE.sub("\ufffd", written))
    except RecursionError:
        raise ForeignTraceError(tr("{where}: nested too deeply to be read", where=where)) from None
    except ValueError as error:
        raise ForeignTraceError(
            tr("{where}: found no JSON ({error}), expected an object", where=where, error=error)
        ) from None
    return value


def json_or_text(value: object) -> object:
    """Return the JSON value that a text holds; the value itself if it is no text or no JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json_value(value, "")
        except ForeignTraceError:
            return value
    return value


def guarded(read: Callable[[Path], Iterator[ForeignTrace]]) -> Callable[[Path], Iterator[ForeignTrace]]:
    """Return a reader that refuses what is nested too deeply for it, and what the disk does not give."""

    @wraps(read)
    def traces(path: Path) -> Iterator[ForeignTrace]:
        try:
            yield from read(path)
        except RecursionError:
            raise ForeignTraceError(tr("{where}: nested too deeply to be read", where=path)) from None
        except OSError as error:
            raise ForeignTraceError(f"{path}: {error.strerror or error}") from error

    return traces


class Messages:
    """The events of messages that are added in their order, and what of them could not be read.

    :param attachments: contents that a message names by ``attachment://`` and their key
    """

    def __init__(self, attachments: Mapping[str, Any] | None = None) -> None:
        self.events: list[Event] = []
        self._faults: dict[str, None] = {}
        self._attachments = attachments or {}
        self._open: dict[str, str] = {}
        self._calls = 0

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be read, one sentence each, none twice."""
        return tuple(self._faults)

    def fault(self, sentence: str) -> None:
        """Note what could not be read."""
        if len(self._faults) < 100:
            self._faults[sentence] = None

    def follow(self, before: Messages) -> None:
        """Continue a conversation: calls without id are numbered on, and results are of its calls."""
        self._calls, self._open = before._calls, dict(before._open)

    def message(self, message: Mapping[str, Any]) -> None:
        """Add a message with ``role``, ``content`` or ``parts``, ``tool_calls`` and so on.

        What a tool returned may stand beside its result, or in a message of the user that names the call.
        """
        role, of_call = text(message.get("role")).lower(), message.get("tool_call_id")
        content = message["parts"] if "parts" in message else message.get("content")
        if role in _TOOL_ROLES and not any(_kind(part) in _RESULT for part in items(content)):
            error = message.get("error")
            shown = content or mapping(error).get("message") or error
            self.result(of_call or message.get("id"), shown, ok=not error, name=message.get("name"))
            return
        self._say("assistant", self._text(message.get("reasoning_content")), is_thought=True)
        self.content(_ROLES.get(role, "user"), content)
        for call in items(message.get("tool_calls")):
            self._part_call(mapping(call))
        match self.events[-2:]:
            case [Result() as result, Words(role="user") as words] if role in _TOOL_ROLES or items(of_call):
                joined = "\n".join(filter(None, (result.text, words.text)))
                self.events[-2:] = [replace(result, text=joined, pictures=result.pictures + words.pictures)]

    def content(self, role: Role, content: object) -> None:
        """Add what one message says: a text, or a list of parts."""
        pending: tuple[list[str], list[bytes]] = ([], [])
        for part in items(content) or [content]:
            kind = _kind(part)
            is_loose = isinstance(part, str) or kind in _PARTS or not kind
            if is_loose:
                self._collect(part, kind, pending)
            if not is_loose or role == "assistant":
                self._flush(role, pending)
            if not is_loose:
                self._part(part, kind)
        self._flush(role, pending)

    def _part(self, part: Mapping[str, Any], kind: str) -> None:
        if kind in _REASONING:
            thought = self._text(
                part.get("thinking") or part.get("reasoning") or part.get("content") or part.get("text")
            )
            is_hidden = part.get("redacted") is True or (not thought and "signature" in part)
            thought = self._text(part.get("summary")) if is_hidden else thought
            if is_hidden and not thought:
                self.fault(deferred("reasoning of the model is not in the log"))
            else:  # empty, too: an export of ours may have an empty thought
                self._add(Words("assistant", thought, is_thought=True))
        elif kind in _CALL:
            self._part_call(part)
            if "result" in part:
                self.result(part.get("id"), part.get("error") or part["result"], ok=not part.get("error"))
        elif kind in _RESULT:
            shown = next((part[key] for key in _RESULT_KEYS if key in part), "")
            self.result(
                part.get("tool_use_id") or part.get("id"),
                shown,
                ok=part.get("is_error") is not True,
                name=part.get("name"),
            )
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
        parsed = json_or_text(self._text(arguments) or arguments)
        if parsed in (None, ""):
            parsed = {}
        elif not isinstance(parsed, Mapping):
            self.fault(
                deferred("arguments of {name!r:.60}: found {value}, expected an object", name=name, value=parsed)
            )
            parsed = {"arguments": parsed}
        key = text(call_id) or f"{NUMBERED}{self._calls}"
        self._open[key] = text(name)
        self._add(Call(key, text(name), {text(k): self._resolved(v) for k, v in parsed.items()}))

    def result(self, call_id: object, content: object, ok: bool = True, name: object = None) -> None:
        """Add the result of a call; without id, of the first call that has none, of this name if one is given."""
        waiting = [key for key, tool in self._open.items() if not name or tool == name] or list(self._open)
        key = text(call_id) or next(iter(waiting), "")
        self._open.pop(key, None)
        shown = self._text(content) or content
        parsed = json_or_text(shown)
        inner = items(parsed) or items(mapping(parsed).get("content"))
        failed = any(mapping(parsed).get(key) is True for key in ("isError", "is_error"))
        pending: tuple[list[str], list[bytes]] = ([], [])
        if parsed is shown:
            are_parts = all(isinstance(part, str) or _kind(part) for part in inner)
            inner = inner or ([parsed] if _kind(parsed) in _PARTS else [])
        else:  # a text, which may be JSON of its own and stays as it is
            are_parts = all(_kind(part) in _PARTS for part in inner)
        if inner and are_parts:
            for part in inner:
                self._collect(part, _kind(part), pending)
        elif isinstance(shown, str) or shown not in (None, [], {}):
            written = shown if isinstance(shown, str) else json.dumps(self._resolved(shown), ensure_ascii=False)
            pending[0].append(written)
        self._add(Result(key, "\n".join(filter(None, pending[0])), tuple(pending[1]), ok and not failed))

    def _collect(self, part: object, kind: str, pending: tuple[list[str], list[bytes]]) -> None:
        """Add the text or the picture of a part to those before it."""
        if kind in _PICTURE:
            pending[1].extend(self._picture(mapping(part)))
        elif isinstance(part, str) or kind in _TEXT or not kind:
            pending[0].append(self._text(part) or self._text(mapping(part).get("text") or mapping(part).get("content")))
        else:
            self.fault(deferred("a part of type {kind!r:.60} is not read", kind=kind))

    def _flush(self, role: Role, pending: tuple[list[str], list[bytes]]) -> None:
        texts, pictures = pending
        self._say(role, "\n".join(filter(None, texts)), pictures=tuple(pictures))
        texts.clear()
        pictures.clear()

    def _say(self, role: Role, words: str, is_thought: bool = False, pictures: tuple[bytes, ...] = ()) -> None:
        if words or pictures:
            self._add(Words(role, words, is_thought, pictures))

    def _add(self, event: Event) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.fault(deferred("only the first {n} events are read", n=MOST_EVENTS))

    def _picture(self, part: Mapping[str, Any]) -> Iterable[bytes]:
        """Return the bytes of a picture that lies in the log itself."""
        kind, address = text(part.get("mime_type") or part.get("mimeType")), mapping(part.get("image_url"))
        modality = text(part.get("modality")) or kind.partition("/")[0] or "image"
        if modality != "image":
            self.fault(deferred("a part of type {kind!r:.60} is not read", kind=modality))
            return ()
        source = mapping(part.get("source") or part.get("image"))
        inline = part.get("data") or source.get("data") or (part.get("content") if part.get("type") == "blob" else None)
        named = part.get("image") or address.get("url") or part.get("image_url") or part.get("url") or source.get("url")
        where = (
            text(inline) or text(named) or text(part.get("uri")) or text(part.get("file_id") or source.get("file_id"))
        )
        data = self._text(where)
        if not inline:
            head, comma, data = data.partition(",")
            if not (comma and head.startswith("data:") and head.endswith(";base64")):
                self.fault(deferred("picture {name!r:.80} is only named, not in the log", name=where[:200]))
                return ()
        elif data.startswith("data:"):
            data = data.partition(",")[2]
        if len(data) > MOST_PICTURE * 4 // 3 + 4:
            self.fault(deferred("a picture is larger than {n} MiB and is left out", n=MOST_PICTURE // 2**20))
            return ()
        try:
            return [base64.b64decode(data.translate(_URL_SAFE), validate=True)]
        except (binascii.Error, ValueError):
            self.fault(deferred("picture {name!r:.40} is no base64 and is left out", name=data[:99]))
            return ()

    def _text(self, value: object) -> str:
        """Return a text, or the attachment that it names."""
        if isinstance(value, str) and value.startswith(("attachment://", "tc://")):
            return text(self._attachments.get(value.partition("://")[2])) or value
        return text(value)

    def _resolved(self, value: Any, depth: int = 0) -> Any:
        """Return a JSON value with the attachments that its texts name."""
        if isinstance(value, str):
            return self._text(value)
        if depth > 100 or not self._attachments or not isinstance(value, dict | list):
            return value
        if isinstance(value, list):
            return [self._resolved(each, depth + 1) for each in value]
        return {key: self._resolved(each, depth + 1) for key, each in value.items()}


def _kind(part: object) -> str:
    return text(mapping(part).get("type"))


_URL_SAFE = str.maketrans("-_", "+/", "\r\n ")
