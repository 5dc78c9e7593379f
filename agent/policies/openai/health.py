"""Health of an OpenAI-compatible server: what it serves, its version and its load."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent.language import deferred
from agent.policies.openai.errors import ErrorResponse, ServerFailure, is_here

Fetch = Callable[[str], Awaitable[object]]
"""Gets a path of the API, or a complete address: JSON as values, anything else as text; raises ``ServerFailure``."""

SERVER_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp"}
_RUNNING = re.compile(r"^(?:vllm:num_requests_running|sglang:num_running_reqs)(?:\{.*\})? (\S+)$", re.MULTILINE)
_WAITING = re.compile(r"^(?:vllm:num_requests_waiting|sglang:num_queue_reqs)(?:\{.*\})? (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Health:
    """Health of a server. ``sentence`` is for a person, with what to do if ``ok`` is False.

    ``model`` is the model to use, "" if there is none. ``server`` and ``version`` are "" if the server does not report
    them. ``context`` in tokens; ``running`` and ``waiting`` requests of all clients; None: not reported.
    ``late``: it did not answer in time, which a busy server does not either.
    """

    ok: bool
    sentence: str
    model: str = ""
    server: str = ""
    version: str = ""
    context: int | None = None
    running: int | None = None
    waiting: int | None = None
    late: bool = False


async def check_server(where: str, model_name: str | None, fetch: Fetch) -> Health:
    """Query the API at ``where`` (``http://.../v1``): models, server and load.

    :param model_name: the model to use; None: the first that is served
    """
    try:
        listed = await fetch("/models")
    except ServerFailure as failure:
        response = failure.__cause__
        if model_name and isinstance(response, ErrorResponse) and response.status in (404, 405, 501):
            sentence = deferred(
                "{where} lists no models; {model} is used as configured.", where=where, model=model_name
            )
            return Health(True, sentence, model_name)
        return Health(False, failure.sentence, model_name or "", late=failure.late)
    models = _models(listed)
    if models is None:
        sentence = deferred(
            "{where} is no model server: it answered something else. Its address usually ends in /v1.", where=where
        )
        return Health(False, sentence, model_name or "")
    if not models:
        return Health(False, deferred("{where} serves no model.", where=where), model_name or "")
    model = model_name or next(iter(models))
    # Google lists its models in a folder.
    listed_as = next((name for name in models if name == model or name.endswith(f"/{model}")), None)
    is_hosted = not any(server_of(card) for card in models.values())
    if listed_as is None and is_hosted and not is_here(where):
        # Azure lists no deployments, OpenRouter no variants.
        sentence = deferred("{where} does not list {model}, which is used as configured.", where=where, model=model)
        return Health(True, sentence, model)
    if listed_as is None:
        names = ", ".join(list(models)[:8])
        if len(models) > 8:
            names = deferred("{names} and {n} more", names=names, n=len(models) - 8)
        return Health(
            False,
            deferred("{where} does not serve {model}. It serves {names}.", where=where, model=model, names=names),
            model,
            server_of(next(iter(models.values()))),
        )
    card = models[listed_as]
    server = server_of(card)
    # vLLM reports the context of an adapter only on the card of its base model.
    cards = (card, models.get(str(card.get("parent")), {}))
    context = next((n for known in cards if isinstance(n := known.get("max_model_len"), int)), None)
    version, running, waiting = await _rest(where, fetch) if server else ("", None, None)
    serves = deferred("{server} serves {model}", server=f"{server} {version}".strip() or where, model=model)
    sentence = status_sentence(serves, context, running, waiting)
    return Health(True, sentence, model, server, version, context, running, waiting)


def server_of(card: Mapping[str, Any]) -> str:
    """Return which server of open models wrote the card of a model; "" for any other."""
    return SERVER_NAMES.get(str(card.get("owned_by", "")).lower(), "")


def _models(listed: object) -> dict[str, Mapping[str, Any]] | None:
    """Return the models by name, in the server's order; None if this is no list of models."""
    data = listed.get("data") if isinstance(listed, Mapping) else None
    if not isinstance(data, list):
        return None
    return {str(model["id"]): model for model in data if isinstance(model, Mapping) and "id" in model}


async def _rest(where: str, fetch: Fetch) -> tuple[str, int | None, int | None]:
    """Return version, running and waiting requests, from the routes next to the API; empty if missing."""
    parts = urlsplit(where)
    root = urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", ""))
    answers = await asyncio.gather(fetch(f"{root}/version"), fetch(f"{root}/metrics"), return_exceptions=True)
    version = answers[0].get("version") if isinstance(answers[0], Mapping) else ""
    metrics = answers[1] if isinstance(answers[1], str) else ""
    return str(version or ""), _total(_RUNNING, metrics), _total(_WAITING, metrics)


def _total(gauge: re.Pattern[str], metrics: str) -> int | None:
    """Return the sum over the engines of a data-parallel server."""
    try:
        values = [float(value) for value in gauge.findall(metrics)]
        return int(sum(values)) if values else None
    except (ValueError, OverflowError):
        return None


def status_sentence(serves: str, context: int | None, running: int | None, waiting: int | None) -> str:
    """Complete a sentence that says what a server serves."""
    if context is not None:
        serves = deferred("{serves}, {context:,} tokens of context", serves=serves, context=context)
    if running is not None and waiting is not None:
        serves = deferred(
            "{serves}; {running} running, {waiting} waiting", serves=serves, running=running, waiting=waiting
        )
    return deferred("{sentence}.", sentence=serves)
