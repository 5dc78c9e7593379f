"""Routes of the Trust section of the Progress tab: calibration, thresholds, votes, label errors, certificates."""

from __future__ import annotations

import json
import shlex
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from agent.tasks import Task
from reviewer.store import NotAllowed, NotFound, Store
from reviewer.web.access import may_manage
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.visibility import VisibleDep, VisibleItems

if TYPE_CHECKING:
    from agent.trust.certify import Wanted
    from reviewer.trust.annotators import Suspect
    from reviewer.trust.cases import Case
    from reviewer.trust.certificates import Listed
    from reviewer.trust.figures import ScoredList

router = APIRouter(prefix="/api/progress/trust")

_CACHED = 30  # lists and thresholds that are kept
_MOST_SUSPECTS = 50
_DECIDED = ("approved", "rejected", "cannot tell")

METHOD = (
    "Method: any time. The section is opened again and again, so its thresholds come from tests that stay valid "
    "however often they are repeated after further labels; they need more labels than one count (spec-o3 certify)."
)
SUSPECT = (
    "Cross-validated P(YES) of models that did not see the spectrum disagrees strongly with its label: confident "
    "learning (Northcutt, Jiang & Chuang 2021, JAIR 70, 1373). A second decision finds out which of the two is wrong."
)
ECE = (
    "Expected calibration error: mean distance of the points from the dashed line, weighted by the number of labels "
    "(Guo et al. 2017, arXiv:1706.04599). "
)
BRIER = "Mean of (P(YES) − label)², 0 is perfect (Brier 1950, Mon. Weather Rev. 78, 1)."
MODELS = {
    "raw": "The logistic function of the log odds that the policy gives, else of its votes; nothing is fitted.",
    "scaled": "A line in the log odds of the policy, fitted on half of the labels (Platt 1999).",
    "logistic": "Logistic regression in all features, fitted on half of the labels.",
    "isotonic": "A non-decreasing function of the log odds of the policy, fitted on half of the labels.",
}
SHOWINGS = (
    "Items that the ordered queue gave to somebody, and how many of them it chose at random from the whole list. The "
    "random share keeps rates and bounds valid and cheap; 20 % is wanted."
)
ASKED = (
    "Spectra that no certificate covers because of their data: low S/N, coarse sampling, no data at a primary feature, "
    "or a policy that gave no answer. A person decides them."
)
LABELLED = (
    "Spectra whose label counts here: known beforehand, answer of an approved version, or votes of people that agree "
    "(posterior of 95 %). Spectra from which P(YES) was fitted are left out."
)


class TrustCache:
    """Figures until the next entry of the audit log; calculated by one thread at a time."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, Any] = OrderedDict()
        self._head: object = None
        self._lock = Lock()

    def get(self, store: Store, key: object, calculate: Callable[[], Any]) -> Any:
        with self._lock:
            head = store.log.head()
            if head != self._head:
                self._kept.clear()
                self._head = head
            if key not in self._kept:
                self._kept[key] = calculate()
                if len(self._kept) > _CACHED:
                    self._kept.popitem(last=False)
            return self._kept[key]

    def scored(self, store: Store, task: str, policy: str) -> ScoredList | None:
        from reviewer.trust.figures import scored_list

        found: ScoredList | None = self.get(store, (task, policy), lambda: scored_list(store, task, policy))
        return found


def _cache(request: Request) -> TrustCache:
    cache: TrustCache = request.app.state.trust
    return cache


CacheDep = Annotated[TrustCache, Depends(_cache)]


# Not async: calculating takes a second or more, in a thread.
@router.get("")
def trust(
    person: PersonDep, context: ContextDep, visible: VisibleDep, cache: CacheDep, task: str = "", policy: str = ""
) -> dict[str, Any]:
    """The calibration, the rates and the votes of one policy for one class."""
    store = context.store
    present = list(store.queue.facets().get("task", ()))
    tasks = {key: _title(context.tasks, key) for key in present}
    key = task if task in tasks else _first_scored(store, present)
    counts = _policies(store, cache, key) if key else {}
    name = policy if policy in counts else next(iter(counts), "")
    found = cache.scored(store, key, name) if name else None
    manages = may_manage(person, store)
    common = {
        "tasks": tasks,
        "task": key,
        "policies": [{"name": one, "items": items} for one, items in counts.items()],
        "policy": name,
        "may_download": manages,
    }
    if found is None:
        return {**common, "scored": None, **_why_not(store, key, name)}
    return {
        **common,
        "scored": _scored_json(store, key, found),
        "reliability": _reliability_json(found),
        "calibration": _calibration_json(found),
        "rates": _rates(found),
        "skill": _skill_json(store, key, found) if manages else None,
        "certificates": [_listed_json(one) for one in _certificates(store, key)],
    }


@router.get("/thresholds")
def thresholds(
    person: PersonDep,
    context: ContextDep,
    cache: CacheDep,
    task: str,
    policy: str,
    alpha_yes: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    alpha_no: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    delta: Annotated[float, Query(gt=0, lt=1)] = 0.05,
) -> dict[str, Any]:
    """The thresholds for these limits, or what is missing for them."""
    found = _require_scored(cache, context.store, task, policy)
    limits = (alpha_yes, alpha_no, delta)
    result: dict[str, Any] = cache.get(
        context.store, (task, policy, limits), lambda: _sides_json(found, _wanted(*limits))
    )
    return result


@router.get("/suspects")
def label_errors(
    person: PersonDep, context: ContextDep, visible: VisibleDep, cache: CacheDep, task: str, policy: str
) -> dict[str, Any]:
    """The labels that may be wrong, on decided items that the person may see."""
    from reviewer.trust.figures import suspects_of

    found = _require_scored(cache, context.store, task, policy)
    suspects = cache.get(context.store, ("suspects", task, policy), lambda: suspects_of(found.calibration))
    return _suspects_json(context.store, visible, suspects)


@router.get("/certificate")
def certificate(
    person: PersonDep,
    context: ContextDep,
    cache: CacheDep,
    task: str,
    policy: str,
    alpha_yes: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    alpha_no: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    delta: Annotated[float, Query(gt=0, lt=1)] = 0.05,
) -> Response:
    """The certificate for these limits, as a file.

    :raises NotAllowed: the person is no coordinator
    :raises NotFound: nothing is certified
    """
    from reviewer.trust.certificates import certificate_of
    from reviewer.trust.figures import sides_of

    if not may_manage(person, context.store):
        raise NotAllowed(f"Only coordinators download certificates; {person.initials} is not one.")
    found = _require_scored(cache, context.store, task, policy)
    wanted = _wanted(alpha_yes, alpha_no, delta)
    sides = sides_of(found, wanted)
    if all(side.threshold is None for side in sides):
        raise NotFound(f"Neither side is certified. {sides[0].refusal} {sides[1].refusal}")
    now = context.store.database.now()
    made = certificate_of(found.found, found.model, found.calibration, sides, wanted, now)
    text = json.dumps(made.to_json(), ensure_ascii=False, indent=1) + "\n"
    name = f"{task}-{now:%Y%m%d-%H%M}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=headers)


def _wanted(alpha_yes: float, alpha_no: float, delta: float) -> Wanted:
    from agent.trust.certify import Wanted

    return Wanted(yes=alpha_yes, no=alpha_no, delta=delta, method="anytime")


def _require_scored(cache: TrustCache, store: Store, task: str, policy: str) -> ScoredList:
    """Return the scored cases. :raises NotFound: there are none"""
    found = cache.scored(store, task, policy)
    if found is None:
        raise NotFound(f"No item of {policy!r:.60} has a P(YES) for {task!r:.20}. {_HOW}")
    return found


_HOW = "A coordinator calculates it on the server with spec-o3 certify."


def _first_scored(store: Store, tasks: list[str]) -> str:
    return next((key for key in tasks if store.trust.scored(key) is not None), tasks[0] if tasks else "")


def _policies(store: Store, cache: TrustCache, task: str) -> dict[str, int]:
    """Return the number of items of each policy; those with most scored items come first."""

    def count() -> dict[str, int]:
        stored = store.trust.cases(task)
        scores = Counter(one.drafter_name for one in stored if one.p_yes is not None)
        items = Counter(one.drafter_name for one in stored if one.drafter_kind in ("baseline", "model"))
        return dict(sorted(items.items(), key=lambda pair: (-scores[pair[0]], -pair[1], pair[0])))

    found: dict[str, int] = cache.get(store, ("policies", task), count)
    return found


def _why_not(store: Store, task: str, policy: str) -> dict[str, Any]:
    if not policy:
        why = (
            "There are no items that a policy has drafted. Thresholds need spectra with answers of a policy and labels."
        )
        return {"why_not": why, "command": None}
    command = shlex.join(["spec-o3", "certify", "--db", str(store.path.resolve()), "--task", task, "--policy", policy])
    why = (
        f"No item of {policy} has a P(YES) yet. A coordinator calculates it on the server with the command below, "
        "which may run while people work; then calibration, thresholds and the ordered queue appear."
    )
    return {"why_not": why, "command": command}


def _scored_json(store: Store, task: str, found: ScoredList) -> dict[str, Any]:
    scored = store.trust.scored(task)
    at = "" if scored is None else f", scored {scored.at:%Y-%m-%d %H:%M} UTC"
    return {
        "model": f"P(YES): {found.model.kind}",
        "model_meaning": MODELS[found.model.kind],
        "text": f"{len(found.found.cases)} spectra{at}; newer items have no P(YES) until spec-o3 certify runs again",
    }


def _reliability_json(found: ScoredList) -> dict[str, Any]:
    bins = [] if found.reliability is None else found.reliability.bins
    return {
        "bins": [
            {"n": one.n, "mean": one.probability, "share": one.positives, "low": ends[0], "high": ends[1]}
            for one in bins
            if (ends := one.interval) is not None
        ]
    }


def _calibration_json(found: ScoredList) -> dict[str, Any] | None:
    one = found.reliability
    if one is None:
        return None
    between = "" if one.interval is None else f" ({one.interval[0]:.3f} to {one.interval[1]:.3f})"
    text = f"{one.ece:.3f}{between}; by chance {one.by_chance:.3f}"
    from agent.trust.reliability import INTERVAL

    return {"meaning": ECE + INTERVAL, "text": text, "brier_meaning": BRIER, "brier": f"{one.brier:.3f}"}


def _rates(found: ScoredList) -> list[dict[str, Any]]:
    made, (random, shown) = found.calibration, found.shown
    asked = len(found.found.cases) - len(made.cases)
    yes = int(made.labelled.yes.sum())
    labelled = f"{yes} YES and {len(made.decided) - yes} NO, of {len(made.cases)} spectra"
    left = f"of {len(found.found.cases)} spectra"
    share = None if not shown else f"{100 * random / shown:.0f} %"
    of = f"{random} of {shown} showings" if shown else "undefined: the ordered queue has shown no item yet"
    return [
        {"name": "Labels", "meaning": LABELLED, "value": str(len(made.decided)), "note": labelled},
        {"name": "Not covered", "meaning": ASKED, "value": str(asked), "note": left},
        {"name": "Random showings", "meaning": SHOWINGS, "value": share, "note": of},
    ]


def _skill_json(store: Store, task: str, found: ScoredList) -> dict[str, Any]:
    people = found.annotators
    rows = [one.to_json() for one in people.skills]
    first = people.skills[0] if people.skills else None
    meanings = {
        "votes": "Spectra on which the person gave a verdict: their own verdict before they saw the answer, or their "
        "decision.",
        "sensitivity": first.sensitivity.definition if first else "",
        "specificity": first.specificity.definition if first else "",
    }
    return {"rows": rows, "reason": people.reason, "noise": None, "meanings": meanings}


def _suspects_json(store: Store, visible: VisibleItems, suspects: Sequence[tuple[Suspect, Case]]) -> dict[str, Any]:
    """Return the first of the suspects that may be listed.

    The label and P(YES) of an open item stay hidden: they would influence its reviewers.
    """
    items: list[dict[str, Any]] = []
    for suspect, case in suspects:
        if len(items) == _MOST_SUSPECTS:
            break
        item = case.items[0]
        if not visible.items.isdisjoint(case.items):
            continue
        row = store.items.get(item).row
        if row.state not in _DECIDED or visible.verdict_first.hides(row):
            continue
        items.append(
            {
                "item": item,
                "name": row.name,
                "label": "YES" if suspect.label else "NO",
                "p_yes": suspect.p_yes,
                "reason": suspect.reason,
                "source": "" if case.label is None else case.label.source,
            }
        )
    total = len(suspects)
    left = total - len(items)
    hidden = f"{left} are not listed: the item is still open, or hidden from you." if left else ""
    reason = "No label disagrees strongly with P(YES)."
    return {"total": total, "items": items, "reason": reason, "meaning": SUSPECT, "hidden": hidden}


def _sides_json(found: ScoredList, wanted: Wanted) -> dict[str, Any]:
    from reviewer.trust.figures import sides_of
    from reviewer.trust.statement import assumptions, promise, side_text, verdict_counts

    sides = sides_of(found, wanted)
    uncovered = len(found.found.cases) - len(found.calibration.cases)
    return {
        "counts": verdict_counts(found.calibration.p, sides, uncovered),
        "sides": [
            {"verdict": one.verdict, "threshold": one.threshold, "text": side_text(one, wanted)} for one in sides
        ],
        "promise": promise(sides, wanted),
        "assumptions": list(assumptions(found.found, found.calibration, wanted)),
        "method": METHOD,
    }


def _certificates(store: Store, task: str) -> tuple[Listed, ...]:
    from reviewer.trust.certificates import listed

    return listed(store.path, task)


def _listed_json(one: Listed) -> dict[str, Any]:
    if one.certificate is None:
        return {"file": one.path.name, "is_valid": False, "text": one.problem}
    made, found = one.suspension, one.certificate
    text = f"{found.policy.name}, made {found.made_at[:10]}, {found.labels.n} labels"
    if made is not None:
        text += f". Suspended since {made.since} by {made.by}. {made.evidence}"
    return {"file": one.path.name, "is_valid": made is None, "text": text}


def _title(tasks: Mapping[str, Task], key: str) -> str:
    # The task file may be gone while its items are still here.
    return tasks[key].title if key in tasks else key
