"""The backups form of the Library tab: the last backup, their number, and a button for another one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import gradio as gr

from agent.language import deferred, tr, trn
from reviewer.backup.backups import DAILY, MONTHLY, WEEKLY, DailyBackups
from reviewer.store import Store
from reviewer.ui.widgets import Changes, line, markup, message_line, report_errors, require_manager, sentences

_NO_BACKUPS = deferred("This app was started without backups (--no-backups).")
_OLD = timedelta(days=2)


@dataclass(frozen=True)
class BackupsForm:
    """The components that other parts of the tab update."""

    backups: DailyBackups | None
    sheet: gr.Column
    now: gr.HTML
    button: gr.Button

    @property
    def outputs(self) -> list[Any]:
        return [self.sheet, self.now, self.button]

    def show(self, may_use: bool) -> Changes:
        """Return the present state; nothing for people who may not manage backups."""
        return {
            self.sheet: gr.update(visible=may_use),
            self.now: _status(self.backups) if may_use else "",
            self.button: gr.update(visible=self.backups is not None),
        }


def build(store: Store, local: bool, backups: DailyBackups | None) -> BackupsForm:
    """Build the form and its handler."""
    with gr.Column(elem_classes=["so-sheet", "so-for-managers"]) as sheet:
        about = tr(
            "While the app runs it copies the database once a day, and keeps the last copy of each of {days} days, "
            "{weeks} weeks and {months} months. Backups made here by hand are kept until somebody deletes them.",
            days=DAILY,
            weeks=WEEKLY,
            months=MONTHLY,
        )
        markup(f'<h3>{escape(tr("Backups"))}</h3><p class="about">{escape(about)}</p>')
        now = markup()
        button = gr.Button(tr("Back up now"), size="sm", elem_classes="so-small")
        message = message_line()
    form = BackupsForm(backups, sheet, now, button)

    @report_errors(message)
    def create_backup(request: gr.Request) -> Changes:
        person = require_manager(request, store, local)
        if backups is None:
            return {message: line("note", tr(_NO_BACKUPS))}
        backup = backups.make_now(person.initials)
        text = tr("{file}, {size}, was made and checked.", file=backup.path.name, size=_megabytes(backup.bytes))
        if backup.spectra_missing:
            missing = trn(
                "{n} spectrum has no file: it lacks it. “spec-o3 spectra” lists it.",
                "{n} spectra have no file: it lacks them. “spec-o3 spectra” lists them.",
                backup.spectra_missing,
                n=f"{backup.spectra_missing:,}",
            )
            text = sentences(text, missing)
        return {**form.show(may_use=True), message: line("look" if backup.spectra_missing else "good", text)}

    button.click(
        create_backup,
        None,
        [message, *form.outputs],
        show_progress_on=now,
        concurrency_id="library",
        concurrency_limit=1,
        api_visibility="private",
    )
    return form


def _status(backups: DailyBackups | None) -> str:
    if backups is None:
        return line("look", tr(_NO_BACKUPS))
    existing = backups.existing
    folder = f"<code>{escape(str(backups.folder))}</code>"
    where = f"<p>{escape(tr('In {folder}')).format(folder=folder)}</p>"
    if not existing:
        none = line("note", tr("None yet. The first one is made about a minute after the start of the app."))
        return _problem(backups) + none + where
    size = _megabytes(sum(backup.bytes for backup in existing))
    text = trn(
        "The last was made {when}; 1 is kept, {size} in all.",
        "The last was made {when}; {n} are kept, {size} in all.",
        len(existing),
        when=_when(existing[0].at),
        size=size,
    )
    old = datetime.now(UTC) - existing[0].at > _OLD
    return _problem(backups) + (line("look", text) if old else f"<p>{escape(text)}</p>") + where


def _problem(backups: DailyBackups) -> str:
    return line("bad", tr(backups.problem)) if backups.problem else ""


def _when(at: datetime) -> str:
    days = (datetime.now(UTC).date() - at.date()).days
    if days == 0:
        return tr("today at {time} UTC", time=f"{at:%H:%M}")
    if days == 1:
        return tr("yesterday at {time} UTC", time=f"{at:%H:%M}")
    return tr("on {day} at {time} UTC", day=f"{at:%Y-%m-%d}", time=f"{at:%H:%M}")


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
