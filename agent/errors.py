"""The base of every exception that states a reason to a person: in the page, on the command line, over HTTP."""

from __future__ import annotations

from typing import Any, ClassVar

from agent.language import Message, tr
from agent.text import one_line


class Refusal(Exception):
    """What was asked for is refused; the message is for the person who asked.

    The message is ``one_line`` of the argument, as it may quote text from outside. One that is ``deferred`` is shown in
    the language of the context.
    """

    kind: ClassVar[str] = "refused"
    """A code for programs: the page and scripts decide by it, never by the message."""
    status: ClassVar[int] = 422
    """The HTTP status of an answer that is this refusal."""

    @property
    def sentence(self) -> str:
        """The message, to be shown in the language of the context."""
        only = self.args[0] if len(self.args) == 1 else None
        return only if isinstance(only, Message) else super().__str__()

    @property
    def details(self) -> dict[str, Any]:
        """Further fields of the HTTP answer, as JSON values."""
        return {}

    def __str__(self) -> str:
        return one_line(tr(self.sentence))
