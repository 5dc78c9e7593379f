"""Answers of the API as pydantic models, one module per desk, named like its module of routes.

What is on the wire is what OpenAPI describes. The fields of a model are the keys of its JSON, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

from agent.language import localized


class Answer(BaseModel):
    """Base of all answers.

    ``model_validate(row)`` builds one from a dataclass of the store whose attributes have the names of the fields.
    """

    model_config = ConfigDict(from_attributes=True, frozen=True, extra="forbid", validate_by_name=True)


class Done(Answer):
    """Nothing but that the request was carried out."""


class OpenApi(BaseModel):
    """The description of an API in the form of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0)."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


class Problem(Answer):
    """Why a request was refused or failed; nothing was saved."""

    kind: str = Field(description="stable, for programs, e.g. signed_out, not_allowed, not_found")
    error: str = Field(description="what was found and what was expected, for people")
    detail: dict[str, Any] = Field(description="more, by kind")


Time = Annotated[
    datetime,
    # As Python writes it: pydantic's own form ends in Z instead of +00:00.
    PlainSerializer(datetime.isoformat, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
"""A moment, in ISO 8601 with its offset from UTC."""

Message = Annotated[str, BeforeValidator(localized)]
"""A text for people; a deferred one is translated when the answer is made."""


def _is_none(value: object) -> bool:
    return value is None


def optional(description: str | None = None, *, key: str | None = None) -> Any:
    """Return the field of a key that is left out where there is nothing to say; its type includes None.

    :param key: the key, where it cannot be the name of the field
    """
    return Field(default=None, alias=key, exclude_if=_is_none, description=description)


PROBLEMS: Mapping[int | str, dict[str, Any]] = {
    "default": {"model": Problem, "description": "Refused or failed; nothing was saved."}
}
"""``responses`` of every route below ``/api/v1``."""


def media(*types: str) -> dict[str, Any]:
    """Return the keywords of a route whose answer is no JSON but a file, a picture or a stream of one of these types:
    ``@router.get("/picture/{name}", **media("image/png"))``
    """
    content = {media_type: {"schema": {"type": "string", "format": "binary"}} for media_type in types}
    return {"response_class": Response, "responses": {200: {"content": content}}}


def sent(answer: Answer) -> Response:
    """Return an answer as the bytes that are sent, for routes that are requested at each item: FastAPI would validate
    it again, in another thread. Such a route names the model as its ``response_model``.
    """
    return Response(answer.model_dump_json(by_alias=True), media_type="application/json")


def attachment(content: bytes, media_type: str, name: str, ending: str) -> Response:
    """Return a file to be saved. Of ``name`` the letters are kept that are safe in the name of a file anywhere."""
    safe = re.sub(r"[^A-Za-z0-9.+-]+", "_", name).strip("._")[:120] or "spectrum"
    headers = {"Content-Disposition": f'attachment; filename="{safe}{ending}"', "Cache-Control": "no-store"}
    return Response(content, media_type=media_type, headers=headers)
