"""The Live tab's HTTP routes. Runs and bench belong to the person who asks; others' do not exist."""

from __future__ import annotations

import re
from dataclasses import asdict
from io import BytesIO
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.datastructures import UploadFile

from agent import hints as measured
from agent.batch.report import bundle, picture_sheet, trace_json
from agent.text import whole_number
from agent.trajectory import TrajectoryError
from reviewer.exchange.imports import own_row
from reviewer.live.bench import LARGEST_FOLDER, BenchFull, Row
from reviewer.live.events import server_sent
from reviewer.live.run import Run, Sample
from reviewer.store import Draft, NotFound, QueueFilter
from reviewer.web.access import declared_length
from reviewer.web.context import FOREVER, At, Who
from reviewer.web.live import MOST_SAMPLES, Here, Mine, OnBench, One, RunAsked, sample_of
from reviewer.web.payload import spectrum_bytes
from reviewer.web.requests import Sent
from reviewer.web.visibility import Kept

MOST_FILES = 1_000
"""Of one request; the page sends them one by one."""

router = APIRouter(prefix="/api/live")


class FromLibrary(Sent):
    item: int


class ForReview(Sent):
    samples: Annotated[list[int], Field(min_length=1, max_length=MOST_SAMPLES)]


# ---- who can be asked


@router.get("/policies")
def policies(person: Who, live: Here) -> list[dict[str, Any]]:
    return [
        {"key": e.key, "title": e.title, "kind": e.kind, "note": e.note, "samples_ok": e.samples_ok}
        for e in live.roster.entries()
    ]


@router.get("/health")
def health(person: Who, live: Here, policy: str) -> dict[str, Any]:
    return asdict(live.roster.health(policy))


# ---- the bench


@router.get("/bench")
def bench(person: Who, live: Here, mine: OnBench) -> list[dict[str, Any]]:
    runs = live.runs.all_of(person.initials)
    return [_row_json(row, [run for run in runs if run.asked.bench == row.id]) for row in mine.rows()]


@router.post("/files")
async def files(request: Request, person: Who, mine: OnBench) -> dict[str, Any]:
    # FastAPI would take a body in before it asks who sends it; here nobody else fills the disk.
    _refuse_if_too_long(request)
    added: list[Row] = []
    problems: list[str] = []
    async with request.form(max_files=MOST_FILES) as form:
        for file in form.getlist("files"):
            if isinstance(file, UploadFile):
                rows, wrong = await run_in_threadpool(mine.add_file, file.filename or "", file.file)
                added += rows
                problems += wrong
    return {"added": [_row_json(row, []) for row in added], "problems": problems}


@router.get("/library")
def library(
    person: Who, at: At, kept: Kept, q: Annotated[str, Query(max_length=200)] = "", limit: int = 50
) -> list[dict[str, Any]]:
    page = at.store.queue.page(QueueFilter(text=q), person.initials, limit=max(1, min(limit, 200)))
    return [
        {
            "item": row.item_id,
            "name": row.name,
            "task": row.task,
            "survey": row.survey,
            "snr": row.snr,
            "spectrum": row.spectrum_sha256,
            "simulated": row.simulated,
        }
        for row in page.rows
        if row.spectrum_sha256 is not None and row.item_id not in kept.items
    ]


@router.post("/bench")
def from_library(mine: OnBench, kept: Kept, sent: FromLibrary) -> dict[str, Any]:
    return _row_json(mine.add_item(kept.item(sent.item)), [])


@router.delete("/bench/{row}")
def off_the_bench(person: Who, live: Here, mine: OnBench, row: str) -> dict[str, Any]:
    mine.remove(row)
    for run in live.runs.all_of(person.initials):
        if run.asked.bench == row:
            run.stop.set()
    return {}


@router.get("/spectrum/{sha256}")
def spectrum(person: Who, live: Here, mine: OnBench, sha256: str) -> Response:
    found = mine.with_hash(sha256)
    if found is None:
        runs = live.runs.all_of(person.initials)
        found = next((run.asked.spectrum for run in runs if run.asked.spectrum.sha256 == sha256), None)
    if found is None:
        raise NotFound("This spectrum is not on your bench any more; bring it again.")
    return Response(spectrum_bytes(found), media_type="application/octet-stream", headers=FOREVER)


# ---- runs


@router.post("/runs")
def start(person: Who, live: Here, mine: OnBench, sent: RunAsked) -> dict[str, str]:
    row = mine.row(sent.bench)
    return {"run": live.start(person, row, mine.spectrum(row), sent).id}


@router.get("/runs/{run}")
def one_run(run: Mine) -> dict[str, Any]:
    return run.to_json()


@router.get("/runs/{run}/events")
async def events(run: Mine, after: int = 0, last_event_id: Annotated[str, Header()] = "") -> Response:
    # A browser that lost the connection asks the same address again and says in the header what it has.
    heard = max(after, whole_number(last_event_id) or 0)
    if run.log.is_over and heard >= len(run.log):
        # To an EventSource the one answer that says: do not come again.
        return Response(status_code=204)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(server_sent(run.log, heard), media_type="text/event-stream", headers=headers)


@router.post("/runs/{run}/stop")
def stop(run: Mine) -> dict[str, str]:
    run.stop.set()
    return {"state": run.state}


@router.get("/runs/{run}/picture/{sha256}")
def picture(run: Mine, sha256: str) -> Response:
    return Response(_picture(run, sha256), media_type="image/png", headers=FOREVER)


@router.get("/runs/{run}/trace.json")
def trace(run: Mine, sample: One) -> Response:
    text = trace_json(own_row(sample.trajectory, run.asked.spectrum))
    return _download(text.encode(), "application/json", run, sample, "trace.json")


@router.get("/runs/{run}/strip.png")
def pictures(run: Mine, sample: One) -> Response:
    png = BytesIO()
    picture_sheet(sample.trajectory, run.asked.spectrum, dict(run.pictures)).save(png, format="PNG")
    return _download(png.getvalue(), "image/png", run, sample, "strip.png")


@router.get("/runs/{run}/report.zip")
def report(run: Mine, sample: One) -> Response:
    trajectory, seen = sample.trajectory, run.asked.spectrum
    hints = {z.id: measured.hints(seen, z, run.asked.task) for z in trajectory.zooms if z.ok}
    packed = bundle(trajectory, seen, own_row(trajectory, seen), hints, dict(run.pictures))
    return _download(packed, "application/zip", run, sample, "report.zip")


@router.post("/runs/{run}/review")
def review(person: Who, at: At, run: Mine, sent: ForReview) -> dict[str, Any]:
    drafts = [_draft(sample_of(run, number), run) for number in dict.fromkeys(sent.samples)]
    added = at.store.items.add_all(drafts, by=person.initials)
    return {"items": [{"item": one.item_id, "new": one.new} for one in added]}


def _refuse_if_too_long(request: Request) -> None:
    """:raises BenchFull: what is sent is too long, or does not say how long it is"""
    length = declared_length(request.headers)
    if length is None or length > LARGEST_FOLDER:
        most = LARGEST_FOLDER / 2**30
        raise BenchFull(f"What was sent is too long, or does not say how long it is; wanted {most:.0f} GiB at most.")


def _row_json(row: Row, runs: list[Run]) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "survey": row.survey,
        "snr": row.snr,
        "spectrum": row.spectrum,
        "simulated": row.simulated,
        "item": row.item,
        "runs": [run.id for run in runs],
        "verdict": runs[-1].outcome if runs else None,
    }


def _picture(run: Run, sha256: str) -> bytes:
    if sha256 not in run.pictures:
        raise NotFound("This run has no such picture.")
    return run.pictures[sha256]


def _draft(sample: Sample, run: Run) -> Draft:
    """:raises TrajectoryError: it is still being written, or there is nothing in it"""
    named = f"Sample {sample.number + 1}"
    if sample.ended is None:
        raise TrajectoryError(f"{named} is still being written; stop it, or wait until it has ended.")
    if not sample.trajectory.steps:
        raise TrajectoryError(f"{named} ended before its first step: there is nothing to review.")
    return Draft(sample.trajectory, run.asked.spectrum, batch="live")


def _download(content: bytes, media_type: str, run: Run, sample: Sample, what: str) -> Response:
    name = re.sub(r"[^A-Za-z0-9.+-]+", "_", f"{run.asked.spectrum.name}_{run.asked.task.key}").strip("._")
    number = f"_{sample.number + 1}" if len(run.samples) > 1 else ""
    disposition = f'attachment; filename="{name[:120] or "spectrum"}{number}_{what}"'
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-store"}
    return Response(content, media_type=media_type, headers=headers)
