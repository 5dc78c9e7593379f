"""Whether a server is well, and what it serves; asked before anything else is, and for the page to show."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent.policies.openai.errors import Trouble

Fetch = Callable[[str], Awaitable[object]]
"""Gets a path of the API, or a whole address: JSON as values, anything else as text; raises ``Trouble``."""

SERVERS = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp"}
_RUNNING = re.compile(r"^(?:vllm:num_requests_running|sglang:num_running_reqs)(?:\{.*\})? (\S+)$", re.MULTILINE)
_WAITING = re.compile(r"^(?:vllm:num_requests_waiting|sglang:num_queue_reqs)(?:\{.*\})? (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Health:
    """A server as it was found. ``sentence`` says it to a person, with what to do where ``ok`` is False.

    ``model`` is what would be asked, "" if there is none. ``server`` and ``version`` are "" where it does not
    say. ``context`` in tokens; ``running`` and ``waiting`` requests, of everybody; None: not told.
    """

    ok: bool
    sentence: str
    model: str = ""
    server: str = ""
    version: str = ""
    context: int | None = None
    running: int | None = None
    waiting: int | None = None


async def examine(where: str, wanted: str | None, fetch: Fetch) -> Health:
    """Ask the API at ``where`` (``http://.../v1``) what it serves, who it is and how busy it is.

    :param wanted: the model that is to be asked; None: the first that is served
    """
    try:
        listed = await fetch("/models")
    except Trouble as trouble:
        return Health(False, str(trouble), wanted or "")
    models = _models(listed)
    if models is None:
        sentence = f"{where} is no model server: it answered something else. Its address usually ends in /v1."
        return Health(False, sentence, wanted or "")
    if not models:
        return Health(False, f"{where} serves no model.", wanted or "")
    model = wanted or next(iter(models))
    if model not in models:
        names = ", ".join(list(models)[:8]) + (f" and {len(models) - 8} more" if len(models) > 8 else "")
        return Health(False, f"{where} does not serve {model}. It serves {names}.", model)
    server = SERVERS.get(str(models[model].get("owned_by", "")).lower(), "")
    # vLLM tells the context of an adapter only on the card of the model that it adapts.
    cards = (models[model], models.get(str(models[model].get("parent")), {}))
    context = next((n for card in cards if isinstance(n := card.get("max_model_len"), int)), None)
    version, running, waiting = await _rest(where, fetch) if server else ("", None, None)
    sentence = _well(where, model, f"{server} {version}".strip(), context, running, waiting)
    return Health(True, sentence, model, server, version, context, running, waiting)


def _models(listed: object) -> dict[str, Mapping[str, Any]] | None:
    """What is served, by name and in its order; None if this is no list of models."""
    data = listed.get("data") if isinstance(listed, Mapping) else None
    if not isinstance(data, list):
        return None
    return {str(model["id"]): model for model in data if isinstance(model, Mapping) and "id" in model}


async def _rest(where: str, fetch: Fetch) -> tuple[str, int | None, int | None]:
    """Version, requests running and waiting, beside the API; what is not there is empty."""
    parts = urlsplit(where)
    root = urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", ""))
    found = await asyncio.gather(fetch(f"{root}/version"), fetch(f"{root}/metrics"), return_exceptions=True)
    version = found[0].get("version") if isinstance(found[0], Mapping) else ""
    metrics = found[1] if isinstance(found[1], str) else ""
    return str(version or ""), _total(_RUNNING, metrics), _total(_WAITING, metrics)


def _total(gauge: re.Pattern[str], metrics: str) -> int | None:
    """Summed over the engines of a data-parallel server."""
    try:
        values = [float(value) for value in gauge.findall(metrics)]
    except ValueError:
        return None
    return int(sum(values)) if values else None


def _well(where: str, model: str, server: str, context: int | None, running: int | None, waiting: int | None) -> str:
    said = f"{server or where} serves {model}"
    if context is not None:
        said += f", {context:,} tokens of context"
    if running is not None and waiting is not None:
        said += f"; {running} running, {waiting} waiting"
    return f"{said}."
