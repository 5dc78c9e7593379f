"""Jobs that run in the background as answers: how far each is, and what it did, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from agent.language import deferred, tr, trn
from reviewer.exchange.imports import Findings
from reviewer.rules.workflow import REASONS
from reviewer.store import Store
from reviewer.web.background.drafting import Drafting, DraftStatus, FileOutcome
from reviewer.web.background.exporting import Exporting
from reviewer.web.background.importing import Importing, ImportStatus
from reviewer.web.models.data import Job, Report, ReportRow, Tone
from reviewer.web.reports import (
    export_in_words,
    fraction,
    grouped,
    import_progress,
    import_report,
    items,
    new_items,
    sentences,
    shortened,
)

_REJECTED = {reason.lower(): reason for reason in REASONS.values()}
_OUT = (
    deferred("withdrawn from the campaign"),
    deferred("in a blind session of the person who made the catalogue"),
    deferred("simulated spectrum"),
    deferred("trace rejected"),
    deferred("people cannot tell from these data"),
    deferred("not decided yet"),
    deferred("decided"),
    deferred("not of the class"),
    deferred("approved without YES or NO"),
    deferred("no spectrum stored, only pictures"),
)
"""Parts of the reasons of reviewer/catalogue/facts.py why an item is in no catalogue, as messages."""


def import_job(importing: Importing, store: Store, numbers: Sequence[int]) -> Job | None:
    """Return imports that were started together; without numbers the last import, if it is not finished."""
    if not numbers:
        last = importing.status()
        if last is None or not (last.running or last.can_resume):
            return None
        numbers = [last.job.id]
    statuses = [status for number in numbers if (status := importing.status(number)) is not None]
    now: ImportStatus = next((status for status in statuses if status.job.state != "done"), statuses[-1])
    running = any(status.running for status in statuses)
    can_resume = not running and any(status.can_resume for status in statuses)
    if running or can_resume:
        tone: Tone = "bad" if now.job.state == "failed" else "note" if running else "look"
        report = Report(tone=tone, text=import_progress(now))
    else:
        report = import_report(store, [(status.job, Findings.of(status.job)) for status in statuses])
    return Job(
        kind="import",
        batch=now.job.request.batch,
        running=running,
        fraction=fraction(now.job) if running or can_resume else 1.0,
        can_resume=can_resume,
        imports=tuple(numbers),
        added=sum(Findings.of(status.job).added for status in statuses),
        report=report,
    )


def export_job(exporting: Exporting) -> Job | None:
    """Return the last export that was started since the server was."""
    status = exporting.status
    if status is None:
        return None
    rows: list[ReportRow] = []
    if status.state == "running":
        text = tr("Export {name}: {done} of {total} items.", name=status.name, done=status.done, total=status.total)
        tone: Tone = "note"
    elif status.state == "failed":
        tone, text = "bad", sentences(tr("The export {name} failed.", name=status.name), status.error)
    else:
        tone = "look" if status.left_out else "good"
        text = tr("{content}. Written to {folder}", content=export_in_words(status.summary), folder=status.folder)
        rows = [ReportRow(cells=(f"#{row.item_id}", tr(row.reason)), tone="bad") for row in status.left_out]
    return Job(
        kind="export",
        batch=status.batch,
        running=status.state == "running",
        fraction=status.done / status.total if status.total else None,
        report=Report(
            tone=tone,
            text=text,
            headings=(tr("Item"), tr("Why it was left out")) if rows else (),
            rows=shortened(rows, len(rows)),
        ),
    )


def catalogue_job(exporting: Exporting) -> Job | None:
    """Return the last catalogue that was started since the server was."""
    status = exporting.catalogue
    if status is None:
        return None
    rows: tuple[ReportRow, ...] = ()
    tone: Tone = "note"
    if status.state == "running":
        text = tr("Catalogue {name}: tables and pictures …", name=status.name)
        if status.total:
            values = {"name": status.name, "done": status.done, "total": status.total}
            text = tr("Catalogue {name}: {done} of {total} pictures.", **values)
    elif status.state == "failed":
        tone, text = "bad", sentences(tr("The catalogue {name} failed.", name=status.name), status.error)
    else:
        objects, spectra = status.numbers["objects"], status.numbers["spectra_of_objects"]
        tone = "good"
        text = tr(
            "{objects} with {spectra} in {folder}",
            objects=trn("{n} object", "{n} objects", objects, n=grouped(objects)),
            spectra=trn("{n} spectrum", "{n} spectra", spectra, n=grouped(spectra)),
            folder=status.folder,
        )
        rows = tuple(
            ReportRow(cells=(trn("{n} item left out", "{n} items left out", n, n=grouped(n)), _why_out(out)))
            for out, n in status.numbers["left_out"].items()
        )
    return Job(
        kind="catalogue",
        batch=None,
        running=status.state == "running",
        fraction=status.done / status.total if status.total else None,
        catalogue=status.name if status.state == "done" else None,
        report=Report(tone=tone, text=text, headings=(tr("Items"), tr("Why it was left out")), rows=rows),
    )


def _why_out(reason: str) -> str:
    parts = reason.split(": ")
    return tr(": ").join(tr(_REJECTED[part]).lower() if part in _REJECTED else tr(part) for part in parts)


def draft_job(drafting: Drafting) -> Job | None:
    """Return the last draft run since the server was started, unless its result was closed."""
    status = drafting.status
    if status is None:
        return None
    files, running = status.files, status.state == "running"
    done = sum(file.done for file in files)
    # What needs a person comes first: of many files, not all are listed.
    listed = sorted(files, key=lambda file: not (file.problems or file.others or file.skipped))
    rows = [_file_row(file, status) for file in listed]
    tone, text = _draft_text(status, done)
    return Job(
        kind="draft",
        batch=status.batch,
        running=running,
        fraction=done / status.total,
        added=sum(len(file.added) for file in files),
        report=Report(
            tone=tone, text=text, headings=(tr("File"), tr("What happened")), rows=shortened(rows, len(rows))
        ),
    )


def _draft_text(status: DraftStatus, done: int) -> tuple[Tone, str]:
    files = status.files
    added = sum(len(file.added) for file in files)
    if status.state == "running":
        current = next((file for file in files if not file.done), None)
        number = min(done + 1, status.total)
        text = tr(
            "Drafting file {number} of {all}: {name}",
            number=number,
            all=status.total,
            name=current.file if current else "…",
        )
        return "note", sentences(f"{text}.", new_items(added) if added else "")
    refused = sum(bool(file.problems) for file in files)
    others = len({item for file in files for item in file.others})
    words = [new_items(added)]
    if others:
        words.append(
            trn(
                "{n} item of the same spectra was here already with another text.",
                "{n} items of the same spectra were here already with another text.",
                others,
                n=grouped(others),
            )
        )
    if refused:
        words.append(
            trn(
                "{refused} of {n} file had a problem.",
                "{refused} of {n} files had a problem.",
                len(files),
                n=grouped(len(files)),
                refused=refused,
            )
        )
    if status.state == "failed":
        error = status.error if status.error.endswith((".", "。")) else f"{status.error}."
        return "bad", sentences(error, *words)
    if status.state == "stopped":
        return "look", sentences(tr("Stopped. Items drafted so far are in the queue."), *words)
    return "good" if added and not refused else "look" if added or not refused else "bad", sentences(*words)


def _file_row(file: FileOutcome, status: DraftStatus) -> ReportRow:
    parts = []
    if file.added:
        parts.append(f"{tr('drafted')}: {items(len(file.added))} {_numbers(file.added)}")
    if file.known:
        parts.append(f"{tr('drafted before, nothing was added')} {_numbers(file.known)}")
    if file.others:
        parts.append(f"{tr('here already with another text')} {_numbers(file.others)}")
    parts += [f"{tr('skipped')}: {reason}" for reason in file.skipped]
    parts += [f"{tr('refused')}: {problem}" for problem in file.problems]
    if not file.done and status.state == "running":
        parts.append(tr("working …"))
    return ReportRow(cells=(file.file, " · ".join(parts)), tone="bad" if file.problems else "note")


def _numbers(ids: Sequence[int]) -> str:
    """Return ``#12`` or ``#12 to #48``."""
    first, last = min(ids), max(ids)
    return f"#{first}" if first == last else tr("#{first} to #{last}", first=first, last=last)
