"""Routes for people who write scripts: their tokens, webhooks, and the description of the API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import Field

from agent.language import tr
from reviewer.rules.people import Person
from reviewer.store import NotAllowed
from reviewer.store.team.addresses import LONGEST_URL
from reviewer.store.team.tokens import LONGEST_NAME
from reviewer.store.team.webhooks import Event
from reviewer.web import openapi
from reviewer.web.background.webhooks import WebhookSender
from reviewer.web.context import NOT_STORED, Context, ContextDep, PersonDep, SessionDep
from reviewer.web.headers import swagger_policy
from reviewer.web.models import Done, OpenApi, media
from reviewer.web.models import api as answers
from reviewer.web.proxies import base_of
from reviewer.web.requests import Sent

router = APIRouter(prefix="/api/v1")


class TokenRequest(Sent):
    """A new token. ``days``: when it ends; null: never."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    may_write: bool = False
    days: Literal[30, 90, 365] | None = 90


class WebhookRequest(Sent):
    """A new webhook, and the events that it reports."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]
    events: Annotated[list[Event], Field(min_length=1, max_length=3)]


@router.get("/tokens")
def tokens(person: PersonDep, context: ContextDep, everybody: bool = False) -> answers.TokenList:
    """Your tokens, newest first; ``everybody``: those of all people, for coordinators."""
    listed = context.store.tokens.listed(person.initials, everybody)
    return answers.TokenList(tokens=[answers.TokenListed.model_validate(token) for token in listed])


@router.post("/tokens")
def make_token(person: SessionDep, context: ContextDep, sent: TokenRequest, response: Response) -> answers.NewToken:
    """Make a token for yourself. The answer has its secret, which is not shown again. Needs a session."""
    token, secret = context.store.tokens.make(person.initials, sent.name, sent.may_write, sent.days)
    response.headers.update(NOT_STORED)
    return answers.NewToken(**dict(answers.TokenListed.model_validate(token)), token=secret)


@router.delete("/tokens/{token_id}")
def revoke_token(person: SessionDep, context: ContextDep, token_id: int) -> Done:
    """Revoke a token of yours; coordinators revoke those of everybody. Needs a session."""
    context.store.tokens.revoke(person.initials, token_id)
    return Done()


def coordinator(person: PersonDep) -> Person:
    """Return the person who sent the request. :raises NotAllowed: they are no coordinator"""
    if not person.is_any("coordinator"):
        raise NotAllowed(tr("Only coordinators manage webhooks; {person} is not one.", person=person.initials))
    return person


CoordinatorDep = Annotated[Person, Depends(coordinator)]


@router.get("/webhooks")
def webhooks(person: CoordinatorDep, context: ContextDep) -> answers.WebhookList:
    """The webhooks, oldest first. ``waiting`` is the number of events that are still to be delivered, ``lost`` that of
    those that were given up or dropped; ``stopped_at``: nothing was delivered ``silent_since``, so nothing is sent."""
    listed = context.store.webhooks.listed(person.initials)
    return answers.WebhookList(webhooks=[answers.WebhookListed.model_validate(webhook) for webhook in listed])


@router.post("/webhooks")
def add_webhook(
    person: CoordinatorDep, context: ContextDep, sent: WebhookRequest, response: Response
) -> answers.WebhookAdded:
    """Add a webhook. The answer has the secret that signs its messages, which is not shown again."""
    added, secret = context.store.webhooks.add(person.initials, sent.url, sent.events)
    response.headers.update(NOT_STORED)
    return answers.WebhookAdded(**dict(answers.WebhookListed.model_validate(added)), secret=secret)


@router.delete("/webhooks/{webhook_id}")
def delete_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> Done:
    """Delete a webhook; what was not delivered yet is dropped."""
    context.store.webhooks.delete(person.initials, webhook_id)
    return Done()


@router.post("/webhooks/{webhook_id}/start")
def start_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> answers.WebhookListed:
    """Start a webhook again that was stopped because nothing could be delivered. It gets the events from now on."""
    return answers.WebhookListed.model_validate(context.store.webhooks.start(person.initials, webhook_id))


@router.get("/webhooks/{webhook_id}/deliveries")
def deliveries(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> answers.WebhookDeliveries:
    """The last 20 deliveries of a webhook with their answers, newest event first."""
    listed = context.store.webhooks.deliveries(person.initials, webhook_id)
    deliveries = [answers.WebhookDelivery.model_validate(delivery) for delivery in listed]
    return answers.WebhookDeliveries(deliveries=deliveries)


@router.post("/webhooks/{webhook_id}/test")
def test_webhook(person: CoordinatorDep, context: ContextDep, webhook_id: int) -> answers.WebhookTested:
    """Send a test message now and return what was answered; it is not repeated and not listed."""
    target = context.store.webhooks.target(person.initials, webhook_id)
    answer = sender_of(context).test(target)
    return answers.WebhookTested(delivered=answer.delivered, answer=answer.text)


def sender_of(context: Context) -> WebhookSender:
    """Return what sends the messages; one that only sends tests where the app delivers none."""
    return context.webhooks or WebhookSender(context.store, "")


@router.get("/openapi.json", response_class=JSONResponse, responses={200: {"model": OpenApi}})
def description(person: PersonDep, request: Request) -> Response:
    """The description of this API in the form of OpenAPI 3.1."""
    served = {**openapi.schema_of(request.app), "servers": [{"url": f"{base_of(request)}/"}]}
    return JSONResponse(served, headers={"Cache-Control": "no-cache"})


@router.get("/docs", **media("text/html"))
def page(person: PersonDep, request: Request) -> Response:
    """The description of this API as a page (Swagger UI)."""
    shown = openapi.page()
    headers = {"Content-Security-Policy": swagger_policy(request.scope, shown), "Cache-Control": "no-cache"}
    return HTMLResponse(shown, headers=headers)
