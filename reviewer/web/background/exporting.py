"""Exports that a script starts: one at a time, in a thread, because drawing the pictures takes minutes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent.language import tr
from reviewer.errors import message
from reviewer.exchange.exports import ExportError, LeftOut, export
from reviewer.store import Store

_STOP_SECONDS = 3.0


@dataclass(frozen=True)
class ExportWish:
    """What is to be exported, under which name; ``task`` and ``batch``: None for all."""

    name: str
    task: str | None = None
    batch: str | None = None
    simulated: bool = True
    replace: bool = False


@dataclass(frozen=True)
class ExportStatus:
    """How far the last export is.

    :param done: items written, of ``total``
    :param export: its number once it is done
    :param error: why it failed; "" otherwise
    :param folder: where it is once it is done
    :param left_out: approved items that are no training data, and why
    :param summary: its manifest without the lists of files and items
    :param batch: of which alone they are; None: of all
    """

    name: str
    state: Literal["running", "done", "failed"]
    done: int = 0
    total: int = 0
    export: int | None = None
    error: str = ""
    folder: str = ""
    left_out: tuple[LeftOut, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    batch: str | None = None


class _Stopped(Exception):
    """The app is being stopped."""


class Exporting:
    """The exports that scripts start on one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.status: ExportStatus | None = None

    def start(self, person: str, wish: ExportWish, wait: float = 1.0) -> ExportStatus:
        """Start an export in a person's name; return how far it is after ``wait`` seconds at most.

        :raises ExportError: another one is running
        """
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                assert self.status is not None
                raise ExportError(tr("The export {name} is running. Wait for its end.", name=self.status.name))
            self.status = ExportStatus(wish.name, "running", batch=wish.batch)
            # In the language of the person who asked for it.
            thread = self._thread = threading.Thread(
                target=copy_context().run, args=(self._run, person, wish), daemon=True
            )
            thread.start()
        thread.join(wait)
        return self.status

    def close(self) -> None:
        """Stop a running export; it leaves no files."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self, person: str, wish: ExportWish) -> None:
        begun = ExportStatus(wish.name, "running", batch=wish.batch)

        def on_progress(done: int, total: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self.status = replace(begun, done=done, total=total)

        try:
            exported = export(
                self._store,
                wish.name,
                person=person,
                task=wish.task,
                batch=wish.batch,
                include_simulated=wish.simulated,
                replace=wish.replace,
                progress=on_progress,
            )
            finished = [export.id for export in self._store.settings.exports() if export.name == wish.name]
            self.status = replace(
                self.status or begun,
                state="done",
                export=finished[-1],
                folder=str(exported.folder),
                left_out=exported.left_out,
                summary=exported.summary,
            )
        except _Stopped:
            self.status = replace(begun, state="failed", error=tr("The app was stopped."))
        except Exception as error:
            self.status = replace(begun, state="failed", error=message(error))
