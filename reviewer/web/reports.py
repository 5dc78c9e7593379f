"""Reports of jobs in sentences: what drafting, importing and withdrawing did, and the state of the backups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.language import current, deferred, tr, trn
from reviewer.backup.backups import DailyBackups
from reviewer.exchange.annotations.importing import ImportedAnnotations, in_words
from reviewer.exchange.imports import Findings
from reviewer.exchange.recognition import by_state
from reviewer.rules.campaign import CLOSED, State
from reviewer.store import ImportJob, SameSpectrum, Store, Untouched
from reviewer.web.background.importing import ImportStatus
from reviewer.web.models.data import Report, ReportRow, Tone

MOST_SHOWN = 200
"""Rows of a table: enough to see the pattern."""
MOST_LINKS = 8
_STAYING = 5
"""Items that stay, named when a batch is withdrawn."""
_OLD = timedelta(days=2)
_NO_BACKUPS = deferred("This app was started without backups (--no-backups).")
_KINDS = {
    "baseline": deferred("baseline"),
    "model": deferred("model"),
    "person": deferred("person"),
    "unknown": deferred("unknown"),
}
"""The kinds of drafters."""


def grouped(number: int) -> str:
    """Return ``5 000`` with a narrow space, as the value ``n`` of a message with a number."""
    return f"{number:,}".replace(",", "\u202f")


def items(number: int) -> str:
    """Return ``1 item``, ``5 000 items``."""
    return trn("{n} item", "{n} items", number, n=grouped(number))


def new_items(number: int) -> str:
    """What came of drafting or importing, as a sentence."""
    if number == 0:
        return tr("Nothing new.")
    return trn("{n} new item in the queue.", "{n} new items in the queue.", number, n=grouped(number))


def sentences(*all_of_them: str) -> str:
    """Whole sentences one after the other, as the language writes them; empty ones are left out."""
    return ("" if current() == "zh" else " ").join(sentence for sentence in all_of_them if sentence)


def item_numbers(ids: Sequence[int]) -> str:
    """Return the first items of a list: ``#12, #14``."""
    return tr(", ").join(f"#{item}" for item in ids[:MOST_LINKS])


# ---- imports


def import_progress(status: ImportStatus) -> str:
    """Return what an unfinished import is doing, or why it does nothing."""
    job, findings = status.job, Findings.of(status.job)
    name = job.request.file.name
    if status.running:
        percent = int(100 * fraction(job))
        text = tr("Importing {file}: {step}, {percent} % done.", file=name, step=_step(job), percent=percent)
        return sentences(text, _rate(job, findings))
    if job.state == "failed":
        failed = tr("The import of {file} failed.", file=name)
        return sentences(failed, job.message, tr("Press “Resume import” to try again."))
    values = {"file": name, "n": grouped(findings.added)}
    if job.state == "cancelled":
        text = trn(
            "The import of {file} was cancelled: {n} item added so far.",
            "The import of {file} was cancelled: {n} items added so far.",
            findings.added,
            **values,
        )
    else:
        text = trn(
            "The import of {file} was interrupted, because its program ended ({log} may say why): {n} item added so "
            "far.",
            "The import of {file} was interrupted, because its program ended ({log} may say why): {n} items added so "
            "far.",
            findings.added,
            log=status.log,
            **values,
        )
    return sentences(text, tr("Press “Resume import” to go on from there."))


def fraction(job: ImportJob) -> float:
    """Return how much of the present step of an import is done."""
    return min(1.0, job.progress.offset / job.request.size) if job.request.size else 1.0


def _step(job: ImportJob) -> str:
    checking = job.progress.step == "check"
    if job.request.skip_bad and job.request.same_spectrum != "ask":
        return tr("checking rows") if checking else tr("adding rows")
    return tr("step 1 of 2, checking rows") if checking else tr("step 2 of 2, adding rows")


def _rate(job: ImportJob, findings: Findings) -> str:
    """Return rows, rate and time left in the present step."""
    seconds, done = job.progress.seconds, fraction(job)
    parts = [trn("{n} row done", "{n} rows done", findings.rows, n=grouped(findings.rows))]
    if seconds > 0 and findings.rows and done > 0:
        rate = round(findings.rows / seconds)
        parts.append(trn("{n} row per second", "{n} rows per second", rate, n=grouped(rate)))
        parts.append(tr("{time} left in this step", time=_duration(seconds * (1 - done) / done)))
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


ImportOutcome = tuple[ImportJob, Findings]


def import_report(store: Store, outcomes: Sequence[ImportOutcome]) -> Report:
    """Return what imports that were started together did, and the rows that cannot be used."""
    tone, text = _import_summary(store, outcomes)
    headings = (tr("File"), tr("Row"), tr("Field or spectrum"), tr("What was found"))
    return Report(tone=tone, text=text, headings=headings, rows=_import_rows(outcomes))


def _import_summary(store: Store, outcomes: Sequence[ImportOutcome]) -> tuple[Tone, str]:
    added, others, bad, control, unlisted = (
        sum(getattr(findings, name) for _, findings in outcomes)
        for name in ("added", "others", "bad", "control", "unlisted")
    )
    here = _already_here(by_state(store, [pair for _, f in outcomes for pair in f.known_items], MOST_LINKS))
    choice = outcomes[0][0].request.same_spectrum
    if others and choice == "ask":
        question = trn(
            "{n} row of spectra that are here already for the same task, with another text.",
            "{n} rows of spectra that are here already for the same task, with another text.",
            others,
            n=grouped(others),
        )
        nothing = tr("Nothing was imported from their files: choose what to do with such rows, then import again.")
        return "look", sentences(question, nothing, here)
    refused = [(job, findings) for job, findings in outcomes if job.state == "refused"]
    if refused:
        bad = sum(findings.bad for _, findings in refused)
        problem = _refused(outcomes, refused, bad)
        return "bad", sentences(problem, tr('Fix them, or tick "Skip bad rows".'))
    more = ""
    if unlisted:
        more = trn(
            "{n} row more of items that are already here.",
            "{n} rows more of items that are already here.",
            unlisted,
            n=grouped(unlisted),
        )
    skipped = trn("{n} row skipped.", "{n} rows skipped.", bad, n=grouped(bad)) if bad else ""
    tone: Tone = "look" if bad or others or control else "good"
    words = new_items(added), _other_texts(others, choice), _with_control_tokens(control), skipped, here, more
    return tone, sentences(*words)


def _with_control_tokens(rows: int) -> str:
    if not rows:
        return ""
    return trn(
        "{n} row has control tokens of the tokenizer in its texts, e.g. <|im_end|>; it is left out of training until "
        "they are removed.",
        "{n} rows have control tokens of the tokenizer in their texts, e.g. <|im_end|>; they are left out of training "
        "until they are removed.",
        rows,
        n=grouped(rows),
    )


def _other_texts(others: int, choice: SameSpectrum) -> str:
    if not others:
        return ""
    if choice == "leave out":
        return trn(
            "{n} row of spectra that were here already with another text: left out.",
            "{n} rows of spectra that were here already with another text: left out.",
            others,
            n=grouped(others),
        )
    return trn(
        "{n} row of spectra that were here already with another text: imported all the same.",
        "{n} rows of spectra that were here already with another text: imported all the same.",
        others,
        n=grouped(others),
    )


def _refused(outcomes: Sequence[ImportOutcome], refused: Sequence[ImportOutcome], bad: int) -> str:
    """Say from which files nothing was imported, and how many items came from the others."""
    if len(refused) == len(outcomes):
        return trn(
            "Nothing was imported: {n} row cannot be used.",
            "Nothing was imported: {n} rows cannot be used.",
            bad,
            n=grouped(bad),
        )
    added = sum(findings.added for job, findings in outcomes if job.state == "done")
    nothing = trn(
        "Nothing was imported from {files}: {n} row cannot be used.",
        "Nothing was imported from {files}: {n} rows cannot be used.",
        bad,
        n=grouped(bad),
        files=", ".join(job.request.file.name for job, _ in refused),
    )
    came = trn("{n} new item in the queue.", "{n} new items in the queue.", added, n=grouped(added))
    return sentences(came, nothing)


def _already_here(states: Mapping[State, tuple[int, list[int]]]) -> str:
    """Say which rows are in the database already, with their items."""
    parts = []
    for state, (count, ids) in states.items():
        links = item_numbers(ids)
        if count > len(ids):
            links = tr("{links} and {n} more", links=links, n=count - len(ids))
        values = {"state": tr(state), "links": links}
        if state not in CLOSED:
            text = trn(
                "{n} is already here, in {state} ({links}).",
                "{n} are already here, in {state} ({links}).",
                count,
                **values,
            )
        else:
            text = trn(
                "{n} is already {state} here ({links}).", "{n} are already {state} here ({links}).", count, **values
            )
        parts.append(sentences(text, tr("“Take back” of their batch restores them.") if state == "withdrawn" else ""))
    return sentences(*parts)


def _import_rows(outcomes: Sequence[ImportOutcome]) -> tuple[ReportRow, ...]:
    """List the rows that cannot be used, and those whose spectrum is here already with another text."""
    rows = [
        ReportRow(cells=(job.request.file.name, str(problem.line), problem.field, problem.reason), tone="bad")
        for job, findings in outcomes
        for problem in findings.problems
    ]
    rows += [
        ReportRow(
            cells=(
                job.request.file.name,
                str(other.line),
                other.name,
                tr("here with another text: {items}", items=item_numbers(other.items)),
            )
        )
        for job, findings in outcomes
        for other in findings.other_texts
    ]
    return shortened(rows, sum(findings.bad + findings.others for _, findings in outcomes))


def shortened(rows: Sequence[ReportRow], count: int) -> tuple[ReportRow, ...]:
    """Return the first rows of ``count``, and how many more there are."""
    more = count - len(rows[:MOST_SHOWN])
    last = [ReportRow(cells=(tr("and {n} more", n=grouped(more)),))] if more > 0 else []
    return (*rows[:MOST_SHOWN], *last)


# ---- annotations, withdrawals, exports, backups


def annotations_report(imported: ImportedAnnotations, dry_run: bool) -> Report:
    """Return what an import of annotations did or would do, and what cannot be used."""
    rows = [ReportRow(cells=(p.file, p.place, p.reason), tone="bad") for p in imported.problems]
    text = sentences(*in_words(imported, dry_run))
    tone: Tone = "look" if imported.problems else "note" if dry_run else "good"
    if imported.refused:
        tone, text = "bad", sentences(text, tr("Correct the file, or tick “Skip what cannot be used”."))
    else:
        more = len(imported.items) - MOST_LINKS
        text = sentences(
            text, item_numbers(imported.items), trn("and {n} more item", "and {n} more items", more) if more > 0 else ""
        )
    headings = (tr("File"), tr("Annotation"), tr("What was found"))
    return Report(tone=tone, text=text, headings=headings, rows=shortened(rows, len(rows)))


def withdrawal_report(untouched: Untouched) -> Report:
    """Return what can be withdrawn of a selection, and what stays."""
    staying = len(untouched.worked_on)
    number = len(untouched.items) + staying
    if not number and not untouched.withdrawn:
        return Report(tone="note", text=tr("No item of this batch has such a number."))
    if not number:
        number = len(untouched.withdrawn)
        text = trn("{n} item, all withdrawn.", "{n} items, all withdrawn.", number, n=grouped(number))
        return Report(tone="note", text=text)
    if not staying:
        text = trn("{n} item, none touched.", "{n} items, none touched.", number, n=grouped(number))
        return Report(tone="note", text=text)
    text = trn(
        "{n} item, {touched} of them touched by people.",
        "{n} items, {touched} of them touched by people.",
        number,
        n=grouped(number),
        touched=staying,
    )
    named = tr(", ").join(f"#{item} ({tr(what)})" for item, what in list(untouched.worked_on.items())[:_STAYING])
    these = tr("These stay: {items} and {n} more.") if staying > _STAYING else tr("These stay: {items}.")
    return Report(tone="look", text=sentences(text, these.format(items=named, n=staying - _STAYING)))


def export_in_words(manifest: Mapping[str, Any]) -> str:
    """Describe an export: number of items, tasks, drafters, and what users of it must know."""
    counts = manifest["counts"]
    parts = [
        items(counts["items"]),
        trn("{n} picture", "{n} pictures", counts["pictures"], n=grouped(counts["pictures"])),
        ", ".join(f"{task} {number}" for task, number in counts["tasks"].items()),
        tr(
            "drafted by {drafters}",
            drafters=", ".join(f"{tr(_KINDS.get(kind, kind))} {number}" for kind, number in counts["drafters"].items()),
        ),
    ]
    if counts["simulated"]:
        parts.append(tr("{n} simulated", n=counts["simulated"]))
    if counts["by_one_person"]:
        parts.append(tr("{n} reviewed by one person alone", n=counts["by_one_person"]))
    return " · ".join(parts)


def backups_report(backups: DailyBackups | None) -> Report:
    """Return how many backups there are, and what is wrong with them."""
    if backups is None:
        return Report(tone="look", text=tr(_NO_BACKUPS))
    where = tr("In {folder}", folder=backups.folder)
    problem = tr(backups.problem) if backups.problem else ""
    if not backups.existing:
        none = tr("None yet. The first one is made about a minute after the start of the app.")
        return Report(tone="bad" if problem else "note", text=sentences(problem, none, where))
    last = backups.existing[0].at
    text = trn(
        "The last was made {when}; 1 is kept, {size} in all.",
        "The last was made {when}; {n} are kept, {size} in all.",
        len(backups.existing),
        when=_when(last),
        size=_megabytes(sum(backup.bytes for backup in backups.existing)),
    )
    old = datetime.now(UTC) - last > _OLD
    return Report(tone="bad" if problem else "look" if old else "note", text=sentences(problem, text, where))


def backup_made(backups: DailyBackups | None, by: str) -> Report:
    """Make a backup, and return what was made."""
    if backups is None:
        return Report(tone="note", text=tr(_NO_BACKUPS))
    backup = backups.make_now(by)
    text = tr("{file}, {size}, was made and checked.", file=backup.path.name, size=_megabytes(backup.bytes))
    if not backup.spectra_missing:
        return Report(tone="good", text=text)
    missing = trn(
        "{n} spectrum has no file: it lacks it. “spec-o3 spectra” lists it.",
        "{n} spectra have no file: it lacks them. “spec-o3 spectra” lists them.",
        backup.spectra_missing,
        n=f"{backup.spectra_missing:,}",
    )
    return Report(tone="look", text=sentences(text, missing))


def _when(at: datetime) -> str:
    days = (datetime.now(UTC).date() - at.date()).days
    if days == 0:
        return tr("today at {time} UTC", time=f"{at:%H:%M}")
    if days == 1:
        return tr("yesterday at {time} UTC", time=f"{at:%H:%M}")
    return tr("on {day} at {time} UTC", day=f"{at:%Y-%m-%d}", time=f"{at:%H:%M}")


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
