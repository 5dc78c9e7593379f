"""Verdict first: what the server sends of an item before its person has given a verdict of their own.

Nothing is sent that tells the answer: neither the drafter's thoughts, labels and verdict nor what the file and the
catalogue say about the object. A person hides it with a switch; coordinators make it the rule for a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from agent.language import deferred, tr
from agent.spectrum import Spectrum, account
from agent.text import whole_number
from agent.tool import SKY_CONTEXT
from reviewer.rules.item_numbers import alias, item_of_alias
from reviewer.rules.people import Person
from reviewer.rules.workflow import CLOSED, round_of
from reviewer.store import NotAllowed, NotFound, QueueFilter, QueueRow, Store
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models.queue import Drafter
from reviewer.web.models.queue import QueueRow as ShownRow

Row = TypeVar("Row", bound=ShownRow)

RULE = "verdict_first"
"""Setting with the names of the batches in which everyone gives a verdict first."""
HIDDEN = deferred("Hidden until you have given your verdict.")
FIRST = deferred("Give your own verdict first: in this batch you judge before you see the answer.")

DECIDED = tuple(state for state in CLOSED if state != "withdrawn")
"""States in which the item has its final answer."""
_SIMULATED = "simulated "
_NEUTRAL_META = ("medium_assumed", "arms_missing", *account.COUNTS)
"""Names of columns and HDUs may tell the class, so of how the file was read only these."""
_SENT_OF_TRAJECTORY = ("version", "task", "prompt", "redshift", "medium", "overview")


class VerdictFirst:
    """Which items are hidden from one person.

    :param chosen: hide every open item, not only those of the batches with the rule
    """

    def __init__(self, store: Store, person: Person, chosen: bool = False) -> None:
        self._store = store
        self._person = person.initials
        self._chosen = chosen
        self.batches = frozenset(store.settings.get(RULE, ()))

    def hides(self, row: QueueRow) -> bool:
        """Return whether the item of this row is hidden."""
        return bool(self.hidden((row,)))

    def hidden(self, rows: Iterable[QueueRow]) -> frozenset[int]:
        """Return the items that are hidden: open, and without a verdict or a version by this person."""
        if not self._chosen and not self.batches:
            return frozenset()
        candidates = [
            row.item_id
            for row in rows
            if (self._chosen or row.batch in self.batches) and round_of(row.state) is not None
        ]
        return frozenset(candidates) - self._store.marks.judged(self._person, candidates)

    def hidden_items(self) -> frozenset[int]:
        """Return all items that are hidden."""
        if not self._chosen and not self.batches:
            return frozenset()
        return self._store.traces.unjudged(self._person, None if self._chosen else self.batches)

    def require_verdict(self, row: QueueRow) -> None:
        """Check that the item is not hidden. :raises NotAllowed: it is"""
        if self.hides(row):
            raise NotAllowed(tr(FIRST))

    def require_spectrum(self, sha256: str) -> None:
        """Check that a spectrum belongs to an item that is not hidden, or to none. :raises NotAllowed: it does not"""
        if self.hides_spectrum(sha256):
            raise NotAllowed(tr(FIRST))

    def hides_spectrum(self, sha256: str) -> bool:
        """Return whether a spectrum belongs to hidden items only."""
        rows = self._store.queue.rows_of_spectrum(sha256) if self.batches else []
        return bool(rows) and len(self.hidden(rows)) == len(rows)

    def searched(self, query: QueueFilter) -> QueueFilter:
        """Return a filter that finds no item by what is hidden: without the batches with the rule if it could, and with
        words that are not searched in hidden traces.
        """
        if query.words:
            query = replace(query, verdict_first=None if self._chosen else tuple(sorted(self.batches)))
        named = bool(query.text.strip()) and not query.text.strip().startswith("#")
        simulated = query.simulated is not None or (query.survey or "").startswith(_SIMULATED)
        revealing = named or simulated or query.disagreement is not None or query.trial is not None
        if not self.batches or not revealing:
            return query
        return replace(query, without_batches=tuple(sorted(self.batches)))


def shows_names(store: Store, person: Person, rows: Iterable[QueueRow]) -> bool:
    """Return whether a person may see names and types of the object of these items of one spectrum: after their own
    verdict on one of them, or once one is decided."""
    return any(
        row.state in DECIDED or any(each.person == person.initials for each in store.marks.verdicts(row.item_id))
        for row in rows
    )


def neutral_name(item_id: int) -> str:
    return tr("item {number}", number=item_id)


def hash_of(store: Store, name: str) -> str:
    """Return the hash of a spectrum that is named by its hash or its alias.

    :raises NotFound: there is no such item, or it has no spectrum
    """
    item_id = item_of_alias(name)
    if item_id is None:
        return name
    sha256 = store.items.get(item_id).row.spectrum_sha256
    if sha256 is None:
        raise NotFound(tr("Item {item_id} has no spectrum.", item_id=item_id))
    return sha256


def neutral_survey(survey: str) -> str:
    return survey.removeprefix(_SIMULATED)


def neutral_spectrum(spectrum: Spectrum, item_id: int) -> Spectrum:
    """Return the spectrum without what tells the class: name, catalogue class, position, ids, header values and the
    pipeline's model. Arrays, frame, medium, redshift, S/N and survey stay: they are the data.
    """
    return replace(
        spectrum,
        name=neutral_name(item_id),
        survey=neutral_survey(spectrum.survey),
        catalogue_class="",
        ra=None,
        dec=None,
        ids={},
        meta={key: value for key, value in spectrum.meta.items() if key in _NEUTRAL_META},
        model=None,
    )


def neutral_row(row: Row) -> Row:
    """Return a row of the queue without name, batch, drafter and outcome."""
    return row.model_copy(
        update={
            "name": neutral_name(row.id),
            "survey": neutral_survey(row.survey),
            "drafter": Drafter(kind="withheld", name=""),
            "batch": "",
            "simulated": False,
            "spectrum": None if row.spectrum is None else alias(row.id),
            "disagreement": False,
            "hidden": True,
        }
    )


def neutral_trajectory(body: Mapping[str, Any], item_id: int) -> dict[str, Any]:
    """Return a trajectory with its tool calls only, without their labels; none of ``sky_context``, whose picture shows
    more than the spectrum."""
    sha256 = body["spectrum"]["sha256"]
    return {
        **{key: body[key] for key in _SENT_OF_TRAJECTORY if key in body},
        "spectrum": {"name": neutral_name(item_id), "sha256": None if sha256 is None else alias(item_id)},
        "drafter": {"kind": "withheld", "name": "", "settings": {}},
        "label": None,
        "simulated": False,
        "faults": [],
        "steps": [
            _neutral_zoom(step) for step in body["steps"] if step["kind"] == "zoom" and step.get("tool") != SKY_CONTEXT
        ],
    }


def _neutral_zoom(step: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {key: value for key, value in step["arguments"].items() if key == "wavelength_range"}
    return {**step, "arguments": arguments, "observation": ""}


def _verdict_first(person: PersonDep, context: ContextDep, verdict_first: bool = False) -> VerdictFirst:
    return VerdictFirst(context.store, person, verdict_first)


VerdictFirstDep = Annotated[VerdictFirst, Depends(_verdict_first)]


def require_verdict(request: Request, context: ContextDep, first: VerdictFirstDep) -> None:
    """Refuse a change to an item whose answer is hidden from this person. :raises NotAllowed: it is"""
    item_id = whole_number(request.path_params.get("item_id", ""))
    if first.batches and item_id is not None:
        first.require_verdict(context.store.items.get(item_id).row)
