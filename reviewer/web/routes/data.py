"""Routes of the Data tab: batches and taking them back; draft runs, imports and annotations; backups; jobs.

Gradio's upload route receives the files; a request names the paths that it answered, which are checked here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field

from agent.batch.sources import spectra_below
from agent.language import tr, trn
from agent.spectrum.record import Medium
from reviewer.exchange.annotations.importing import Choices, author_of, import_annotations
from reviewer.exchange.draft_file import ImportFileError, file_at
from reviewer.exchange.foreign import Logs, logs_at, request_of_logs, requests_of_uploads
from reviewer.exchange.imports import request_of
from reviewer.exchange.uploads import unpacked
from reviewer.live.runs import AT_ONCE
from reviewer.reading import FILES
from reviewer.rules.item_numbers import item_numbers
from reviewer.store import SameSpectrum, Selection
from reviewer.web import reports
from reviewer.web.access import may_manage
from reviewer.web.background.drafting import Drafting, DraftWish
from reviewer.web.background.importing import Importing
from reviewer.web.bodies import UPLOAD_FOLDER
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.jobs import catalogue_job, draft_job, export_job, import_job
from reviewer.web.live import LiveDep
from reviewer.web.models import Done
from reviewer.web.models import data as answers
from reviewer.web.reports import annotations_report
from reviewer.web.requests import Sent
from reviewer.web.routes.exports import ManagerDep

router = APIRouter(prefix="/api/v1")

Paths = Annotated[list[Annotated[str, Field(max_length=4000)]], Field(max_length=10_000)]
_Batch = Annotated[str, Field(max_length=100)]
_OnServer = Annotated[str, Field(max_length=1000)]


class DraftRequest(Sent):
    """Survey files to draft: uploaded ``files``, or a file or folder ``on_server``."""

    files: Paths
    on_server: _OnServer = ""
    task: str
    policy: str
    batch: _Batch = ""
    medium: Medium | None = None
    min_snr: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    same_spectrum: Literal["import", "leave out"] = "leave out"


class ImportFilesRequest(Sent):
    """Trajectories to import: uploaded ``files``, or a file or folder ``on_server``."""

    files: Paths
    on_server: _OnServer = ""
    batch: _Batch = ""
    skip_bad: bool = False
    same_spectrum: SameSpectrum = "ask"


class ImportNumbers(Sent):
    imports: Annotated[list[int], Field(min_length=1, max_length=100)]


class AnnotationsRequest(Sent):
    """Exports of Label Studio. ``authors``: lines AUTHOR=INITIALS; ``dry_run``: only check."""

    files: Paths
    authors: Annotated[str, Field(max_length=4000)] = ""
    skip_bad: bool = False
    dry_run: bool = False


class WithdrawalRequest(Sent):
    """Items of a batch to withdraw or to restore; "preview" changes nothing. ``items``: e.g. "12-48"; empty: all."""

    batch: Annotated[str, Field(max_length=200)]
    items: Annotated[str, Field(max_length=40)] = ""
    act: Literal["preview", "withdraw", "restore"] = "preview"


@router.get("/batches")
def batches(person: PersonDep, context: ContextDep, request: Request) -> answers.BatchList:
    """The batches of the campaign, with their items by state."""
    manages, importing = may_manage(person, context.store), request.app.state.importing
    return answers.BatchList(
        may_manage=manages,
        batches=[answers.BatchListed.model_validate(batch) for batch in context.store.withdrawals.batches()],
        folders=tuple(map(str, importing.allowed)) if manages else (),
        backups=reports.backups_report(context.backups) if manages else None,
    )


@router.post("/withdrawals")
def withdraw(person: ManagerDep, context: ContextDep, sent: WithdrawalRequest) -> answers.Withdrawal:
    """Withdraw the items of a batch on which nobody has worked, or restore those that are withdrawn."""
    only, withdrawals = item_numbers(sent.items), context.store.withdrawals
    chosen = Selection(sent.batch) if only is None else Selection(sent.batch, *only)
    report = None
    if sent.act == "withdraw":
        number = len(withdrawals.withdraw(person.initials, chosen).items)
        text = trn("{n} item withdrawn.", "{n} items withdrawn.", number, n=reports.grouped(number))
        report = answers.Report(tone="good", text=text)
    elif sent.act == "restore":
        number = len(withdrawals.restore(person.initials, chosen))
        text = trn(
            "{n} item restored: in screening again.",
            "{n} items restored: in screening again.",
            number,
            n=reports.grouped(number),
        )
        report = answers.Report(tone="good", text=text)
    now = withdrawals.preview(chosen, person.initials)
    return answers.Withdrawal(
        free=len(now.items), withdrawn=len(now.withdrawn), report=report or reports.withdrawal_report(now)
    )


@router.post("/backups")
def make_backup(person: ManagerDep, context: ContextDep) -> answers.Report:
    """Make a backup now."""
    return reports.backup_made(context.backups, person.initials)


@router.get("/jobs")
def jobs(
    person: ManagerDep,
    context: ContextDep,
    request: Request,
    imports: Annotated[list[int], Query(alias="import", max_length=100, default_factory=list)],
) -> answers.Jobs:
    """The jobs that run in the background, and those that have ended: of the imports, the last one if it is not
    finished, and those that ``import`` names."""
    state = request.app.state
    listed = [
        draft_job(state.drafting),
        import_job(state.importing, context.store, imports),
        export_job(state.exporting),
        catalogue_job(state.exporting),
    ]
    return answers.Jobs(jobs=[job for job in listed if job is not None])


# ---- adding from files


def uploaded(paths: Sequence[str]) -> list[Path]:
    """Return files that Gradio's upload route stored. :raises ImportFileError: one is elsewhere, or gone

    Without this check, a person could have any file of the machine read.
    """
    folder = Path(os.environ.get(UPLOAD_FOLDER) or Path(tempfile.gettempdir()) / "gradio").resolve()
    files = []
    for path in paths:
        # A link out of the folder is followed first.
        file = Path(path.replace("\0", "")).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise ImportFileError(tr("{path!r:.200}: found no uploaded file of this name; add it again", path=path))
        files.append(file)
    return files


@router.post("/drafts")
def start_drafting(person: ManagerDep, live: LiveDep, request: Request, sent: DraftRequest) -> answers.Jobs:
    """Start to draft spectra with a policy, file by file; ``GET /api/v1/jobs`` says how far it is."""
    drafting, importing = _drafting(request), _importing(request)
    files = uploaded(sent.files)
    if sent.on_server.strip():
        path = importing.path_on_server(sent.on_server)
        files += spectra_below(path, lambda skipped, reason: None) if path.is_dir() else [file_at(path)]
    if not files:
        raise ImportFileError(tr("Add a file first."))
    entry = live.roster.entry(sent.policy)
    wish = DraftWish(
        files=tuple(files),
        task=live.task(sent.task, entry),
        policy=lambda: live.roster.policy(entry.key, stream=False),
        # Named, so that it can be found and taken back.
        batch=sent.batch.strip() or f"added {live.context.store.database.now():%Y-%m-%d %H:%M}",
        threads=AT_ONCE if entry.kind == "server" else 1,
        medium=sent.medium,
        min_snr=sent.min_snr or None,
        leave_out_others=sent.same_spectrum == "leave out",
    )
    wish.policy()  # one that cannot be made is refused here
    drafting.start(person.initials, wish)
    return _jobs(draft_job(drafting))


@router.post("/drafts/stop")
def stop_drafting(person: ManagerDep, request: Request) -> Done:
    """Stop a draft run; what was drafted stays. Or forget the result of one that has ended."""
    _drafting(request).stop()
    return Done()


@router.post("/imports")
def start_import(person: ManagerDep, context: ContextDep, request: Request, sent: ImportFilesRequest) -> answers.Jobs:
    """Start to import trajectories; ``GET /api/v1/jobs?import=NUMBER`` says how far it is."""
    importing, me = _importing(request), person.initials
    name, choices = sent.batch.strip(), (sent.skip_bad, sent.same_spectrum)
    if sent.files:
        with unpacked(uploaded(sent.files), importing.folder) as rows:
            started = importing.start(requests_of_uploads(context.store, rows, name, *choices), me)
    elif sent.on_server.strip():
        path = importing.path_on_server(sent.on_server)
        if files := logs_at(path):
            logs = Logs(files, spectra=path if path.is_dir() else path.parent)
            wish = request_of_logs(context.store, logs, name or path.name, *choices)
        else:
            file = file_at(path)
            wish = request_of(file, file.parent, name or file.name, *choices)
        started = importing.start([wish], me)
    else:
        raise ImportFileError(tr("Add a file first."))
    return _jobs(import_job(importing, context.store, [job.id for job in started]))


@router.post("/imports/cancel")
def cancel_imports(person: ManagerDep, request: Request, sent: ImportNumbers) -> Done:
    """Cancel imports: what they added stays, and they can be resumed."""
    _importing(request).cancel(sent.imports)
    return Done()


@router.post("/imports/resume")
def resume_imports(person: ManagerDep, request: Request, sent: ImportNumbers) -> Done:
    """Resume imports where they ended."""
    importing = _importing(request)
    statuses = [(number, importing.status(number)) for number in sent.imports]
    importing.resume([n for n, status in statuses if status is not None and status.can_resume], person.initials)
    return Done()


@router.post("/annotations")
def add_annotations(person: ManagerDep, context: ContextDep, sent: AnnotationsRequest) -> answers.Report:
    """Import annotations of Label Studio as comments, or only check them."""
    files = uploaded(sent.files)
    if not files:
        raise ImportFileError(tr("Add a file first."))
    people = dict(author_of(text) for text in sent.authors.splitlines() if text.strip())
    choices = Choices(people, skip_bad=sent.skip_bad, dry_run=sent.dry_run)
    with FILES:
        imported = import_annotations(context.store, files, choices, person.initials)
    return annotations_report(imported, sent.dry_run)


def _jobs(job: answers.Job | None) -> answers.Jobs:
    return answers.Jobs(jobs=[job] if job else [])


def _drafting(request: Request) -> Drafting:
    drafting: Drafting = request.app.state.drafting
    return drafting


def _importing(request: Request) -> Importing:
    importing: Importing = request.app.state.importing
    return importing
