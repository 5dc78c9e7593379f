"""Routes of the Trust section of the Progress tab: calibration, thresholds, votes, label errors, certificates."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from agent.language import deferred, tr
from reviewer.store import NotAllowed, NotFound, Store
from reviewer.web.access import may_manage
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models import trust as answers
from reviewer.web.trust import (
    calibration_of,
    certificate_row,
    missing_scores,
    rates_of,
    reliability_of,
    scores_of,
    skill_of,
    suspects_of,
    thresholds_of,
    title_of,
)
from reviewer.web.visibility import VisibleDep

if TYPE_CHECKING:
    from agent.trust.sides import Requirements
    from reviewer.store import Drafts
    from reviewer.trust.certificates import Listed
    from reviewer.trust.figures import ScoredList

router = APIRouter(prefix="/api/v1/progress/trust")

_SCORING = deferred("You score in a blind session. This section is shown again once the session is closed.")
_HOW = deferred("A coordinator calculates it on the server with spec-o3 certify.")
_CACHED = 30  # lists and thresholds that are kept


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

        scored: ScoredList | None = self.get(store, (task, policy), lambda: scored_list(store, task, policy))
        return scored


def _cache(request: Request) -> TrustCache:
    cache: TrustCache = request.app.state.trust
    return cache


CacheDep = Annotated[TrustCache, Depends(_cache)]


def _scored(context: ContextDep, visible: VisibleDep, cache: CacheDep, task: str, policy: str) -> ScoredList:
    """Return the scored cases of a policy.

    :raises NotAllowed: the person scores in an open blind session: an answer would tell which policies there are
    :raises NotFound: there are no such cases
    """
    if visible.items:
        raise NotAllowed(tr(_SCORING))
    scored = cache.scored(context.store, task, policy)
    if scored is None:
        raise NotFound(
            tr("No item of {policy!r:.60} has a P(YES) for {task!r:.20}. {how}", policy=policy, task=task, how=tr(_HOW))
        )
    return scored


ScoredDep = Annotated["ScoredList", Depends(_scored)]


def _require_coordinator(person: PersonDep, context: ContextDep) -> None:
    """:raises NotAllowed: the person is no coordinator"""
    if not may_manage(person, context.store):
        raise NotAllowed(
            tr("Only coordinators download certificates; {initials} is not one.", initials=person.initials)
        )


# Not async: calculating takes a second or more, in a thread.
@router.get("")
def trust(
    person: PersonDep, context: ContextDep, visible: VisibleDep, cache: CacheDep, task: str = "", policy: str = ""
) -> answers.TrustFigures | answers.NoScores:
    """The calibration, the rates and the votes of one policy for one class."""
    store = context.store
    present = list(store.queue.facets().get("task", ()))
    tasks = {key: title_of(context.tasks, key) for key in present}
    key = task if task in tasks else _first_scored(store, present)
    # To a scorer of an open session the names of policies would tell which sources are compared.
    policies = _policies(store, cache, key) if key and not visible.items else []
    names = [drafts.name for drafts in policies]
    name = policy if policy in names else next(iter(names), "")
    scored_spectra = cache.scored(store, key, name) if name else None
    manages = may_manage(person, store)
    choice = answers.TrustChoice(
        tasks=tasks,
        task=key,
        policies=[answers.PolicyItems.model_validate(drafts) for drafts in policies],
        policy=name,
        may_download=manages,
    )
    if scored_spectra is None:
        why_not, command = (tr(_SCORING), None) if visible.items else missing_scores(store, key, name)
        return answers.NoScores(**dict(choice), scored=None, why_not=why_not, command=command)
    return answers.TrustFigures(
        **dict(choice),
        scored=scores_of(scored_spectra),
        reliability=reliability_of(scored_spectra),
        calibration=calibration_of(scored_spectra),
        rates=rates_of(scored_spectra),
        skill=skill_of(scored_spectra) if manages else None,
        certificates=[certificate_row(certificate) for certificate in _certificates(store, key)],
    )


@router.get("/thresholds")
def thresholds(
    context: ContextDep,
    cache: CacheDep,
    scored: ScoredDep,
    task: str,
    policy: str,
    alpha_yes: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    alpha_no: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    delta: Annotated[float, Query(gt=0, lt=1)] = 0.05,
) -> answers.Thresholds:
    """The thresholds for these limits, or what is missing for them."""
    limits = (alpha_yes, alpha_no, delta)
    calculated: dict[str, Any] = cache.get(
        context.store, (task, policy, limits), lambda: thresholds_of(scored, _requirements(*limits))
    )
    return answers.Thresholds.model_validate(calculated)


@router.get("/suspects")
def label_errors(
    context: ContextDep, cache: CacheDep, scored: ScoredDep, task: str, policy: str
) -> answers.LabelSuspects:
    """The labels that may be wrong, on decided items."""
    from reviewer.trust import figures

    suspects = cache.get(context.store, ("suspects", task, policy), lambda: figures.suspects_of(scored.calibration))
    return suspects_of(context.store, suspects)


@router.get(
    "/certificate",
    dependencies=[Depends(_require_coordinator)],
    responses={200: {"model": answers.CertificateFile}},
)
def certificate(
    context: ContextDep,
    scored: ScoredDep,
    task: str,
    alpha_yes: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    alpha_no: Annotated[float, Query(gt=0, lt=1)] = 0.05,
    delta: Annotated[float, Query(gt=0, lt=1)] = 0.05,
) -> Response:
    """The certificate for these limits, as a file.

    :raises NotFound: nothing is certified
    """
    from reviewer.trust.certificates import certificate_of
    from reviewer.trust.figures import sides_of

    requirements = _requirements(alpha_yes, alpha_no, delta)
    sides = sides_of(scored, requirements)
    if all(side.threshold is None for side in sides):
        raise NotFound(
            tr("Neither side is certified. {refusal} {refusal2}", refusal=sides[0].refusal, refusal2=sides[1].refusal)
        )
    now = context.store.database.now()
    certificate_made = certificate_of(scored.listed, scored.model, scored.calibration, sides, requirements, now)
    text = json.dumps(certificate_made.to_json(), ensure_ascii=False, indent=1) + "\n"
    name = f"{task}-{now:%Y%m%d-%H%M}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/json", headers=headers)


def _requirements(alpha_yes: float, alpha_no: float, delta: float) -> Requirements:
    from agent.trust.sides import Requirements

    return Requirements(yes=alpha_yes, no=alpha_no, delta=delta, method="anytime")


def _first_scored(store: Store, tasks: list[str]) -> str:
    return next((key for key in tasks if store.trust.scored(key) is not None), tasks[0] if tasks else "")


def _policies(store: Store, cache: TrustCache, task: str) -> list[Drafts]:
    """Return the policies with items of a task; those with most scored items come first."""
    listed: list[Drafts] = cache.get(store, ("policies", task), lambda: store.trust.drafts(task))
    return [drafts for drafts in listed if drafts.kind in ("baseline", "model")]


def _certificates(store: Store, task: str) -> tuple[Listed, ...]:
    from reviewer.trust.certificates import listed

    return listed(store.path, task)
