"""A real SAMP hub, and programs that are connected with it, as TOPCAT, SPLAT and Aladin are."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyvo.samp import SAMPHubServer, SAMPIntegratedClient, WebProfileDialog, conf

SECONDS = 60


class _Accepting(WebProfileDialog):  # type: ignore[misc]
    """A person who accepts every page."""

    def show_dialog(self, *_: Any) -> None:
        self.consent()

    def answer(self, over: threading.Event) -> None:
        """Answer requests until the hub is over, as the timer of a window would."""
        while not over.wait(0.05):
            self.handle_queue()


class Program(SAMPIntegratedClient):  # type: ignore[misc]
    """A program that keeps the messages which it receives."""

    def __init__(self, name: str, *mtypes: str) -> None:
        super().__init__(name=name, addr="127.0.0.1")
        self._received: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self.connect()
        for mtype in mtypes:
            self.bind_receive_notification(mtype, self._keep)

    def _keep(self, key: str, sender: str, mtype: str, parameters: dict[str, Any], rest: dict[str, Any]) -> None:
        self._received.put((mtype, parameters))

    @property
    def is_waiting(self) -> bool:
        return self._received.empty()

    def message(self) -> tuple[str, dict[str, Any]]:
        """The next message: what it is about, and its parameters."""
        return self._received.get(timeout=SECONDS)

    def tell(self, mtype: str, **parameters: Any) -> None:
        """Notify all others."""
        self.notify_all({"samp.mtype": mtype, "samp.params": parameters})


@contextmanager
def a_hub(folder: Path, web: bool = False) -> Iterator[SAMPHubServer]:
    """A hub of this machine for as long as the block runs, found by its lock file in ``folder``.

    :param web: also by the Web Profile, at a free port (``_web_port``); every page is accepted
    """
    before, internet = os.environ.get("SAMP_HUB"), conf.use_internet
    os.environ["SAMP_HUB"] = f"std-lockurl:file://{folder / 'samp-hub'}"
    conf.use_internet = False  # it opens google.com otherwise
    dialog, over = _Accepting(), threading.Event()
    hub = SAMPHubServer(addr="127.0.0.1", web_profile=web, web_port=0, web_profile_dialog=dialog)
    hub.start()
    threading.Thread(target=dialog.answer, args=(over,), daemon=True).start()
    try:
        yield hub
    finally:
        over.set()
        if hub.is_running:
            hub.stop()
        conf.use_internet = internet
        os.environ.pop("SAMP_HUB") if before is None else os.environ.update(SAMP_HUB=before)
