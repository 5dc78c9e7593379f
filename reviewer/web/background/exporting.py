"""Exports and catalogues: one at a time, in a thread, because drawing the pictures takes minutes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeVar

from agent.language import tr
from reviewer.catalogue import bundle
from reviewer.catalogue.bundle import OnProgress
from reviewer.catalogue.facts import Wish
from reviewer.errors import message
from reviewer.exchange.exports import ExportError, LeftOut, check_name, export
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
class CatalogueWish:
    """What a catalogue is to be made of, under which name; ``replace``: one of this name may be replaced."""

    name: str
    of: Wish
    replace: bool = False


@dataclass(frozen=True)
class _Status:
    """How far something is that is written.

    :param done: items or pictures written, of ``total``
    :param error: why it failed; "" otherwise
    :param folder: where it is once it is done
    """

    name: str
    state: Literal["running", "done", "failed"] = "running"
    done: int = 0
    total: int = 0
    error: str = ""
    folder: str = ""


@dataclass(frozen=True)
class ExportStatus(_Status):
    """How far the last export is.

    :param export: its number once it is done
    :param left_out: approved items that are no training data, and why
    :param summary: its manifest without the lists of files and items
    :param batch: of which alone they are; None: of all
    """

    export: int | None = None
    left_out: tuple[LeftOut, ...] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    batch: str | None = None


@dataclass(frozen=True)
class CatalogueStatus(_Status):
    """How far the last catalogue is. ``numbers``: those of its methods text once it is done."""

    numbers: Mapping[str, Any] = field(default_factory=dict)


_S = TypeVar("_S", ExportStatus, CatalogueStatus)


class _Stopped(Exception):
    """The app is being stopped."""


class Exporting:
    """The exports and catalogues that are started on one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._name = ""
        self.status: ExportStatus | None = None
        self.catalogue: CatalogueStatus | None = None

    def start(self, person: str, wish: ExportWish, wait: float = 1.0) -> ExportStatus:
        """Start an export in a person's name; return how far it is after ``wait`` seconds at most.

        :raises ExportError: another one is running
        """
        self._start(ExportStatus(wish.name, batch=wish.batch), partial(self._export, person, wish), wait)
        assert self.status is not None
        return self.status

    def start_catalogue(self, person: str, wish: CatalogueWish, wait: float = 1.0) -> CatalogueStatus:
        """Start a catalogue, as ``start`` does an export. :raises ExportError: also of a name that cannot be used"""
        check_name(wish.name)
        self._start(CatalogueStatus(wish.name), partial(self._catalogue, person, wish), wait)
        assert self.catalogue is not None
        return self.catalogue

    def close(self) -> None:
        """Stop what is running; it leaves no files."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _start(self, begun: _S, make: Callable[[OnProgress], _S], wait: float) -> None:
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise ExportError(tr("The export {name} is running. Wait for its end.", name=self._name))
            self._name = begun.name
            self._set(begun)
            # In the language of the person who asked for it.
            thread = self._thread = threading.Thread(
                target=copy_context().run, args=(self._run, begun, make), daemon=True
            )
            thread.start()
        thread.join(wait)

    def _set(self, status: ExportStatus | CatalogueStatus) -> None:
        if isinstance(status, ExportStatus):
            self.status = status
        else:
            self.catalogue = status

    def _run(self, begun: _S, make: Callable[[OnProgress], _S]) -> None:
        def on_progress(done: int, total: int) -> None:
            if self._stop.is_set():
                raise _Stopped
            self._set(replace(begun, done=done, total=total))

        try:
            self._set(make(on_progress))
        except _Stopped:
            self._set(replace(begun, state="failed", error=tr("The app was stopped.")))
        except Exception as error:
            self._set(replace(begun, state="failed", error=message(error)))

    def _export(self, person: str, wish: ExportWish, on_progress: OnProgress) -> ExportStatus:
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
        assert self.status is not None
        return replace(
            self.status,
            state="done",
            export=finished[-1],
            folder=str(exported.folder),
            left_out=exported.left_out,
            summary=exported.summary,
        )

    def _catalogue(self, person: str, wish: CatalogueWish, on_progress: OnProgress) -> CatalogueStatus:
        target = bundle.folder_of(self._store) / wish.name
        built = bundle.build(self._store, wish.of, target, person, wish.replace, on_progress)
        assert self.catalogue is not None
        return replace(self.catalogue, state="done", folder=str(built.folder), numbers=built.numbers)
