"""The web server: Gradio's page, the Review page's routes, and the files both need, on one port."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from agent.cli.command import CannotRun
from agent.policies.roster import Roster
from agent.policies.servers import RosterError
from reviewer.backup.backups import DailyBackups
from reviewer.drafting import demo
from reviewer.rules.campaign import known_tasks
from reviewer.store import Draft, QueueFilter, Store
from reviewer.store.sqlite.database import SUBMIT_SECONDS
from reviewer.ui import opening
from reviewer.ui.gradio_part import PAGE, GradioPart, GradiosPage
from reviewer.ui.uncollected import uncollected
from reviewer.ui.without_stubs import without_stubs
from reviewer.web import errors as refusals
from reviewer.web import live as live_desk
from reviewer.web import log as log_lines
from reviewer.web.access import Gate, Room
from reviewer.web.context import Desk
from reviewer.web.headers import Headers
from reviewer.web.pictures import Gallery
from reviewer.web.routes import assets, blind, blind_setup, live, progress, review, sign_in

# From <malloc.h> of the GNU C library.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_ARENAS = 2
_OF_ITS_OWN = 256 * 1024
"""Bytes from which a piece of memory goes back to the machine as soon as it is free."""


def keep_together() -> bool:
    """Let the server's threads share two heaps; whether that could be said (GNU C library, nothing else set).

    Each of forty threads would have a heap of its own, and each keeps what its largest piece of work took.
    The threshold for large pieces is fixed as well; else the library raises it to the largest it has seen.
    """
    if any(name.startswith("MALLOC_") for name in os.environ):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(mallopt(_M_ARENA_MAX, _ARENAS) and mallopt(_M_MMAP_THRESHOLD, _OF_ITS_OWN))


def require_free(host: str, port: int) -> None:
    """:raises CannotRun: another program has the port, or it is not this machine's to give"""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As uvicorn does: a port whose last server has just stopped is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotRun(
            f"{host}:{port} cannot be served on ({error.strerror}). Perhaps this app runs there already: "
            f"look at http://{host}:{port}/, or give another port with --port {port + 1}."
        ) from error


log = logging.getLogger("spec_o3")

PROXIES = ["127.0.0.1", "::1"]
"""Where a proxy may stand whose word about its visitors is taken: on this machine."""
_UPLOADS = "GRADIO_TEMP_DIR"
_PATIENCE = 3  # seconds for open connections, such as a page that watches a run, when the server is stopped
_PUBLIC = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?/?")


def build(
    store: Store,
    local: bool,
    roster: Roster | None = None,
    public: str | None = None,
    backups: DailyBackups | None = None,
) -> FastAPI:
    """The whole app over an open store.

    :param local: nobody but this machine can reach it
    :param public: the address of the proxy through which alone it is reached
    :param roster: who can be asked in the Live tab; None: as ``servers.toml`` beside the database says
    :param backups: begins and ends with the app; None: there are none
    :raises RosterError: that file cannot be used
    """
    known, problems = known_tasks(store.path)
    for problem in problems:
        log.warning("task file left out: %s", problem)
    gallery = Gallery(store)
    app = FastAPI(title="Spec-o3 review", docs_url=None, redoc_url=None, openapi_url=None, lifespan=_lifespan)
    app.state.desk = Desk(store=store, gallery=gallery, tasks=known, local=local, problems=tuple(map(str, problems)))
    app.state.backups = backups
    app.state.live = live_desk.Live(app.state.desk, roster or Roster.load(beside=store.path.resolve().parent))
    refusals.install(app)
    app.add_middleware(Room)
    app.include_router(opening.router)
    app.include_router(review.router)
    app.include_router(live.router)
    app.include_router(blind.router)
    app.include_router(blind_setup.router)
    app.include_router(sign_in.router(store, local))
    app.include_router(progress.progress_router(store))
    app.include_router(progress.router(store))
    app.include_router(progress.library_router(store))
    app.include_router(assets.router)
    app.add_middleware(Gate, store=store, local=local, public=public)
    app.add_middleware(Headers)
    # Outermost: the headers' nonce has to be written into the page before it is packed.
    app.add_middleware(GZipMiddleware, minimum_size=2048, compresslevel=1)

    def made() -> FastAPI:
        with uncollected(), without_stubs():
            from reviewer.ui import page
        return page.mounted(store, known, local, backups)

    app.state.gradio = GradioPart(made)
    app.router.routes.append(Route(PAGE, GradiosPage(app.state.gradio), methods=["GET"]))
    app.mount("/", app.state.gradio)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """What begins and ends with the server."""
    backups: DailyBackups | None = app.state.backups
    gradio: GradioPart = app.state.gradio
    async with live_desk.lifespan(app), gradio.lifespan():
        if backups is not None:
            backups.start()
        yield
        if backups is not None:
            backups.close()


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(
    db: Path,
    host: str = "127.0.0.1",
    port: int = 7860,
    open_browser: bool = True,
    servers: Path | None = None,
    server: str | None = None,
    public: str | None = None,
    backups: Path | None = None,
) -> None:
    """Open (or make) the database, load the demo into an empty one, and serve until stopped.

    :param servers: a file of the model servers that can be asked; None: ``servers.toml`` beside the database
    :param server: the address of the model server that is called "spec-o3"
    :param public: ``https://...``, where a proxy with TLS stands in front: what it says of its visitors is
        believed, and no other name than this is answered
    :param backups: the folder of the daily backups; None: none are made
    :raises CannotRun: an address others can reach was asked for and nobody has a password, another program
        has the port, or a model server or the proxy is not named in a way that can be used
    :raises StoreError: the database cannot be opened, or is damaged
    """
    if public is not None and not _PUBLIC.fullmatch(public):
        raise CannotRun(f"--behind: found {public!r:.80}, wanted an address such as https://review.example.org")
    try:
        roster = Roster.load(servers, server, beside=db.resolve().parent)
    except RosterError as problem:
        raise CannotRun(str(problem)) from problem
    require_free(host, port)
    keep_together()
    store = Store.open(db, patience=SUBMIT_SECONDS)
    try:
        # SQLite looks through the tables without Python's lock, while the app is built in Python.
        with ThreadPoolExecutor(1) as beside, _private_uploads():
            sound = beside.submit(store.require_sound)
            local = is_loopback(host) and public is None
            _prepare(store, None if local else public or host or "every address")
            app = build(store, local, roster, public, DailyBackups(store, backups) if backups else None)
            sound.result()
            url = f"http://{host}:{port}/"
            print(f"Spec-o3 review on {url}  (database: {db}; stop with Ctrl C)", flush=True)
            log_lines.install()
            if open_browser:
                threading.Timer(1.0, webbrowser.open, [url]).start()
            _run(app, host, port, behind_proxy=public is not None)
    finally:
        store.close()


def _prepare(store: Store, address: str | None) -> None:
    """Let nobody in without a password at an ``address`` that others can reach; fill an empty database."""
    if address is not None and not any(p.has_password and p.active for p in store.people()):
        raise CannotRun(
            f"{address} can be reached by others, and nobody here has a password. Start at 127.0.0.1, set "
            "passwords in the People tab, then start again."
        )
    if _is_empty(store):
        print("Empty database: loading the demo (simulated spectra, drafts by the baseline).", flush=True)
        store.add_items(Draft(t, s, batch="demo") for s, t in demo.demo_items())


def _run(app: FastAPI, host: str, port: int, behind_proxy: bool) -> None:
    # uvicorn ends by sending itself the signal that it was stopped with; what follows is to run all the same.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        log_config=None,  # uvicorn's own log goes where ours does, in the same form
        server_header=False,
        # Anybody can write into these headers; they count only where a proxy of ours writes them.
        proxy_headers=behind_proxy,
        forwarded_allow_ips=PROXIES,
        timeout_graceful_shutdown=_PATIENCE,
    )


@contextmanager
def _private_uploads() -> Iterator[None]:
    """What people drop on the page lies where only this program's user can read, and goes with the program.
    Gradio's own choice is a folder that all users of the machine share, kept for ever."""
    before = os.environ.get(_UPLOADS)
    with tempfile.TemporaryDirectory(prefix="spec-o3-uploads-", dir=before, ignore_cleanup_errors=True) as made:
        os.environ[_UPLOADS] = made
        try:
            yield
        finally:
            if before is None:
                del os.environ[_UPLOADS]
            else:
                os.environ[_UPLOADS] = before


def _is_empty(store: Store) -> bool:
    return store.queue(QueueFilter(), "", limit=1).total == 0
