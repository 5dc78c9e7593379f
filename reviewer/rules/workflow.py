"""The rounds as pure functions: ``standing`` of an item after its history, and ``refusal`` of an action.

screening (keep) -> revision (submit) -> audit (all pass) -> vote -> approved, rejected or "cannot tell". Audit and
adjudication can return an item to revision; a split audit or vote goes to adjudication. A coordinator withdraws an
item that nobody has worked on, and restores it. The store and the page call these functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent.language import deferred, tr
from reviewer.rules.campaign import (
    CANNOT_TELL,
    CLOSED,
    REASONS,
    ROLES_OF,
    ROUNDS,
    STATES,
    VERBS,
    WITHDRAWALS,
    Action,
    Decision,
    Fact,
    Round,
    Rules,
    RulesError,
    State,
    Verb,
    VersionMade,
)
from reviewer.rules.people import Person

__all__ = [
    "CANNOT_TELL",
    "CLOSED",
    "REASONS",
    "ROLES_OF",
    "ROUNDS",
    "STATES",
    "VERBS",
    "WITHDRAWALS",
    "Action",
    "Decision",
    "Fact",
    "Round",
    "Rules",
    "RulesError",
    "Standing",
    "State",
    "Verb",
    "VersionMade",
    "barred",
    "decided",
    "incomplete",
    "judges_independently",
    "refusal",
    "round_of",
    "standing",
    "undo_refusal",
    "untouched",
    "work_refusal",
]

_SIDE: dict[Verb, int] = {"pass": 1, "approve": 1, "return": -1, "reject": -1}


@dataclass(frozen=True)
class Standing:
    """The standing of an item: ``len(cast)`` of ``needed`` decisions of the present ``round`` are made.

    :param version_id: the current version, which a decision must name
    :param version: its number
    :param needed: decisions that the present round needs in all, 0 once decided
    :param cast: those already made, on the current version
    :param decisions: every decision in force on the current version, all rounds, in order
    :param stale: audits, votes and adjudications of earlier versions: shown, but not counted
    :param surplus: decisions that could not count when they were made; nothing depends on them
    :param authors: the people who wrote a version
    :param before_import: the people who wrote the text before it was imported; this is no work on the item
    :param last: the latest decision in force, which its author may undo; None after another person's new version
    """

    state: State
    version_id: int
    version: int
    needed: int
    cast: tuple[Decision, ...] = ()
    decisions: tuple[Decision, ...] = ()
    stale: tuple[Decision, ...] = ()
    surplus: tuple[Decision, ...] = ()
    authors: frozenset[str] = frozenset()
    before_import: frozenset[str] = frozenset()
    last: Decision | None = None

    @property
    def round(self) -> Round | None:
        """The round it is in; None once it is decided or withdrawn."""
        return round_of(self.state)

    @property
    def missing(self) -> int:
        """Number of decisions that the present round still needs."""
        return max(0, self.needed - len(self.cast))

    @property
    def done(self) -> int:
        """Number of decisions made in the present round."""
        return len(self.cast)

    @property
    def progress(self) -> str:
        """Progress as text: ``audit 1 of 2``; only the state's name if one person decides."""
        if self.needed <= 1:
            return tr(self.state)
        return tr("{state} {done} of {wanted}", state=tr(self.state), done=self.done, wanted=self.needed)

    @property
    def compared(self) -> bool:
        """Whether two or more people decided on the current version in one round."""
        return any(len(sides) > 1 for sides in self._sides())

    @property
    def disagreement(self) -> bool:
        """Whether two people decided differently on the current version in one round of audit or vote."""
        return any({1, -1} <= set(sides) for sides in self._sides())

    @property
    def decided_by(self) -> tuple[str, ...]:
        """Initials of those whose decisions decided it; empty while it is open."""
        verb = {"approved": "approve", "rejected": "reject", "cannot tell": "reject"}.get(self.state)
        last_round = self.decisions[-1].round if self.decisions else None
        return tuple(d.person for d in self.decisions if d.verb == verb and d.round == last_round)

    def _sides(self) -> list[list[int]]:
        return [[_SIDE.get(d.verb, 0) for d in self.decisions if d.round == judged] for judged in ("audit", "vote")]


def round_of(state: State) -> Round | None:
    """Return the round of a state: ``returned`` is revision again; None once decided or withdrawn."""
    if state == "approved" or state == "rejected" or state == "cannot tell" or state == "withdrawn":
        return None
    return "revision" if state == "returned" else state


def standing(history: Iterable[Fact], rules: Rules) -> Standing:
    """Return the standing of an item after its history, oldest first.

    Decisions that could not count when they were made (one vote too many, the wrong round, an old version) are
    kept as ``surplus`` and change nothing. A round closes under the rules in force when its decisions were
    made; ``rules`` apply to an open round.

    :raises ValueError: the history does not begin with a version
    """
    in_force: list[Fact] = []
    now: Standing | None = None
    for fact in history:
        if isinstance(fact, Decision) and fact.verb == "undo":
            if now is not None and _may_withdraw(now, fact):
                in_force = [f for f in in_force if f is not now.last]
                now = _fold(in_force, rules)
        else:
            in_force.append(fact)
            now = _next(now, fact, rules)
    if now is None:
        raise ValueError("a history begins with a version")
    return _settle(now, rules)


def decided(now: Standing, decision: Decision, rules: Rules) -> Standing:
    """Return the standing after one more decision that is made under the present ``rules``.

    It equals that of the whole history, which need not be read again.
    """
    return _settle(_decided(now, decision, rules), rules)


def _may_withdraw(now: Standing, undo: Decision) -> bool:
    return now.last is not None and now.last.id == undo.withdraws and now.last.person == undo.person


def _fold(facts: Sequence[Fact], rules: Rules) -> Standing | None:
    now: Standing | None = None
    for fact in facts:
        now = _next(now, fact, rules)
    return now


def _next(now: Standing | None, fact: Fact, rules: Rules) -> Standing:
    if isinstance(fact, VersionMade):
        return _first(fact, rules) if now is None else _revised(now, fact)
    if now is None:
        raise ValueError("a history begins with a version")
    return _decided(now, fact, fact.rules or rules)


def _first(version: VersionMade, rules: Rules) -> Standing:
    return Standing(
        "screening",
        version.id,
        version.number,
        rules.people_needed("screening"),
        authors=_author(version),
        before_import=version.before_import,
    )


def _revised(now: Standing, version: VersionMade) -> Standing:
    outdated = tuple(d for d in now.decisions if d.round in ("audit", "vote", "adjudication"))
    own = now.last is not None and now.last.person == version.author
    return replace(
        now,
        version_id=version.id,
        version=version.number,
        cast=(),
        decisions=(),
        stale=now.stale + outdated,
        authors=now.authors | _author(version),
        last=now.last if own else None,
    )


def _author(version: VersionMade) -> frozenset[str]:
    return frozenset() if version.author is None else frozenset({version.author})


def _decided(now: Standing, decision: Decision, rules: Rules) -> Standing:
    if decision.verb in WITHDRAWALS:
        return _withdrawn_or_restored(now, decision, rules)
    now = _settle(now, rules)
    if not _counts(now, decision):
        return replace(now, surplus=(*now.surplus, decision))
    now = replace(now, cast=(*now.cast, decision), decisions=(*now.decisions, decision), last=decision)
    return _settle(now, rules)


def untouched(now: Standing) -> bool:
    """Return whether no person wrote a version or decided anything that is in force: such an item can be withdrawn.

    The first decision ends the screening.
    """
    return now.state == "screening" and not now.authors


def _withdrawn_or_restored(now: Standing, decision: Decision, rules: Rules) -> Standing:
    """Withdraw or restore an item. Restoring is no decision to undo: others may have begun to work on it."""
    if decision.verb == "withdraw" and untouched(now):
        return replace(now, state="withdrawn", needed=0, last=decision)
    if decision.verb == "restore" and now.state == "withdrawn":
        return replace(now, state="screening", needed=rules.people_needed("screening"), last=None)
    return replace(now, surplus=(*now.surplus, decision))


def _counts(now: Standing, decision: Decision) -> bool:
    return (
        decision.round == now.round
        and decision.version_id == now.version_id
        and decision.verb in VERBS[decision.round]
        and decision.person not in {d.person for d in now.cast}
        and not (decision.verb == "submit" and _unchanged_since_returned(now))
    )


def _unchanged_since_returned(now: Standing) -> bool:
    return now.state == "returned" and any(d.verb == "return" for d in now.decisions)


def _settle(now: Standing, rules: Rules) -> Standing:
    """Close the round if its decisions decide it under ``rules``.

    An item is "cannot tell" if everybody who rejected it in that round gave this as the reason.
    """
    state = _outcome(now.state, [d.verb for d in now.cast], rules)
    if state is None:
        needed = rules.people_needed(now.state)
        return now if needed == now.needed else replace(now, needed=needed)
    if state == "rejected" and all(d.reason == CANNOT_TELL for d in now.cast if d.verb == "reject"):
        state = "cannot tell"
    return replace(now, state=state, needed=rules.people_needed(state), cast=())


def _outcome(state: State, cast: Sequence[Verb], rules: Rules) -> State | None:
    """Return the state after the decisions of a round; None while it stays open."""
    match state:
        case "audit":
            return _audited(cast, rules)
        case "vote":
            return _voted(cast, rules)
        case "approved" | "rejected" | "cannot tell" | "withdrawn":
            return None
        case _:
            leads_to: dict[Verb, State] = {
                "keep": "revision",
                "submit": "audit",
                "reject": "rejected",
                "approve": "approved",
                "return": "returned",
            }
            return leads_to[cast[-1]] if cast else None


def _audited(cast: Sequence[Verb], rules: Rules) -> State | None:
    if "return" in cast:
        return "returned"
    if len(cast) < rules.auditors:
        return None
    if set(cast) == {"pass"}:
        return "vote"
    return "rejected" if set(cast) == {"reject"} else "adjudication"


def _voted(cast: Sequence[Verb], rules: Rules) -> State | None:
    if cast.count("approve") >= rules.approve_at:
        return "approved"
    if cast.count("reject") >= rules.reject_at:
        return "rejected"
    return "adjudication" if len(cast) >= rules.votes else None


def barred(now: Standing, rules: Rules) -> dict[str, str]:
    """Return who may not act in the present round, whatever their roles: ``{initials: reason}``."""
    if rules.solo or now.round not in ("audit", "vote", "adjudication"):
        return {}
    # What the person did in each round, as it reads in the message.
    did = {
        "audit": deferred("{person} has already audited version {version}"),
        "vote": deferred("{person} has already voted on version {version}"),
        "adjudication": deferred("{person} has already adjudicated version {version}"),
    }
    counted = {"audit": now.cast, "vote": now.cast, "adjudication": now.decisions}[now.round]
    why = {d.person: tr(did[d.round], person=d.person, version=now.version) for d in counted if d.round in did}
    why |= {a: tr("{person} wrote this text before it was imported", person=a) for a in now.before_import}
    why |= {a: tr("{person} wrote a version of this item", person=a) for a in now.authors}
    conclusion = {
        "audit": deferred("{reason}, so another person has to audit it."),
        "vote": deferred("{reason}, so another person has to vote on it."),
        "adjudication": deferred("{reason}, so another person has to adjudicate it."),
    }[now.round]
    return {person: tr(conclusion, reason=reason) for person, reason in why.items()}


def work_refusal(now: Standing, rules: Rules, person: Person) -> str | None:
    """Return why ``person`` can do nothing with the item in its present round; None if they can act."""
    if not person.active:
        return tr("{person} is no longer active here.", person=person.initials)
    if now.state == "withdrawn":
        return tr("This item is withdrawn. A coordinator can restore it in the Data tab.")
    if now.state == "cannot tell":
        return tr("This item is already decided: nobody can tell from these data.")
    if now.round is None:
        return tr("This item is already {state}.", state=tr(now.state))
    roles = ROLES_OF[now.round]
    if not person.is_any(*roles):
        return tr(
            "{round} is for {roles}; {person} is {theirs}.",
            round=tr(now.round.capitalize()),
            roles=tr(" or ").join(map(tr, roles)),
            person=person.initials,
            theirs=tr(" and ").join(map(tr, sorted(person.roles))),
        )
    return barred(now, rules).get(person.initials)


def refusal(
    now: Standing, rules: Rules, person: Person, action: Action, version_id: int, *, changed: bool = False
) -> str | None:
    """Return why ``person`` may not do this to this version now, as a sentence; None if they may.

    ``incomplete`` checks the reason of a reject and the comment of a return.

    :param changed: whether a version with changes of the text is saved first
    """
    if now.round is not None and action != "edit" and action not in VERBS[now.round]:
        return tr(
            "This item is in {round} now, where the decisions are {possible}; “{action}” is not one.",
            round=tr(now.round),
            possible=", ".join(map(tr, VERBS[now.round])),
            action=tr(action),
        )
    sentence = work_refusal(now, rules, person)
    if sentence is not None:
        return sentence
    if action == "edit" and now.round != "revision":
        return tr("The text can be changed in revision only; this item is in {round}.", round=tr(now.round or ""))
    if version_id != now.version_id:
        return tr("This is based on an earlier version; version {version} is the current one.", version=now.version)
    if action == "submit" and not changed and _unchanged_since_returned(now):
        return tr(
            "Version {version} was returned; change it before submitting it again, or reject it.", version=now.version
        )
    return None


def judges_independently(now: Standing, rules: Rules, person: Person) -> bool:
    """Return whether ``person`` may still audit the item or vote on it: until then they are not shown what others say
    in this round."""
    return now.round in ("audit", "vote") and any(
        refusal(now, rules, person, verb, now.version_id) is None for verb in VERBS[now.round]
    )


def undo_refusal(now: Standing, person: Person) -> str | None:
    """Return why ``person`` may not undo the latest decision; None if they may."""
    if not person.active:
        return tr("{person} is no longer active here.", person=person.initials)
    if now.last is None:
        return tr("There is no decision to undo: none was made, or another person wrote a version after it.")
    if now.last.person != person.initials:
        return tr("The latest decision is {person}'s; only {person} can undo it.", person=now.last.person)
    return None


def incomplete(verb: Verb, reason: str = "", comment: str = "") -> str | None:
    """Return what a decision lacks: a reject needs a reason (and "other" a comment), a return a comment."""
    if verb == "reject":
        if reason not in REASONS:
            return tr("Rejecting needs a reason, one of {reasons}.", reasons=", ".join(REASONS))
        if reason == "other" and not comment.strip():
            return tr("The reason “other” needs a comment.")
    elif reason:
        return tr("A reason belongs to reject, not to “{verb}”; write a comment instead.", verb=tr(verb))
    if verb == "return" and not comment.strip():
        return tr("Returning needs a comment that says what has to change.")
    return None
