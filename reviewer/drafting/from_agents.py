"""The database as agents of others use it: its spectra, its tasks, its queue, and their verdicts as drafts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from agent.language import tr
from agent.mcp.desk import Client, McpError, Submitted, Waiting
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory
from reviewer.rules.campaign import known_tasks
from reviewer.rules.item_numbers import alias, item_of_alias
from reviewer.store import WITHHELD, Draft, NotAllowed, QueueFilter, Store

T = TypeVar("T", int, str)

MOST_LISTED = 20
_SEARCHED = 500
"""Waiting items of a task among which those to list are searched."""


class AgentDesk:
    """Both ``Desk`` and ``Spectra`` of ``agent.mcp.desk``.

    A client gets of an item only its number, task and spectrum. What a person scores in an open blind session is
    neither listed nor opened; without accounts that is what any person scores.

    :param database: annotations.db; if it does not exist, it is created with the first verdict
    :param opened: opens the store for one call, so that a server that runs for days is in nobody's way
    :param app_url: address of the app, for links to items; "" without
    """

    def __init__(self, database: Path, opened: Callable[[], AbstractContextManager[Store]], app_url: str = "") -> None:
        self._database = database
        self._opened = opened
        self._app_url = app_url.rstrip("/")

    def tasks(self) -> Mapping[str, Task]:
        return known_tasks(self._database)[0]

    def find(self, path: str, target: str | None, client: Client) -> Spectrum | None:
        """Return the spectrum with this SHA-256 or name, or of this item (``item-7``); None if there is none.

        :raises NotAllowed: the person scores it in a blind session
        :raises McpError: several spectra have the name
        """
        if not self._database.is_file() or target is not None:
            return None
        with self._opened() as store:
            hashes = {path} if store.spectra.exists(path) else _hashes(store, path)
            if len(hashes) > 1:
                raise McpError(
                    tr("path: found {n} spectra with this name, expected the item or SHA-256 of one", n=len(hashes))
                )
            self.require(store, client, hashes)
            return store.spectra.get(hashes.pop()) if hashes else None

    def require(self, store: Store, client: Client, hashes: AbstractSet[str]) -> None:
        """Check that the client may open these spectra. :raises NotAllowed: it may not"""
        if hashes & _hidden(store, client, store.blind.scoring.hidden_hashes):
            raise NotAllowed(tr(WITHHELD))

    def hidden(self, store: Store, client: Client) -> frozenset[int]:
        """Return the items that are not listed for the client."""
        return _hidden(store, client, store.blind.scoring.hidden_items)

    def submit(self, trajectory: Trajectory, spectrum: Spectrum, client: Client) -> Submitted:
        batch = f"mcp {client.name} {datetime.now(UTC):%Y-%m-%d}"
        with self._opened() as store:
            (added,) = store.items.add_all([Draft(trajectory, spectrum, batch)], by=client.person)
        address = f"{self._app_url}/#item={added.item_id}" if self._app_url else ""
        return Submitted(added.item_id, added.new, address)

    def queue(self, client: Client) -> tuple[Waiting, ...]:
        if not self._database.is_file():
            return ()
        with self._opened() as store:
            hidden = self.hidden(store, client)
            listed = (_waiting(store, client, key, tuple(sorted(hidden))) for key in self.tasks())
            return tuple(waiting for waiting in listed if waiting.number)


def _hashes(store: Store, name: str) -> set[str]:
    """Return the spectra of the item, or of the items of that name."""
    item = item_of_alias(name)
    if item is not None:
        rows = store.queue.rows([item])
    else:
        page = store.queue.page(QueueFilter(text=name), "", limit=_SEARCHED)
        rows = [row for row in page.rows if row.name == name]
    return {row.spectrum_sha256 for row in rows if row.spectrum_sha256 is not None}


def _hidden(store: Store, client: Client, of: Callable[[str], frozenset[T]]) -> frozenset[T]:
    """Return what is hidden from the person of the client; without accounts, from any person."""
    people = [client.person] if client.person is not None else [each.initials for each in store.accounts.people()]
    return frozenset().union(*map(of, people))


def _waiting(store: Store, client: Client, task: str, hidden: tuple[int, ...]) -> Waiting:
    chosen = QueueFilter(task=task, states=("screening",), without_items=hidden)
    page = store.queue.page(chosen, "", limit=_SEARCHED)
    submitted = {
        row.spectrum_sha256
        for row in store.queue.rows_of_spectrum(*{row.spectrum_sha256 for row in page.rows if row.spectrum_sha256})
        if row.task == task and row.drafter_name == client.name
    }
    items = {row.spectrum_sha256: row.item_id for row in reversed(page.rows) if row.spectrum_sha256}
    listed = sorted(item for sha256, item in items.items() if sha256 not in submitted)[:MOST_LISTED]
    return Waiting(task, page.total, tuple(map(alias, listed)))
