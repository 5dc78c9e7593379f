"""``servers.toml``: the model servers that may be used here, one ``[[server]]`` table each.

[[server]]
key = "spec-o3-7b"                      # name for --policy and the web page
url = "http://gpu.example.org:8000/v1"  # address of its OpenAI-compatible API
model = "Maxwell-Jia/spec-o3-7b"        # default: the model it serves
dialect = "spec-o3"                     # the default; "native" for models with tool calls of their own, or "qwen3.5"
title = "Spec-o3 7B"                    # default: the key
api_key_env = "GPU_KEY"                 # or api_key_file = "gpu.key", which only its owner can read
tool_in_words = true                    # native: describe the tool in the instructions (default: if that is needed)
stream = true                           # also where nobody watches, for a proxy that closes silent connections
temperature = 0.7                       # defaults of this server, like max_tokens
reasoning_effort = "low"                # for models that reason: none, minimal, low, medium, high, ...
extra_body = { service_tier = "flex" }  # further fields of each request, as the server documents them
measure = true                          # offer the measure tool too, not to a published checkpoint
examples = "approved"                   # native: an export whose traces are shown as examples
examples_number = 4                     # at most so many, with at most examples_budget = 24 pictures together

[[server]]
key = "gemini"
preset = "gemini"                       # the settings for it in presets.toml; what stands here comes before them
model = "gemini-3-pro"
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field, field_validator, model_validator

from agent.errors import Refusal
from agent.language import deferred
from agent.policies import EFFORT, EXAMPLES, EXAMPLES_BUDGET, NATIVE, OWN_FIELDS, Sampling
from agent.policies.openai.history import Habits, PictureTurn
from agent.settings_file import Flag, Mismatch, Number, Problem, Table, Text, Whole, load_toml, shown, validate

Dialect = Literal["spec-o3", "qwen3.5", "native"]

PRESETS = Path(__file__).with_name("presets.toml")
"""Settings for the servers that people use, by name; docs/servers.md explains them."""

RESERVED_KEYS = ("baseline", "local", "nano", "openai", "replay", "specialist")
"""Keys that already have another meaning."""

_ADDRESS = deferred("an address, for example http://127.0.0.1:8000/v1")
_ADDRESSES = deferred("a list with one address")
_KEY = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class RosterError(Refusal, ValueError):
    """A server cannot be used as it is configured: file, field, what was found and what was expected. The
    message never quotes a key.
    """


class Server(Table):
    """A server with an OpenAI-compatible API. ``temperature`` and ``max_tokens`` are its defaults, None for the
    program's. The key itself is not part of it.

    ``urls``, a list with one address, is an older spelling of ``url``.
    """

    key: Annotated[Text, Field(description="a text")]
    url: Annotated[Text, Field(description=_ADDRESS)] = ""
    urls: Annotated[tuple[Text, ...], Field(description=_ADDRESSES, min_length=1)] = ()
    model: Text | None = None
    dialect: Dialect = "spec-o3"
    title: Text = ""
    api_key_env: Text | None = None
    api_key_file: Path | None = None
    temperature: Number | None = None
    max_tokens: Whole | None = None
    stream: Flag = False
    tool_in_words: Flag | None = None
    reasoning_effort: Text | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict, description=deferred("a table of fields of a request"))
    api: Literal["chat", "responses"] = "chat"
    picture_turn: PictureTurn = "user"
    preset: Text = ""
    measure: Flag = False
    examples: Path | None = None
    examples_number: Whole = EXAMPLES
    examples_budget: Whole = EXAMPLES_BUDGET

    @field_validator("key")
    @classmethod
    def _check_key(cls, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise Mismatch(repr(key), deferred("lower-case letters, digits, . _ and -"))
        return key

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        return _normal_url(url)

    @field_validator("urls")
    @classmethod
    def _check_urls(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        if len(urls) > 1:
            raise Mismatch(
                deferred("{n} addresses", n=len(urls)),
                deferred(
                    "one: `spec-o3 serve --replicas N`, Ray Serve or a proxy gives several copies of a model one "
                    "address (Several GPUs, in docs/live.md)"
                ),
            )
        return tuple(map(_normal_url, urls))

    @field_validator("api_key_env")
    @classmethod
    def _check_variable(cls, name: str | None) -> str | None:
        if name is not None and not _VARIABLE.fullmatch(name):
            # Not quoted: it may be the key itself.
            raise Mismatch(
                deferred("something else than a variable's name"), deferred("the name of the variable with the key")
            )
        return name

    @field_validator("api_key_file", "examples", mode="before")
    @classmethod
    def _check_file(cls, path: object) -> object:
        if path is not None and (not isinstance(path, str | Path) or not str(path).strip()):
            raise Mismatch(shown(path), deferred("the path of a file"))
        return path

    @field_validator("temperature", "max_tokens", "examples_number", "examples_budget")
    @classmethod
    def _check_range(cls, value: float | None, info: Any) -> float | None:
        limits: dict[str, tuple[Callable[[float], bool], str]] = {
            "temperature": (lambda number: 0 <= number <= 2, deferred("a number from 0 to 2")),
            **dict.fromkeys(
                ("max_tokens", "examples_number", "examples_budget"),
                (lambda number: number >= 1, deferred("1 or more")),
            ),
        }
        allowed, expected = limits[info.field_name]
        if value is not None and not allowed(value):
            raise Mismatch(str(value), expected)
        return value

    @field_validator("reasoning_effort")
    @classmethod
    def _check_effort(cls, effort: str | None) -> str | None:
        if effort is not None and not EFFORT.fullmatch(effort):
            raise Mismatch(repr(effort), deferred("a word such as none, low, medium or high"))
        return effort

    @field_validator("extra_body")
    @classmethod
    def _check_extra_body(cls, fields: dict[str, Any]) -> dict[str, Any]:
        if own := sorted(OWN_FIELDS & fields.keys()):
            raise Mismatch(", ".join(own), deferred("no field that this program sets itself"))
        return fields

    @model_validator(mode="after")
    def _complete_addresses(self) -> Self:
        if self.url and self.urls:
            raise Mismatch(deferred("both"), deferred("url alone"), field="url, urls")
        if not (self.url or self.urls):
            raise Mismatch(deferred("nothing"), _ADDRESS, field="url")
        # The model is frozen for everybody else.
        self.__dict__.update(url=self.url or self.urls[0], urls=())
        return self

    @model_validator(mode="after")
    def _check_one_key(self) -> Self:
        if self.api_key_env and self.api_key_file:
            raise Mismatch(deferred("both"), deferred("at most one of them"), field="api_key_env, api_key_file")
        return self

    def sampling(self) -> Sampling:
        """Return the sampling settings that apply if nothing else is requested."""
        given: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        given |= {"reasoning_effort": self.reasoning_effort, "extra_body": self.extra_body or None}
        default = NATIVE if self.dialect == "native" else Sampling()
        return replace(default, **{name: value for name, value in given.items() if value is not None})

    def habits(self) -> Habits:
        """Return how its API is used first."""
        return Habits(api=self.api, picture_turn=self.picture_turn)

    def api_key(self) -> str | None:
        """Read its key anew; None if it needs none.

        :raises RosterError: the variable is not set, or the file is missing, empty or readable by others
        """
        if self.api_key_file is not None:
            return _key_in(self.api_key_file)
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            missing = deferred("no environment variable {api_key_env}", api_key_env=self.api_key_env)
            expected = deferred("the server's key in it, set where this program is started")
            raise RosterError(Problem(f"server {self.key}", "api_key_env", missing, expected))
        return key


def with_preset(table: Mapping[str, Any], source: str, prefix: str = "") -> dict[str, Any]:
    """Return the table of a server completed by its preset, if it names one.

    :raises RosterError: there is no such preset
    """
    name = table.get("preset", "")
    if not name:
        return dict(table)
    presets = load_toml(PRESETS, RosterError)
    if not isinstance(name, str) or name not in presets:
        expected = deferred("one of {names}", names=", ".join(presets))
        raise RosterError(Problem(source, f"{prefix}preset", shown(name), expected))
    preset = {field: value for field, value in presets[name].items() if field != "note"}
    if "api_key_file" in table:
        preset.pop("api_key_env", None)
    return {"dialect": "native", **preset, **table}


class _ServersFile(Table):
    server: list[dict[str, Any]] = Field(
        default_factory=list, description=deferred("one [[server]] table per server, in double brackets")
    )


def read_servers(path: str | os.PathLike[str]) -> tuple[Server, ...]:
    """Read the servers of one file, in its order.

    :raises RosterError: it cannot be read, or a field is missing, unknown, repeated or wrong
    """
    file = str(path)
    tables = validate(_ServersFile, load_toml(Path(path), RosterError), file, RosterError).server
    servers: dict[str, Server] = {}
    for number, table in enumerate(tables, start=1):
        key = table.get("key")
        key = key.strip() if isinstance(key, str) else ""
        taken = key in servers or key in RESERVED_KEYS
        name = key if _KEY.fullmatch(key) and not taken else str(number)
        prefix = f"server {name}, "
        server = validate(Server, with_preset(table, file, prefix), file, RosterError, prefix)
        if taken:
            key_text = f"{key!r} twice" if key in servers else repr(key)
            expected = (
                deferred("each key once")
                if key in servers
                else deferred("none of {reserved_keys}", reserved_keys=", ".join(RESERVED_KEYS))
            )
            raise RosterError(Problem(file, f"server {number}, key", key_text, expected))
        changes: dict[str, object] = {"title": server.title or server.key}
        for field in ("api_key_file", "examples"):
            if (path_in_file := getattr(server, field)) is not None:
                # Relative to the folder of servers.toml, like every path in it.
                changes[field] = Path(file).parent / path_in_file.expanduser()
        servers[server.key] = server.model_copy(update=changes)
    return tuple(servers.values())


def checked_url(url: str, source: str, field: str) -> str:
    """Return the address of an API without its last slash; ``/v1`` is added to a bare host.

    :raises RosterError: it is not an http(s) address, or holds what must not be stored with traces (a password)
    """
    try:
        return _normal_url(url)
    except Mismatch as wrong:
        raise RosterError(Problem(source, field, wrong.actual, wrong.expected)) from None


def _normal_url(url: str) -> str:
    if re.search(r"[@?#]", url):
        # Not quoted: it may hold a password or a key.
        raise Mismatch(deferred("an address with more than host and path in it (@, ? or #)"), _ADDRESS)
    url = url.strip()
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:
        raise Mismatch(f"{url!r:.80} ({error})", _ADDRESS) from None
    if not valid or re.search(r"\s", url):
        raise Mismatch(f"{url!r:.80}", _ADDRESS)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") or "/v1", "", ""))


def _key_in(path: Path) -> str:
    """Read the key in a file.

    :raises RosterError: it cannot be read, is empty, or others than its owner may read it
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RosterError(
            Problem(str(path), "api_key_file", str(error), deferred("a readable file with the key"))
        ) from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        rights = deferred("mode {mode:04o}, which lets others read or change it", mode=stat.S_IMODE(mode))
        expected = deferred("a file that only its owner can read: chmod 600 {path}", path=path)
        raise RosterError(Problem(str(path), "api_key_file", rights, expected))
    if not text or len(text.split()) > 1:
        raise RosterError(
            Problem(str(path), "api_key_file", deferred("no key, or more than one word"), deferred("the key alone"))
        )
    return text
