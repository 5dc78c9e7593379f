"""Answers for people who write scripts: their tokens and webhooks."""

from __future__ import annotations

from typing import Any

from pydantic import AliasPath, Field

from reviewer.store.team.webhooks import Event
from reviewer.web.models import Answer, Time


class TokenListed(Answer):
    """A token without its secret; ``used_at`` to the minute."""

    id: int
    person: str
    name: str
    may_write: bool
    made_at: Time
    expires_at: Time | None
    used_at: Time | None


class NewToken(TokenListed):
    """A new token with its secret, which is not shown again."""

    token: str


class TokenList(Answer):
    """Tokens, newest first."""

    tokens: list[TokenListed]


class WebhookListed(Answer):
    """A webhook; ``stopped_at``: nothing was delivered ``silent_since``, so nothing is sent."""

    id: int
    url: str
    events: tuple[Event, ...]
    person: str
    made_at: Time
    waiting: int = Field(description="number of events that are still to be delivered")
    lost: int = Field(description="number of events that were given up or dropped")
    stopped_at: Time | None
    silent_since: Time | None


class WebhookAdded(WebhookListed):
    """A new webhook with the secret that signs its messages, which is not shown again."""

    secret: str


class WebhookList(Answer):
    """Webhooks, oldest first."""

    webhooks: list[WebhookListed]


def _of_event(name: str, description: str | None = None) -> Any:
    return Field(validation_alias=AliasPath("event", name), description=description)


class WebhookDelivery(Answer):
    """An event for a webhook, and what the last attempt to deliver it got."""

    event: Event = _of_event("kind")
    at: Time = _of_event("at")
    item: int | None = _of_event("item")
    export: int | None = _of_event("export")
    name: str | None = _of_event("name", "of the export")
    attempts: int
    delivered_at: Time | None
    next_at: Time | None = Field(description="when the next attempt is due; null: delivered, or given up")
    answer: str


class WebhookDeliveries(Answer):
    """Deliveries, newest event first."""

    deliveries: list[WebhookDelivery]


class WebhookTested(Answer):
    """What was answered to a test message."""

    delivered: bool
    answer: str
