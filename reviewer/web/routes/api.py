"""Routes for people who write scripts: their tokens, webhooks, and the description of the API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from agent.language import tr
from reviewer.rules.people import Person
from reviewer.store import Delivery, NotAllowed, Token, Webhook
from reviewer.store.team.addresses import LONGEST_URL
from reviewer.store.team.tokens import LONGEST_NAME
from reviewer.store.team.webhooks import Event
from reviewer.web import openapi
from reviewer.web.background.webhooks import WebhookSender
from reviewer.web.context import NOT_STORED, Context, ContextDep, PersonDep, SessionDep
from reviewer.web.headers import document_policy
from reviewer.web.proxies import base_of
from reviewer.web.requests import Sent
from reviewer.web.routes.documents import written

router = APIRouter(prefix="/api/v1")


class TokenWanted(Sent):
    """A new token. ``days``: when it ends; null: never."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    may_write: bool = False
    days: Literal[30, 90, 365] | None = 90


class WebhookWanted(Sent):
    """A new webhook, and the events that it reports."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]
    events: Annotated[list[Event], Field(min_length=1, max_length=3)]


@router.get("/tokens")
def tokens(person: PersonDep, context: ContextDep, everybody: bool = False) -> dict[str, Any]:
    """Your tokens, newest first; ``everybody``: those of all people, for coordinators."""
    return {"tokens": [_token_json(one) for one in context.store.tokens.listed(person.initials, everybody)]}


@router.post("/tokens")
def make_token(person: SessionDep, context: ContextDep, sent: TokenWanted, response: Response) -> dict[str, Any]:
    """Make a token for yourself. The answer has its secret, which is not shown again. Needs a session."""
    made, secret = context.store.tokens.make(person.initials, sent.name, sent.may_write, sent.days)
    response.headers.update(NOT_STORED)
    return {**_token_json(made), "token": secret}


@router.delete("/tokens/{token_id}")
def revoke_token(person: SessionDep, context: ContextDep, token_id: int) -> dict[str, Any]:
    """Revoke a token of yours; coordinators revoke those of everybody. Needs a session."""
    context.store.tokens.revoke(person.initials, token_id)
    return {}


def coordinator(person: PersonDep) -> Person:
    """Return the person who sent the request. :raises NotAllowed: they are no coordinator"""
    if not person.is_any("coordinator"):
        raise NotAllowed(tr("Only coordinators manage webhooks; {person} is not one.", person=person.initials))
    return person


CoordinatorDep = Annotated[Person, Depends(coordinator)]


@router.get("/webhooks")
def webhooks(person: CoordinatorDep, context: ContextDep) -> dict[str, Any]:
    """The webhooks, oldest first. ``waiting`` is the number of events that are still to be delivered, ``lost`` that of
    those that were given up or dropped; ``stopped_at``: nothing was delivered ``silent_since``, so nothing is sent."""
    return {"webhooks": [_webhook_json(one) for one in context.store.webhooks.listed(person.initials)]}


@router.post("/webhooks")
def add_webhook(person: CoordinatorDep, context: ContextDep, sent: WebhookWanted, response: Response) -> dict[str, Any]:
    """Add a webhook. The answer has the secret that signs its messages, which is not shown again."""
    added, secret = context.store.webhooks.add(person.initials, sent.url, sent.events)
    response.headers.update(NOT_STORED)
    return {**_webhook_json(added), "secret": secret}


@router.delete("/webhooks/{webhook_id}")
def delete_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> dict[str, Any]:
    """Delete a webhook; what was not delivered yet is dropped."""
    context.store.webhooks.delete(person.initials, webhook_id)
    return {}


@router.post("/webhooks/{webhook_id}/start")
def start_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> dict[str, Any]:
    """Start a webhook again that was stopped because nothing could be delivered. It gets the events from now on."""
    return _webhook_json(context.store.webhooks.start(person.initials, webhook_id))


@router.get("/webhooks/{webhook_id}/deliveries")
def deliveries(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> dict[str, Any]:
    """The last 20 deliveries of a webhook with their answers, newest event first."""
    found = context.store.webhooks.deliveries(person.initials, webhook_id)
    return {"deliveries": [_delivery_json(one) for one in found]}


@router.post("/webhooks/{webhook_id}/test")
def test_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> dict[str, Any]:
    """Send a test message now and return what was answered; it is not repeated and not listed."""
    target = context.store.webhooks.target(person.initials, webhook_id)
    answer = sender_of(context).test(target)
    return {"delivered": answer.delivered, "answer": answer.text}


def sender_of(context: Context) -> WebhookSender:
    """Return what sends the messages; one that only sends tests where the app delivers none."""
    return context.webhooks or WebhookSender(context.store, "")


@router.get("/openapi.json")
def description(person: PersonDep, request: Request) -> Response:
    """The description of this API in the form of OpenAPI 3.1."""
    served = {**openapi.schema_of(request.app), "servers": [{"url": f"{base_of(request)}/"}]}
    return JSONResponse(served, headers={"Cache-Control": "no-cache"})


@router.get("/docs")
def page(person: PersonDep, request: Request) -> Response:
    """The description of this API as a page."""
    shown = openapi.Page(openapi.schema_of(request.app), str(request.base_url).rstrip("/") + base_of(request))
    policy = {"Content-Security-Policy": document_policy(request.scope), "Cache-Control": "no-cache"}
    return written(tr("API"), shown.tags, shown.text, shown.models, policy, root="../../")


def _token_json(token: Token) -> dict[str, Any]:
    return {
        "id": token.id,
        "person": token.person,
        "name": token.name,
        "may_write": token.may_write,
        "made_at": token.made_at.isoformat(),
        "expires_at": token.expires_at and token.expires_at.isoformat(),
        "used_at": token.used_at and token.used_at.isoformat(),
    }


def _webhook_json(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "url": webhook.url,
        "events": list(webhook.events),
        "person": webhook.person,
        "made_at": webhook.made_at.isoformat(),
        "waiting": webhook.waiting,
        "lost": webhook.lost,
        "stopped_at": webhook.stopped_at and webhook.stopped_at.isoformat(),
        "silent_since": webhook.silent_since and webhook.silent_since.isoformat(),
    }


def _delivery_json(delivery: Delivery) -> dict[str, Any]:
    event = delivery.event
    return {
        "event": event.kind,
        "at": event.at.isoformat(),
        "item": event.item,
        "export": event.export,
        "attempts": delivery.attempts,
        "delivered_at": delivery.delivered_at and delivery.delivered_at.isoformat(),
        "next_at": delivery.next_at and delivery.next_at.isoformat(),
        "answer": delivery.answer,
    }
