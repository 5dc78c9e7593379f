"""The words that are stored and shown: ``tr(stored)`` translates them. Only ``make messages`` reads this list."""

from __future__ import annotations

from agent.language import deferred

WORDS = (
    # States and rounds, the latter also at the beginning of a sentence.
    *(deferred("screening"), deferred("revision"), deferred("returned"), deferred("audit"), deferred("vote")),
    *(deferred("adjudication"), deferred("approved"), deferred("rejected"), deferred("cannot tell")),
    *(deferred("withdrawn"), deferred("Screening"), deferred("Revision"), deferred("Audit"), deferred("Vote")),
    deferred("Adjudication"),
    # Decisions.
    *(deferred("keep"), deferred("reject"), deferred("submit"), deferred("pass"), deferred("return")),
    *(deferred("approve"), deferred("abstain"), deferred("undo"), deferred("withdraw"), deferred("restore")),
    deferred("edit"),
    # Roles.
    *(deferred("reviewer"), deferred("auditor"), deferred("coordinator")),
    # Blind sessions: states, pictures, what reveals a source.
    *(deferred("drawn"), deferred("open"), deferred("closed")),
    *(deferred("drawn anew"), deferred("title removed"), deferred("unchanged")),
    *(deferred("model"), deferred("company"), deferred("machine"), deferred("baseline"), deferred("label")),
    *(deferred("prompt"), deferred("file"), deferred("designation"), deferred("picture")),
)
