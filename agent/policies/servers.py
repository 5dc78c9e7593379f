"""``servers.toml``: the model servers that may be asked here, checked before anybody asks them.

One ``[[server]]`` each::

    [[server]]
    key = "spec-o3-7b"                      # what --policy and the web page call it
    url = "http://gpu.example.org:8000/v1"  # as its OpenAI-compatible API is reached
    model = "Maxwell-Jia/spec-o3-7b"        # left out: the one it serves
    dialect = "spec-o3"                     # the default; "native" for models with tool calls of their own
    title = "Spec-o3 7B"                    # left out: the key
    api_key_env = "GPU_KEY"                 # or api_key_file = "gpu.key", which only its owner can read
    temperature = 0.7                       # defaults of this server, as max_tokens
"""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit, urlunsplit

from agent.policies import Sampling
from agent.text import OneLine

Dialect = Literal["spec-o3", "native"]

RESERVED = ("baseline", "local", "openai", "replay")
"""Keys that mean something else already."""

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class RosterError(OneLine, ValueError):
    """A server that cannot be asked as it was given: one sentence that names the file and the field, what was
    found there and what was wanted. It never quotes a key.
    """


def wrong_value(file: str, field: str, found: str, wanted: str) -> RosterError:
    return RosterError(f"{file}: {field}: found {found}, wanted {wanted}")


@dataclass(frozen=True)
class Server:
    """A server with an OpenAI-compatible API, and how it is asked. ``temperature`` and ``max_tokens`` are
    its defaults, None for the program's. The key itself is not part of it.
    """

    key: str
    url: str
    model: str | None = None
    dialect: Dialect = "spec-o3"
    title: str = ""
    api_key_env: str | None = None
    api_key_file: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    def sampling(self) -> Sampling:
        """How it is asked where nobody says otherwise."""
        plain = Sampling()
        return Sampling(
            temperature=plain.temperature if self.temperature is None else self.temperature,
            max_tokens=plain.max_tokens if self.max_tokens is None else self.max_tokens,
        )

    def api_key(self) -> str | None:
        """Its key, read anew; None where it needs none.

        :raises RosterError: the variable is not set, or the file is missing, empty or open to others
        """
        if self.api_key_file is not None:
            return key_from(self.api_key_file)
        if self.api_key_env is None:
            return None
        found = os.environ.get(self.api_key_env, "").strip()
        if not found:
            raise wrong_value(
                f"server {self.key}",
                "api_key_env",
                f"no environment variable {self.api_key_env}",
                "the server's key in it, set where this program is started",
            )
        return found


def read_servers(path: str | os.PathLike[str]) -> tuple[Server, ...]:
    """The servers of one file, in its order.

    :raises RosterError: it cannot be read, or a field is missing, unknown, repeated or wrong
    """
    file = str(path)
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_value(file, "file", str(error), "a readable UTF-8 text file") from None
    except (ValueError, RecursionError) as error:
        raise wrong_value(file, "file", f"broken TOML, {error}", "TOML with one [[server]] each") from None
    for field in data:
        if field != "server":
            raise wrong_value(file, field, "a field that means nothing here", "[[server]] only")
    tables = data.get("server", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise wrong_value(file, "server", f"{tables!r:.60}", "one [[server]] each, in double brackets")
    servers: dict[str, Server] = {}
    for number, table in enumerate(tables, start=1):
        server = _Table(file, f"server {number}, ", table).server()
        if server.key in servers:
            raise wrong_value(file, f"server {number}, key", f"{server.key!r} twice", "each key once")
        servers[server.key] = server
    return tuple(servers.values())


def key_from(path: Path) -> str:
    """The key that a file holds, without the white space around it.

    :raises RosterError: it cannot be read, is empty, or somebody other than its owner may read it
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_value(str(path), "api_key_file", str(error), "a readable file with the key") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise wrong_value(
            str(path),
            "api_key_file",
            f"mode {stat.S_IMODE(mode):04o}, which lets others read or change it",
            f"a file of its owner alone: chmod 600 {path}",
        )
    if not text or len(text.split()) > 1:
        raise wrong_value(str(path), "api_key_file", "no key, or more than one word", "the key alone")
    return text


def checked_url(url: str, where: str, field: str) -> str:
    """The address of an API, without its last slash; ``/v1`` is added to a bare host.

    :raises RosterError: it is no http(s) address, or holds what would be stored with every trace (a password)
    """
    wanted = "an address as http://127.0.0.1:8000/v1"
    if re.search(r"[@?#]", url):
        # Not quoted: it may hold a password, or a key.
        raise wrong_value(where, field, "an address with more than host and path in it (@, ? or #)", wanted)
    url = url.strip()
    try:
        parts = urlsplit(url)
        host = parts.hostname and parts.port != 0
    except ValueError as error:
        raise wrong_value(where, field, f"{url!r:.80} ({error})", wanted) from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", url):
        raise wrong_value(where, field, f"{url!r:.80}", wanted)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") or "/v1", "", ""))


class _Table:
    """One ``[[server]]``: hands out its fields checked, and knows how to complain about them."""

    def __init__(self, file: str, where: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.where = where
        self.data = data

    def server(self) -> Server:
        self._refuse_unknown()
        key = self._text("key") or ""
        if not _KEY.fullmatch(key) or key in RESERVED:
            wanted = f"lower-case letters, digits, . _ and -, and none of {', '.join(RESERVED)}"
            raise self._error("key", repr(key), wanted)
        self.where = f"server {key}, "
        url = self._text("url")
        if url is None:
            raise self._error("url", "nothing", "an address as http://127.0.0.1:8000/v1")
        dialect = self._text("dialect") or "spec-o3"
        if dialect not in get_args(Dialect):
            raise self._error("dialect", repr(dialect), " or ".join(get_args(Dialect)))
        variable, file = self._text("api_key_env"), self._text("api_key_file")
        if variable and not _VARIABLE.fullmatch(variable):
            # Not quoted: it may be the key itself.
            raise self._error("api_key_env", "no variable's name", "the name of the variable with the key")
        if variable and file:
            raise self._error("api_key_env, api_key_file", "both", "at most one of them")
        server = Server(
            key=key,
            url=checked_url(url, self.file, f"{self.where}url"),
            model=self._text("model"),
            dialect="native" if dialect == "native" else "spec-o3",
            title=self._text("title") or key,
            api_key_env=variable,
            # As everything in a file: relative to where the file is.
            api_key_file=Path(self.file).parent / Path(file).expanduser() if file else None,
            temperature=self._number("temperature"),
            max_tokens=self._whole("max_tokens"),
        )
        try:
            server.sampling()
        except ValueError as problem:
            raise RosterError(f"{self.file}: {self.where}{problem}") from None
        return server

    def _error(self, field: str, found: str, wanted: str) -> RosterError:
        return wrong_value(self.file, f"{self.where}{field}", found, wanted)

    def _refuse_unknown(self) -> None:
        known = tuple(Server.__dataclass_fields__)
        for field in self.data:
            if field not in known:
                raise self._error(field, "a field that means nothing here", "one of " + ", ".join(known))

    def _text(self, field: str) -> str | None:
        value = self.data.get(field)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self._error(field, f"{value!r:.60}", "a text")
        return None if value is None else value.strip()

    def _number(self, field: str) -> float | None:
        value = self.data.get(field)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise self._error(field, f"{value!r:.60}", "a number")
        if value is not None and not abs(value) <= sys.float_info.max:
            raise self._error(field, f"{value!r:.60}", "a finite number")
        return None if value is None else float(value)

    def _whole(self, field: str) -> int | None:
        value = self.data.get(field)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._error(field, f"{value!r:.60}", "a whole number")
        return value
