"""Routes of the coordinators in the Blind tab: candidates, previews, sessions and their progress."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import HTMLResponse
from pydantic import Field

from agent.language import joined, localized, tr
from reviewer.blind.blocks import strata_of, stratum_name
from reviewer.blind.order import Block, block_of
from reviewer.blind.pictures import count_states
from reviewer.blind.plan import (
    TEXT_VERSIONS,
    UNRECORDED,
    Assignment,
    Plan,
    SampledSession,
    TextVersion,
    source_name,
)
from reviewer.blind.sampling import sample
from reviewer.rules.people import Person
from reviewer.store import BlindSession, NotAllowed
from reviewer.web.context import Context, ContextDep, PersonDep
from reviewer.web.headers import REPORT
from reviewer.web.models import blind_setup as answers
from reviewer.web.models import media
from reviewer.web.models.comments import Colleague
from reviewer.web.requests import Key, Object, Sent


def coordinator(person: PersonDep) -> Person:
    """Return the person if they are a coordinator. :raises NotAllowed: the person is no coordinator"""
    if not person.is_any("coordinator"):
        raise NotAllowed(
            tr("Only a coordinator sets up blind sessions; {initials} is not one.", initials=person.initials)
        )
    return person


NOT_KEPT = {"Cache-Control": "no-store"}
POWER_DIFFERENCES = (0.3, 0.5)
POWER_SIMULATIONS = 100
POWER_SPECTRA = 120
"""Simulating more takes longer than a person waits."""

InCharge = Annotated[Person, Depends(coordinator)]

router = APIRouter(prefix="/api/v1/blind")


class Planned(Sent):
    plan: Object


class Drawing(Planned):
    key: Key


class Change(Sent):
    key: Key


@router.get("/setup")
def setup(person: InCharge, context: ContextDep) -> answers.BlindSetup:
    """Return the candidates of a session: items by source and task, how many of them each person was involved in,
    and the values to filter by."""
    people = [person for person in context.store.accounts.people() if person.active]
    everything = Plan("all items", tuple(person.initials for person in people))
    barred: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    items: Counter[tuple[str, str]] = Counter()
    drafted: Counter[tuple[str, str]] = Counter()
    approved: Counter[tuple[str, str]] = Counter()
    for candidate in context.store.blind.sessions.candidates(person.initials, everything):
        stratum = (candidate.drafter, candidate.task)
        items[stratum] += 1
        drafted[stratum] += candidate.lacks is None
        approved[stratum] += candidate.approved
        barred[stratum].update(candidate.barred)
    facets = context.store.queue.facets()
    return answers.BlindSetup(
        strata=[
            answers.CandidateStratum(
                source=source,
                task=task,
                items=items[source, task],
                drafted=drafted[source, task],
                approved=approved[source, task],
                barred=barred[source, task],
            )
            for source, task in sorted(items)
        ],
        sources={version: _sources(version, {source for source, _ in items}) for version in TEXT_VERSIONS},
        tasks={task: context.tasks[task].title if task in context.tasks else task for _, task in items},
        people=[Colleague.model_validate(other) for other in people],
        filter=answers.CandidateFilters(
            states=tuple(facets["state"]),
            survey=tuple(facets["survey"]),
            batch=tuple(facets["batch"]),
            listed=[
                answers.ItemList(id=view.id, name=view.name, person=view.person, items=view.items)
                for view in context.store.views.of_person(person.initials)
                if view.items is not None
            ],
        ),
    )


def _sources(version: TextVersion, drafters: Iterable[str]) -> list[str]:
    """Return the names that the sources of a session of this version can have."""
    texts = Plan("names", (), version=version).texts
    return [source_name(drafter, text) for drafter in sorted(drafters) for text in texts]


@router.post("/preview")
def preview(person: InCharge, context: ContextDep, sent: Planned) -> answers.SamplePreview:
    """Return a sample for this plan without storing it."""
    plan = Plan.from_json(sent.plan)
    candidates = context.store.blind.sessions.candidates(person.initials, plan)
    drawn = sample(plan, candidates)
    barred = {candidate.item: candidate.barred for candidate in candidates if candidate.lacks is None}
    return answers.SamplePreview(
        version=plan.version,
        candidates=len(barred),
        notes=localized(drawn.notes),
        scorers=[
            answers.ScorerPreview(
                initials=scorer,
                questions=len(drawn.of(scorer)),
                barred=sum(scorer in people for people in barred.values()),
            )
            for scorer in plan.scorers
        ],
        **_what(drawn),
        **_blocks(drawn),
    )


class Powered(Sent):
    spectra: Annotated[int, Field(ge=1, strict=True)]
    scorers: Annotated[int, Field(ge=1, le=50, strict=True)]
    each: Annotated[int, Field(ge=1, le=50, strict=True)]
    sources: Annotated[int, Field(ge=2, le=10, strict=True)] = 2


@router.post("/power")
def power(person: InCharge, sent: Powered) -> answers.PowerInWords:
    """Return the power of a session of this size for two true differences, in sentences; takes some seconds."""
    from reviewer.blind.power import power as simulated_power  # the statistics take a second to import

    if sent.spectra > POWER_SPECTRA:
        most = tr(
            "More than {power_spectra} spectra: use spec-o3 blind power, it takes minutes.", power_spectra=POWER_SPECTRA
        )
        return answers.PowerInWords(sentences=[most])
    powers = [
        simulated_power(sent.spectra, sent.scorers, sent.each, difference, sent.sources, simulations=POWER_SIMULATIONS)
        for difference in POWER_DIFFERENCES
    ]
    return answers.PowerInWords(sentences=[power.sentence for power in powers])


@router.get("/sessions")
def sessions(person: InCharge, context: ContextDep) -> list[answers.BlindSession]:
    """All sessions, newest first, with how far each scorer is."""
    return [
        _session(context, person, session) for session in reversed(context.store.blind.sessions.all(person.initials))
    ]


@router.post("/sessions")
def drawn(person: InCharge, context: ContextDep, sent: Drawing) -> answers.BlindSession:
    """Store the sample of a plan as a new session."""
    session = context.store.blind.sessions.create(person.initials, Plan.from_json(sent.plan), sent.key)
    return _session(context, person, session)


@router.post("/sessions/{session}/open")
def opened(person: InCharge, context: ContextDep, session: int, sent: Change) -> answers.BlindSession:
    """Open a session for its scorers."""
    return _session(context, person, context.store.blind.sessions.open(person.initials, session, sent.key))


@router.post("/sessions/{session}/close")
def closed(person: InCharge, context: ContextDep, session: int, sent: Change) -> answers.BlindSession:
    """Close a session: nobody scores any more, and its report can be read."""
    return _session(context, person, context.store.blind.sessions.close(person.initials, session, sent.key))


@router.get("/sessions/{session}/giveaways")
def giveaways(person: InCharge, context: ContextDep, session: int) -> list[answers.Giveaway]:
    """The passages of a session's traces that tell their source."""
    return [
        answers.Giveaway(
            item=leak.item,
            source=leak.source,
            step=leak.step,
            words=leak.giveaway.words,
            kind=leak.giveaway.kind,
            sentence=leak.sentence,
        )
        for leak in context.store.blind.sessions.leaks(person.initials, session)
    ]


@router.get("/sessions/{session}/fingerprints")
def fingerprints_of(person: InCharge, context: ContextDep, session: int) -> answers.Fingerprints:
    """Return how well a program tells the sources apart, and what was done for the pictures of each."""
    from reviewer.blind.fingerprints import fingerprints  # scikit-learn takes a second to import

    traces = context.store.blind.checks.traces(person.initials, session)
    measured = fingerprints([(trace.source, trace.spectrum, trace.trajectory) for trace in traces if trace.compared])
    shown = ((trace.source, trace.spectrum, trace.trajectory) for trace in traces)
    pictures = count_states(context.store.spectra, shown)
    return answers.Fingerprints.model_validate({**localized(measured.to_json()), "pictures": pictures})


@router.get("/sessions/{session}/history")
def history(person: InCharge, context: ContextDep, session: int) -> answers.SessionHistory:
    """Return what preceded a session: sessions of the same sources that were not opened, and earlier showings."""
    return answers.SessionHistory.model_validate(context.store.blind.checks.history(person.initials, session))


@router.get("/sessions/{session}/report.html", **media("text/html"))
def report_page(person: InCharge, context: ContextDep, session: int) -> Response:
    """The report of a closed session as one HTML page."""
    from reviewer.blind.report.scripts import script_policy
    from reviewer.exchange.blind_report import as_html  # the statistics take a second to import

    page = as_html(context.store, person.initials, session)
    return HTMLResponse(page, headers={**NOT_KEPT, "Content-Security-Policy": f"{REPORT}; {script_policy()}"})


@router.get("/sessions/{session}/report.zip", **media("application/zip"))
def report_files(person: InCharge, context: ContextDep, session: int) -> Response:
    """The report of a closed session with its tables, as a zip."""
    from reviewer.exchange.blind_report import as_zip

    name = f'attachment; filename="blind-session-{session}.zip"'
    packed = as_zip(context.store, person.initials, session)
    return Response(packed, media_type="application/zip", headers={"Content-Disposition": name, **NOT_KEPT})


def _session(context: Context, person: Person, session: BlindSession) -> answers.BlindSession:
    progress = context.store.blind.sessions.progress(person.initials, session.id)
    return answers.BlindSession(
        id=session.id,
        name=session.name,
        state=session.state,
        plan=session.plan.to_json(),
        version=None if session.plan.version == UNRECORDED else session.plan.version,
        analysis_sha256=session.analysis_sha256,
        notes=session.notes,
        drawn_by=session.drawn_by,
        at=answers.SessionTimes(drawn=session.drawn_at, opened=session.opened_at, closed=session.closed_at),
        progress=[
            answers.ScorerProgress(scorer=part.scorer, done=part.done, questions=part.assigned) for part in progress
        ],
        withheld=context.store.blind.sessions.why_withheld(person.initials, session),
    )


def _what(drawn: SampledSession) -> dict[str, Any]:
    """Count what is shown by source and task, each trace once."""
    singles: dict[int, tuple[str, str]] = {}
    pairs: dict[frozenset[int], tuple[str, str]] = {}
    for assignment in drawn.assignments:
        if assignment.gold or assignment.training:
            continue
        if assignment.kind == "pair":
            pairs[frozenset(shown.version for shown in assignment.shown)] = _pair_of(assignment)
        else:
            singles[assignment.shown[0].version] = (assignment.shown[0].source, assignment.shown[0].task)
    return {
        "scores": _table(Counter(singles.values())),
        "pairs": _table(Counter(pairs.values())),
        **{
            what: len({assignment.shown[0].item for assignment in drawn.assignments if getattr(assignment, what)})
            for what in ("gold", "training")
        },
    }


def _blocks(drawn: SampledSession) -> dict[str, Any]:
    """Count spectra by stratum, and how many of them every two scorers share. Traces without a spectrum count alone."""
    plan = drawn.plan
    counted = [assignment for assignment in drawn.assignments if not (assignment.gold or assignment.training)]
    of = {
        scorer: {block_of(trace) for question in counted if question.scorer == scorer for trace in question.shown}
        for scorer in plan.scorers
    }
    strata = strata_of(plan, (trace for question in counted for trace in question.shown))
    numbers = Counter(stratum_name(plan, stratum) for stratum in strata.values())
    shared = [len(of[combination] & of[other]) for combination, other in combinations(plan.scorers, 2)]
    return {
        "spectra": len(strata),
        "compared": _compared(counted),
        "strata": [{"stratum": stratum, "spectra": number} for stratum, number in sorted(numbers.items())],
        "shared": {"least": min(shared), "most": max(shared)} if shared else None,
    }


def _compared(counted: Iterable[Assignment]) -> int | None:
    """Return the number of sources, each with a trace of every spectrum; None where some lack spectra of others."""
    spectra: dict[str, set[Block]] = defaultdict(set)
    for assignment in counted:
        for trace in assignment.shown:
            spectra[trace.source].add(block_of(trace))
    return len(spectra) if len({frozenset(blocks) for blocks in spectra.values()}) == 1 else None


def _pair_of(assignment: Assignment) -> tuple[str, str]:
    return joined(sorted(shown.source for shown in assignment.shown), " and "), assignment.shown[0].task


def _table(counted: Counter[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"source": tr(s), "task": t, "number": number} for (s, t), number in sorted(counted.items())]
