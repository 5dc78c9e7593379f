"""Showings of the ordered queue, and whether their probability is known for a list of cases.

A label can be weighted if its item was chosen from the list that the certificate speaks of. ``store.trust`` gives an
item the showing that led to its decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.language import deferred

if TYPE_CHECKING:
    from agent.trust.plans import Plan
    from reviewer.store.trust_values import StoredCase

NARROWER = deferred("chosen by the ordered queue from another list than this one (a filter was set)")
OTHER_ITEMS = deferred("chosen by the ordered queue from a list with items of other policies, or simulated ones")
SEVERAL_SAMPLES = deferred("chosen by the ordered queue, which counts items, but a spectrum has several here")
OTHER_SCORES = deferred("chosen by the ordered queue with P(YES) of another model")
NOT_SHOWN = deferred("not shown by the ordered queue")


@dataclass(frozen=True)
class Shown:
    """How the ordered queue chose a case.

    :param plan: None if the probability is not that of the list of cases, for the reason in ``problem``
    :param probability: of the showing, as it was logged
    """

    plan: Plan | None
    probability: float = 0.0
    problem: str = ""

    def problem_with(self, p: float) -> str:
        """Return why the showing gives no weight to a label, "" if it does.

        :param p: P(YES) by the model of the certificate; the strata of the plan are those of the model at that time
        """
        if self.plan is None:
            return self.problem
        close = abs(self.plan.probability(p) - self.probability) <= 1e-6 * self.probability
        return "" if close else OTHER_SCORES


class Showings:
    """The showings of the items of one policy for one task.

    :param stored: the items of all policies
    :param batch: the only batch of the cases; None: all
    :param simulated: whether simulated spectra are among the cases
    """

    def __init__(
        self, stored: Iterable[StoredCase], task: str, policy: str, batch: str | None, simulated: bool
    ) -> None:
        whole = {"task": task} | ({} if batch is None else {"batch": batch})
        self._lists = (whole, whole | {"drafter": policy})
        in_list = [
            stored_case
            for stored_case in stored
            if stored_case.p_yes is not None and not stored_case.reasons and batch in (None, stored_case.batch)
        ]
        self._other_policies = any(case.drafter_name != policy for case in in_list)
        self._simulated = not simulated and any(case.simulated for case in in_list)

    def of(self, items: Sequence[StoredCase]) -> Shown | None:
        """Return how the queue chose the items of one spectrum; None: it did not."""
        shown = next((item for item in items if item.plan is not None), None)
        if shown is None or shown.plan is None:
            return None
        problem = self._problem(shown.plan) or (SEVERAL_SAMPLES if len(items) > 1 else "")
        if problem:
            return Shown(None, problem=problem)
        from agent.trust.plans import Plan

        return Shown(Plan.from_json(shown.plan), shown.probability or 0.0)

    def _problem(self, plan: Mapping[str, Any]) -> str:
        chosen_from = plan.get("filter")
        if chosen_from not in self._lists:
            return NARROWER
        if self._simulated or (self._other_policies and "drafter" not in chosen_from):
            return OTHER_ITEMS
        return ""
