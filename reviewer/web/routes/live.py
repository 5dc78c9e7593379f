"""Routes of the Live tab. Runs and bench belong to the person who sends the request; others' do not exist."""

from __future__ import annotations

from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.datastructures import UploadFile

from agent import hints as measured
from agent.batch.report import bundle, picture_sheet, trace_json
from agent.language import tr
from agent.tasks import TaskError
from agent.text import whole_number
from agent.trajectory import TrajectoryError
from reviewer.exchange.imports import own_row
from reviewer.live.bench import Row
from reviewer.live.events import Log, server_sent
from reviewer.live.run import Run, Sample
from reviewer.live.runs import last_answered
from reviewer.live.trials import LiveTrial
from reviewer.rules.people import Person
from reviewer.store import Draft, NotFound, QueueFilter
from reviewer.trials import edit_texts, edited_window
from reviewer.web.context import FOREVER, IN_ONE_LANGUAGE, NOT_STORED, ContextDep, PersonDep
from reviewer.web.live import MOST_SAMPLES, BenchDep, Live, LiveDep, RunDep, RunRequest, SampleDep, TrialDep, sample_of
from reviewer.web.models import Done, attachment, media
from reviewer.web.models import live as answers
from reviewer.web.models.trials import EditTexts
from reviewer.web.payload import spectrum_bytes
from reviewer.web.requests import Sent
from reviewer.web.visibility import VisibleDep

MOST_FILES = 20
"""Files per request, of which up to 1 MB each is in memory; the page sends them one by one."""
_PNG, _EVENTS = "image/png", "text/event-stream"

router = APIRouter(prefix="/api/v1/live")


class FromLibrary(Sent):
    item: int


class ForReview(Sent):
    samples: Annotated[list[int], Field(min_length=1, max_length=MOST_SAMPLES)]


# ---- policies


@router.get("/policies")
def policies(person: PersonDep, live: LiveDep) -> list[answers.LivePolicy]:
    """The policies that can be run."""
    return [
        answers.LivePolicy(
            key=entry.key,
            title=entry.title,
            kind=entry.kind,
            note=entry.note,
            samples_ok=entry.samples_ok,
            checkpoint=live.roster.is_checkpoint(entry.key),
        )
        for entry in live.roster.entries()
    ]


@router.get("/prompts")
def prompts(person: PersonDep, live: LiveDep) -> answers.TrainedPrompts:
    """The imported prompts by task."""
    try:
        trained, problem = live.prompts(), ""
    except TaskError as error:
        trained, problem = {}, str(error)
    return answers.TrainedPrompts(trained={key: text.prompt for key, text in trained.items()}, problem=problem)


@router.get("/health")
def health(person: PersonDep, live: LiveDep, policy: str) -> answers.PolicyHealth:
    """Whether a policy can be run now, and why not."""
    return answers.PolicyHealth.model_validate(live.roster.health(policy))


# ---- the bench


@router.get("/bench")
def bench(person: PersonDep, live: LiveDep, bench: BenchDep) -> list[answers.BenchSpectrum]:
    """The spectra on your bench, with their runs."""
    return [_on_bench(row, person, live) for row in bench.rows()]


@router.post("/files")
async def files(request: Request, person: PersonDep, live: LiveDep, bench: BenchDep) -> answers.FilesAdded:
    """Put the spectra of uploaded files on your bench."""
    added: list[Row] = []
    problems: list[str] = []
    async with request.form(max_files=MOST_FILES) as form:
        for file in form.getlist("files"):
            if isinstance(file, UploadFile):
                async with live.uploads.turn(person.initials):
                    if await request.is_disconnected():
                        break  # nobody waits for it any more
                    rows, wrong = await run_in_threadpool(bench.add_file, file.filename or "", file.file)
                added += rows
                problems += wrong
    return answers.FilesAdded(added=[_on_bench(row, person, live) for row in added], problems=problems)


@router.get("/library")
def library(
    person: PersonDep,
    context: ContextDep,
    visible: VisibleDep,
    q: Annotated[str, Query(max_length=200)] = "",
    limit: int = 50,
) -> list[answers.LibraryRow]:
    """Items of the campaign to put on the bench, by a text in their names."""
    searched = visible.verdict_first.searched(QueueFilter(text=q))
    page = context.store.queue.page(searched, person.initials, limit=max(1, min(limit, 200)))
    hidden = visible.verdict_first.hidden(page.rows)
    return [
        answers.LibraryRow(
            item=row.item_id,
            name=row.name,
            task=row.task,
            survey=row.survey,
            snr=row.snr,
            spectrum=row.spectrum_sha256,
            simulated=row.simulated,
        )
        for row in page.rows
        if row.spectrum_sha256 is not None and row.item_id not in visible.items and row.item_id not in hidden
    ]


@router.post("/bench")
def from_library(
    person: PersonDep, live: LiveDep, bench: BenchDep, visible: VisibleDep, sent: FromLibrary
) -> answers.BenchSpectrum:
    """Put the spectrum of an item on your bench."""
    return _on_bench(bench.add_item(visible.item(sent.item)), person, live)


@router.delete("/bench")
def clear_bench(person: PersonDep, live: LiveDep, bench: BenchDep) -> Done:
    """Take all spectra off your bench and stop their runs."""
    rows = bench.rows()
    bench.clear()
    for row in rows:
        _end_runs(row, person, live)
    return Done()


@router.delete("/bench/{row}")
def off_the_bench(person: PersonDep, live: LiveDep, bench: BenchDep, row: str) -> Done:
    """Take a spectrum off your bench and stop its runs. They are back when the same spectrum is added again."""
    removed = bench.row(row)
    bench.remove(row)
    _end_runs(removed, person, live)
    return Done()


@router.get("/spectrum/{sha256}", **media("application/octet-stream"))
def spectrum(person: PersonDep, live: LiveDep, sha256: str) -> Response:
    """A spectrum of your bench, as binary."""
    spectrum_found = live.spectrum(person, sha256)
    return Response(spectrum_bytes(spectrum_found), media_type="application/octet-stream", headers=IN_ONE_LANGUAGE)


# ---- runs


@router.post("/runs")
def start(person: PersonDep, live: LiveDep, bench: BenchDep, sent: RunRequest) -> answers.RunStarted:
    """Start a run of a policy on a spectrum of your bench; ``dropped`` are older runs of yours beyond the limits."""
    row = bench.row(sent.bench)
    run = live.start(person, row, bench.spectrum(row), sent)
    return answers.RunStarted(run=run.id, dropped=run.displaced)


@router.get("/runs/{run}")
def one_run(run: RunDep) -> answers.RunState:
    """A run of yours with its samples."""
    return state_of(run)


@router.delete("/runs/{run}")
def remove_run(live: LiveDep, run: RunDep) -> Done:
    """Stop a run and forget it, with its trace and its trials; what was sent to review stays there."""
    live.runs.remove(run)
    return Done()


@router.get("/runs/{run}/events", **media(_EVENTS))
async def events(run: RunDep, after: int = 0, last_event_id: Annotated[str, Header()] = "") -> Response:
    """The events of a run, as server-sent events; ``after``: the number of the last one that you have."""
    return _events(run.log, after, last_event_id)


@router.post("/runs/{run}/stop")
def stop(run: RunDep) -> answers.RunStopped:
    """Stop a run."""
    run.stop.set()
    return answers.RunStopped(state=run.state)


@router.post("/runs/{run}/trial")
def put_on_trial(live: LiveDep, run: RunDep, sample: SampleDep) -> Done:
    """Put the evidence of a sample on trial; the same policy continues it from edited spectra."""
    live.put_on_trial(run, sample)
    return Done()


@router.get("/runs/{run}/trial/events", **media(_EVENTS))
async def trial_events(trial: TrialDep, after: int = 0, last_event_id: Annotated[str, Header()] = "") -> Response:
    """The events of a trial of evidence, as server-sent events."""
    return _events(trial.log, after, last_event_id)


@router.post("/runs/{run}/trial/stop")
def stop_trial(trial: TrialDep) -> Done:
    """Stop a trial of evidence."""
    trial.stop.set()
    return Done()


@router.get("/runs/{run}/trial/{number}/texts")
def trial_texts(trial: TrialDep, number: int) -> EditTexts:
    """The texts that the policy wrote on one edited spectrum."""
    return EditTexts.model_validate(edit_texts(_result_of(trial), number))


@router.get("/runs/{run}/trial/{number}/picture", **media(_PNG))
def edited_picture(trial: TrialDep, number: int) -> Response:
    """The window of a tool call in the spectrum of one edit."""
    png = edited_window(_result_of(trial), number, trial.trajectory, trial.spectrum, trial.task)
    return Response(png, media_type=_PNG, headers=NOT_STORED)


@router.get("/runs/{run}/picture/{sha256}", **media(_PNG))
def picture(run: RunDep, sha256: str) -> Response:
    """A picture of a run by its hash, as PNG."""
    return Response(_picture(run, sha256), media_type=_PNG, headers=FOREVER)


@router.get("/runs/{run}/trace.json", responses={200: {"model": answers.TraceRow}})
def trace(run: RunDep, sample: SampleDep) -> Response:
    """The trace of a sample as a row to import."""
    text = trace_json(own_row(sample.trajectory, run.settings.spectrum))
    return _download(text.encode(), "application/json", run, sample, "trace.json")


@router.get("/runs/{run}/strip.png", **media(_PNG))
def pictures(run: RunDep, sample: SampleDep) -> Response:
    """All pictures of a sample on one sheet, as PNG."""
    png = BytesIO()
    picture_sheet(sample.trajectory, run.settings.spectrum, dict(run.pictures)).save(png, format="PNG")
    return _download(png.getvalue(), _PNG, run, sample, "strip.png")


@router.get("/runs/{run}/report.zip", **media("application/zip"))
def report(run: RunDep, sample: SampleDep) -> Response:
    """The trace of a sample with its pictures, spectrum and hints, as a zip."""
    trajectory, seen = sample.trajectory, run.settings.spectrum
    hints = {
        z.id: measured.hints(
            seen, z, run.settings.task, measured.thought_on(trajectory, z), measured.windows_after(trajectory, z)
        )
        for z in trajectory.zooms
        if z.ok
    }
    packed = bundle(trajectory, seen, own_row(trajectory, seen), hints, dict(run.pictures))
    return _download(packed, "application/zip", run, sample, "report.zip")


@router.post("/runs/{run}/review")
def review(
    person: PersonDep, context: ContextDep, visible: VisibleDep, run: RunDep, sent: ForReview
) -> answers.SentForReview:
    """Add traces to the queue. The number of an item whose answer is hidden is not sent: it would name its spectrum."""
    drafts = [_draft(sample_of(run, number), run) for number in dict.fromkeys(sent.samples)]
    added = context.store.items.add_all(drafts, by=person.initials)
    known = [context.store.items.get(trace.item_id).row for trace in added if not trace.new]
    hidden = visible.verdict_first.hidden(known)
    items = [
        answers.SentTrace(item=None if trace.item_id in hidden else trace.item_id, new=trace.new) for trace in added
    ]
    return answers.SentForReview(items=items)


def _events(log: Log, after: int, last_event_id: str) -> Response:
    # A browser that lost the connection requests the same address again; the header names the last event it has.
    last_received = max(after, whole_number(last_event_id) or 0)
    if log.is_over and last_received >= len(log):
        # The answer that makes an EventSource stop reconnecting.
        return Response(status_code=204)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(server_sent(log, last_received), media_type=_EVENTS, headers=headers)


def _result_of(trial: LiveTrial) -> dict[str, Any]:
    """Return the result of a trial. :raises NotFound: it has none"""
    if trial.result is None:
        raise NotFound(tr("This trial has no result yet: it is still running, was stopped, or failed."))
    return trial.result.to_json()


def _end_runs(row: Row, person: Person, live: Live) -> None:
    for run in live.runs.on(person.initials, row.spectrum):
        run.end()


def _on_bench(row: Row, person: Person, live: Live) -> answers.BenchSpectrum:
    """Return a spectrum of the bench with its runs, oldest first, and the outcome of the newest that answered."""
    runs = live.runs.on(person.initials, row.spectrum)
    answered = last_answered(runs)
    return answers.BenchSpectrum(
        id=row.id,
        name=row.name,
        survey=row.survey,
        snr=row.snr,
        spectrum=row.spectrum,
        simulated=row.simulated,
        item=row.item,
        runs=[run.id for run in runs],
        results=[_listed(run) for run in runs],
        verdict=answered.outcome if answered else None,
        verdict_run=answered.id if answered else None,
    )


def _listed(run: Run) -> answers.RunListed:
    return answers.RunListed(
        run=run.id,
        task=run.settings.task.key,
        policy=run.settings.policy,
        samples=run.settings.samples,
        started=run.started,
        state=run.state,
        outcome=run.outcome,
        verdicts=[sample.verdict for sample in run.samples],
    )


def state_of(run: Run) -> answers.RunState:
    """Return the present state of a run without its events."""
    settings = run.settings
    return answers.RunState.model_validate(
        {
            "id": run.id,
            "bench": settings.bench,
            "spectrum": settings.spectrum.sha256,
            "task": settings.task.key,
            "prompt": settings.task.prompt_source,
            "policy": settings.policy,
            "samples": settings.samples,
            "sampling": settings.sampling.settings(),
            "max_turns": settings.max_turns,
            "started": run.started,
            "state": run.state,
            "events": len(run.log),
            "traces": [sample.trajectory.to_json() for sample in run.samples],
            "reasons": [sample.ended for sample in run.samples],
            "hints": [dict(sample.hints) for sample in run.samples],
            "trials": [sample.trial is not None for sample in run.samples],
            "consensus": run.consensus,
        }
    )


def _picture(run: Run, sha256: str) -> bytes:
    if sha256 not in run.pictures:
        raise NotFound(tr("This run has no such picture."))
    return run.pictures[sha256]


def _draft(sample: Sample, run: Run) -> Draft:
    """Return a sample as a draft. :raises TrajectoryError: the sample is still running, or it is empty"""
    named = f"Sample {sample.number + 1}"
    if sample.ended is None:
        raise TrajectoryError(tr("{named} is still running; stop it, or wait until it has finished.", named=named))
    if not sample.trajectory.steps:
        raise TrajectoryError(tr("{named} ended before its first step; there is nothing to review.", named=named))
    seen = (zoom.picture for zoom in sample.trajectory.zooms if zoom.shows_sky and zoom.picture)
    pictures = {sha256: _picture(run, sha256) for sha256 in seen}
    return Draft(sample.trajectory, run.settings.spectrum, batch="live", pictures=pictures)


def _download(content: bytes, media_type: str, run: Run, sample: Sample, what: str) -> Response:
    number = f"_{sample.number + 1}" if len(run.samples) > 1 else ""
    name = f"{run.settings.spectrum.name}_{run.settings.task.key}"
    return attachment(content, media_type, name, f"{number}_{what}")
