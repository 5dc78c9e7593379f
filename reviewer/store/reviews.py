"""Versions, decisions and undo.

Each is one transaction that checks everything again: the key, the version it is based on, the rules and the
lease. It does not rely on what the page allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.record import Medium, medium_may_be_set, medium_text, with_medium
from agent.trajectory import Trajectory, Zoom
from agent.trajectory.statements import disagreements, sentence
from reviewer.rules.workflow import Action, Decision, Standing, Verb, incomplete, refusal, standing, undo_refusal
from reviewer.store.accounts import find_person
from reviewer.store.blind.scoring import refuse_withheld
from reviewer.store.errors import Disagreement, KeyReused, LeaseLost, NotAllowed, VersionMoved
from reviewer.store.history import History, draft_of, version_by_id, version_from
from reviewer.store.items import Items, body_of, insert_version
from reviewer.store.leases import Leases, drop_autosave, drop_sent_comment
from reviewer.store.spectra import Spectra, encode, insert_spectrum
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.sqlite.texts import DECISION, index_remark, trace_text
from reviewer.store.team.webhooks import unreported
from reviewer.store.values import Version, WorkTime

INSERT_DECISION = """
INSERT INTO decisions (key, item, version, person, round, verb, reason, comment, withdraws, rules, at)
VALUES (:key, :item, :version, :person, :round, :verb, :reason, :comment, :withdraws, :rules, :at)
"""

SENDS_ON: tuple[Verb, ...] = ("submit", "pass", "approve")
"""Decisions after which a text can become training data."""
CONFIRMED = "confirmed_disagreements"
"""In the log entry of a decision: how many disagreements between texts and tool calls the person confirmed."""

# What a version cannot change: the question, the spectrum, the drafter, the known truth.
_FIXED = (
    "task",
    "spectrum_name",
    "spectrum_sha256",
    "medium",
    "drafter",
    "label",
    "label_source",
    "simulated",
    "authors",
)


class Reviews:
    """Versions and decisions."""

    def __init__(self, database: Database, history: History, leases: Leases, items: Items, spectra: Spectra) -> None:
        self._database = database
        self._items = items
        self._spectra = spectra
        self._history = history
        self._leases = leases

    def save_version(
        self,
        *,
        person: str,
        item_id: int,
        base_version_id: int,
        trajectory: Trajectory,
        reason: str,
        key: str,
        lease_token: str,
    ) -> Version:
        """Append a new version based on ``base_version_id``; the same key again returns the first result.

        Text equal to the current version creates no new one. The person's autosave of that version is deleted.

        :raises VersionMoved: another person saved a version in between; both texts are in the exception
        :raises LeaseLost: the lease has ended
        :raises NotAllowed: the rules do not allow this person to edit now, or more than the steps was changed
        :raises KeyReused: the key was used for another text

        After the first three the text is kept as an autosave.
        """
        unsent = {**trajectory.to_json(), "comment": reason}
        with self._autosave_if_refused(person, item_id, base_version_id, unsent), self._database.write() as db:
            first = _replayed_version(db, key, person, item_id, trajectory)
            if first is not None:
                return first
            now = self._history.standing(db, item_id)
            base = self._require_current(db, item_id, base_version_id, now, trajectory)
            self._refuse(db, person, now, "edit", base)
            changed = [name for name in _FIXED if getattr(trajectory, name) != getattr(base.trajectory, name)]
            if changed:
                raise NotAllowed(tr("A version cannot change {names} of the item.", names=", ".join(changed)))
            self._leases.renew_row(db, self._leases.still_held(db, lease_token, person, item_id))
            drop_autosave(db, person, item_id, base.id)
            if trajectory.content_hash() == base.content_hash:
                return base
            row = _next_version(base, person, trajectory, reason, key, stamp(self._database.now()))
            version_id = insert_version(db, row, trace_text(trajectory.to_json()))
            details = {"number": base.number + 1}
            self._database.log(db, person, "version saved", f"item {item_id}", details, {"versions": version_id})
            self._history.refresh(db, item_id)
            return version_by_id(db, item_id, version_id)

    def set_medium(
        self,
        *,
        person: str,
        item_id: int,
        base_version_id: int,
        medium: Medium,
        key: str,
        lease_token: str,
    ) -> Version:
        """State the medium of an item whose file does not, as a new version.

        The same key again returns the first result.
        A stored spectrum never changes, so the version refers to another one: the same numbers in the stated medium.
        Wavelengths keep their values and pictures their pixels; the zooms of the version have the stated medium.

        :raises VersionMoved: another person saved a version in between
        :raises LeaseLost: the lease has ended
        :raises NotAllowed: the rules do not allow this person to edit now, or the file states its medium
        :raises NotFound: the item has no spectrum
        :raises KeyReused: the key was used for another text
        """
        base = self._items.version(base_version_id).trajectory
        spectrum = self._spectra.get(self._items.get(item_id).row.spectrum_sha256 or "")
        if not medium_may_be_set(spectrum):
            raise NotAllowed(
                tr("The file states its medium ({medium}), so it cannot be changed.", medium=spectrum.medium)
            )
        stated = with_medium(spectrum, medium, person)
        trajectory = in_medium(base, stated, person)
        row = encode(stated)  # slow: before the write transaction
        with self._database.write() as db:
            first = _replayed_version(db, key, person, item_id, trajectory)
            if first is not None:
                return first
            now = self._history.standing(db, item_id)
            current = self._require_current(db, item_id, base_version_id, now, trajectory)
            self._refuse(db, person, now, "edit", current)
            self._leases.renew_row(db, self._leases.still_held(db, lease_token, person, item_id))
            at = stamp(self._database.now())
            insert_spectrum(db, {**row, "added_at": at})
            reason = f"medium stated: {medium}; before: {medium_text(spectrum)}"
            version = _next_version(current, person, trajectory, reason, key, at)
            version_id = insert_version(db, version, trace_text(trajectory.to_json()))
            details = {"number": current.number + 1, "medium": medium, "before": medium_text(spectrum)}
            self._database.log(db, person, "medium stated", f"item {item_id}", details, {"versions": version_id})
            self._history.refresh(db, item_id)
            return version_by_id(db, item_id, version_id)

    def decide(
        self,
        *,
        person: str,
        item_id: int,
        version_id: int,
        verb: Verb,
        key: str,
        lease_token: str | None,
        reason: str = "",
        comment: str = "",
        worked: WorkTime | None = None,
        confirmed: int = 0,
    ) -> Standing:
        """Append a decision on a version and return the item's standing. The same key returns the first result.

        The person's autosaved comment on the version is deleted.

        :param lease_token: None: the lease is taken in the same transaction
        :param reason: a code of ``REASONS``, for reject only
        :param comment: free text; required for return
        :param worked: the time that the person worked on the item; None: not known
        :param confirmed: number of disagreements between texts and tool calls that the person was shown and decides
            in spite of; it is in the log
        :raises Disagreement: the version has another number of them, and the verb sends it on (``SENDS_ON``)
        :raises VersionMoved: ``version_id`` is no longer the current version
        :raises NotAllowed: the rules forbid it, or the decision is incomplete; the message gives the reason
        :raises LeaseLost: the lease has ended
        :raises HeldByAnother: no lease was given and others hold the item
        :raises KeyReused: the key was used for another decision
        """
        decision = {
            "person": person,
            "item": item_id,
            "version": version_id,
            "verb": verb,
            "reason": reason,
            "comment": comment.strip(),
        }
        with self._database.write() as db:
            first = self._replayed(db, key, decision)
            if first is not None:
                return first
            now = self._history.standing(db, item_id)
            version = self._require_current(db, item_id, version_id, now)
            self._refuse(db, person, now, verb, version)
            sentence = incomplete(verb, reason, comment) or _submit_problem(verb, version.trajectory)
            if sentence is not None:
                raise NotAllowed(sentence)
            open_ones = _disagreements(db, verb, version)
            if open_ones and len(open_ones) != confirmed:
                raise Disagreement(open_ones)
            confirmed = len(open_ones)
            lease = (
                self._leases.take_row(db, person, item_id)
                if lease_token is None
                else self._leases.still_held(db, lease_token, person, item_id)
            )
            row = {**decision, "key": key, "round": now.round, "withdraws": None}
            self.append_decision(db, row, worked, confirmed)
            drop_sent_comment(db, person, version)
            db.execute("UPDATE leases SET ended = 'decided' WHERE id = ?", (lease["id"],))
            return self._history.refresh(db, item_id)

    def undo(self, *, person: str, item_id: int, key: str) -> Standing:
        """Withdraw one's own decision while nobody else has acted after it; return the item's standing.

        The decision and its undo stay in the history. Needs no lease.

        :raises NotAllowed: the latest decision is another person's, or another person wrote a version after it
        :raises KeyReused: the key was used for another decision
        """
        with self._database.write() as db:
            first = self._replayed(db, key, {"person": person, "item": item_id, "verb": "undo"})
            if first is not None:
                return first
            now = self._history.standing(db, item_id)
            refuse_withheld(db, person, item_id)
            sentence = undo_refusal(now, find_person(db, person))
            if sentence is not None or now.last is None:
                raise NotAllowed(sentence or tr("There is no decision to undo."))
            self.append_decision(
                db,
                {
                    "person": person,
                    "item": item_id,
                    "version": now.version_id,
                    "verb": "undo",
                    "reason": "",
                    "comment": "",
                    "key": key,
                    "round": now.last.round,
                    "withdraws": now.last.id,
                },
            )
            with unreported(db):
                return self._history.refresh(db, item_id)

    @contextmanager
    def _autosave_if_refused(
        self, person: str, item_id: int, base_version_id: int, unsent: Mapping[str, Any]
    ) -> Iterator[None]:
        """Keep the text as an autosave of its writer if the block refuses it."""
        try:
            yield
        except (VersionMoved, LeaseLost, NotAllowed):
            self._leases.keep_unsent(
                person=person, item_id=item_id, base_version_id=base_version_id, body=unsent, refused=True
            )
            raise

    def _require_current(
        self,
        db: Transaction,
        item_id: int,
        version_id: int,
        now: Standing,
        yours: Trajectory | None = None,
    ) -> Version:
        """Return the version a submit is based on. :raises VersionMoved: it is no longer the current one"""
        base = version_by_id(db, item_id, version_id)
        if version_id == now.version_id:
            return base
        theirs = version_by_id(db, item_id, now.version_id)
        raise VersionMoved(
            tr(
                "This is based on version {number}; {author} has saved version {number2} since.",
                number=base.number,
                author=theirs.author,
                number2=theirs.number,
            ),
            theirs,
            yours,
        )

    def _refuse(self, db: Transaction, person: str, now: Standing, action: Action, version: Version) -> None:
        """Check the rules. :raises NotAllowed: they do not allow this person to do this"""
        refuse_withheld(db, person, version.item_id)
        sentence = refusal(now, self._history.current_rules(db)[1], find_person(db, person), action, version.id)
        if sentence is not None:
            raise NotAllowed(sentence)

    def append_decision(
        self, db: Transaction, decision: Mapping[str, object], worked: WorkTime | None = None, confirmed: int = 0
    ) -> None:
        rules = self._history.current_rules(db)[0]
        at = self._database.now()
        row = {**decision, "rules": rules, "at": stamp(at)}
        number = db.execute(INSERT_DECISION, row).lastrowid
        assert number is not None
        index_remark(db, DECISION, number, str(row["comment"]))
        facts = {"decisions": number}
        if worked is not None:
            facts["work_times"] = _insert_work_time(db, number, worked, at)
        what = "undone" if row["verb"] == "undo" else "decided"
        details = {name: row[name] for name in ("version", "round", "verb", "reason", "withdraws") if row[name]}
        if confirmed:
            details[CONFIRMED] = confirmed
        self._database.log(db, str(row["person"]), what, f"item {row['item']}", details, facts)

    def _replayed(self, db: Transaction, key: str, submitted: Mapping[str, object]) -> Standing | None:
        """Return the result of the first submit with this key; None if there was none.

        :raises KeyReused: it submitted something else
        """
        row = db.execute("SELECT * FROM decisions WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if any(row[name] != value for name, value in submitted.items()):
            raise KeyReused(tr("The key {key!r:.60} belongs to another decision.", key=key))
        facts = [fact for fact, _ in self._history.facts(db, row["item"])]
        places = {fact.id: n for n, fact in enumerate(facts) if isinstance(fact, Decision)}
        return standing(facts[: places[row["id"]] + 1], self._history.rules_by_id(db, row["rules"]))


def in_medium(trajectory: Trajectory, spectrum: Spectrum, person: str) -> Trajectory:
    """Return a trajectory that refers to ``spectrum``, whose medium ``person`` stated; windows keep their values."""
    steps = (replace(s, medium=spectrum.medium) if isinstance(s, Zoom) else s for s in trajectory.steps)
    return replace(
        trajectory,
        spectrum_sha256=spectrum.sha256,
        medium=spectrum.medium,
        medium_assumed=False,
        medium_set_by=person,
        steps=tuple(steps),
    )


def _replayed_version(db: Transaction, key: str, person: str, item_id: int, trajectory: Trajectory) -> Version | None:
    """Return the version that the first save with this key made; None if there was none.

    :raises KeyReused: it saved another text
    """
    row = db.execute("SELECT * FROM versions WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    if (row["item"], row["author"], row["content_hash"]) != (item_id, person, trajectory.content_hash()):
        raise KeyReused(tr("The key {key!r:.60} belongs to another version.", key=key))
    return version_from(row)


def _next_version(
    base: Version, person: str, trajectory: Trajectory, reason: str, key: str, at: str
) -> dict[str, object]:
    return {
        "key": key,
        "item": base.item_id,
        "number": base.number + 1,
        "content_hash": trajectory.content_hash(),
        "parent": base.id,
        "author": person,
        "reason": reason,
        "body": body_of(trajectory.to_json()),
        "at": at,
    }


def _insert_work_time(db: Transaction, decision: int, worked: WorkTime, at: datetime) -> int:
    times = {"elapsed": round(worked.elapsed, 3), "active": round(min(worked.active, worked.elapsed), 3)}
    opened_at = stamp(at - timedelta(seconds=worked.elapsed))
    return insert(db, "work_times", {"decision": decision, "opened_at": opened_at, **times})


def _disagreements(db: Transaction, verb: Verb, version: Version) -> tuple[tuple[str, str], ...]:
    """Return the disagreements of a version that a decision sends on: the id of the step and a sentence."""
    if verb not in SENDS_ON:
        return ()
    draft = draft_of(db, version.item_id) if version.number > 1 else None
    differences = disagreements(version.trajectory, draft)
    return tuple((difference.step, sentence(difference, version.trajectory)) for difference in differences)


def _submit_problem(verb: Verb, trajectory: Trajectory) -> str | None:
    """Return why a text cannot be submitted: it could never be exported, so it is not sent to audit."""
    problems = trajectory.problems() if verb == "submit" else []
    return tr("Not ready to be submitted: {names}.", names="; ".join(problems)) if problems else None
