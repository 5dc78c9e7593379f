"""The web server: our HTTP routes and Gradio's page on one port."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route

from agent.cli.command import CannotRun
from agent.language import tr
from agent.policies.roster import Roster
from agent.policies.servers import RosterError
from reviewer.backup.backups import DailyBackups
from reviewer.drafting.demo_trust import load_demo
from reviewer.pictures import Gallery
from reviewer.rules.campaign import known_tasks
from reviewer.similar.background import Similar
from reviewer.similar.grouping import Grouping
from reviewer.store import QueueFilter, Store
from reviewer.store.sqlite.database import SUBMIT_SECONDS
from reviewer.web import errors, mcp, openapi, samp, sky
from reviewer.web import live as live_desk
from reviewer.web import log as log_lines
from reviewer.web.access import MCP, Access
from reviewer.web.background.drafting import Drafting
from reviewer.web.background.exporting import Exporting
from reviewer.web.background.importing import Importing
from reviewer.web.background.webhooks import WebhookSender
from reviewer.web.bodies import UPLOAD_FOLDER, BodyLimits
from reviewer.web.context import Context
from reviewer.web.headers import Headers
from reviewer.web.language import Language
from reviewer.web.language import router as language_router
from reviewer.web.models import PROBLEMS
from reviewer.web.proxies import THIS_MACHINE, Forwarded, ProxyLogin, path_of
from reviewer.web.routes import (
    aids,
    api,
    assets,
    audit,
    blind,
    blind_setup,
    bulk,
    comments,
    data,
    documents,
    downloads,
    exports,
    find,
    installing,
    live,
    opening,
    people,
    progress,
    review,
    sign_in,
    similar,
    traces,
    trials,
    trust,
)
from reviewer.web.settings import ServerSettings

log = logging.getLogger("spec_o3")

_SHUTDOWN_SECONDS = 3  # for open connections, e.g. a page that follows a run, when the server is stopped
ROUTERS = (
    *(
        review.router,
        opening.router,
        traces.router,
        trials.router,
        aids.router,
        downloads.router,
        samp.router,
        samp.files,
        live.router,
        blind.router,
        blind_setup.router,
    ),
    *(
        data.router,
        sign_in.router,
        progress.router,
        exports.router,
        documents.router,
        audit.router,
        installing.router,
    ),
    *(trust.router, find.router, similar.router, bulk.router, comments.router, people.router, api.router),
    # Before the files of the page, which have the addresses that are left.
    *(language_router, assets.router),
)


def build(
    store: Store,
    local: bool,
    roster: Roster | None = None,
    public: str | None = None,
    backups: DailyBackups | None = None,
    import_from: Sequence[Path] = (),
    login: ProxyLogin | None = None,
    webhooks: WebhookSender | None = None,
) -> FastAPI:
    """Return the whole app over an open store.

    :param local: only this machine can reach it
    :param public: the address of the proxy through which alone it is reached
    :param roster: the policies of the Live tab; None: those of ``servers.toml`` next to the database
    :param backups: starts and stops with the app; None: there are none
    :param import_from: folders of this machine whose files people may import by path
    :param login: how the proxy names the people who signed in there; None: it does not
    :param webhooks: starts and stops with the app; None: nothing is delivered
    :raises RosterError: that file cannot be used
    """
    assets.prepare_plotly()  # in a thread, while Gradio is imported
    # Not above: importing Gradio takes two seconds, and much of what imports this module never serves.
    from reviewer.ui import page

    tasks, problems = known_tasks(store.path)
    for problem in problems:
        log.warning("task file left out: %s", problem)
    app = FastAPI(title="Spec-o3 review", docs_url=None, redoc_url=None, openapi_url=None, lifespan=_lifespan)
    app.state.context = Context(
        store=store,
        gallery=Gallery(store),
        tasks=tasks,
        local=local,
        similar=Similar(store),
        problems=tuple(map(str, problems)),
        backups=backups,
        login=login,
        webhooks=webhooks,
    )
    roster = roster or Roster.load(database_folder=store.path.resolve().parent)
    app.state.live = live_desk.Live(app.state.context, roster)
    app.state.importing = Importing(store, import_from)
    app.state.exporting = Exporting(store)
    app.state.drafting = Drafting(store)
    app.state.agreement = progress.AgreementCache()
    app.state.trust = trust.TrustCache()
    app.state.grouping = Grouping(app.state.context.similar, store)
    app.state.audit_check = audit.Check()
    app.state.samp = samp.Samp()
    app.state.mcp = mcp.Endpoint(store, public or "")
    app.router.routes.append(Route(MCP, app.state.mcp))
    errors.install(app)
    for router in ROUTERS:
        is_api = router.prefix.startswith(openapi.API.rstrip("/"))
        described = dict(PROBLEMS) if is_api else None
        app.include_router(router, tags=[openapi.tag_of(router)], include_in_schema=is_api, responses=described)
    app.add_middleware(BodyLimits)
    app.add_middleware(Access, store=store, local=local, public=public, login=login)
    app.add_middleware(Headers, preload=page.preload_header())
    app.add_middleware(Language)
    # Outermost: the policy of the page is computed from its text before it is compressed.
    app.add_middleware(GZipMiddleware, minimum_size=2048, compresslevel=1)
    # Anyone can send forwarded headers; they count only where a proxy of ours writes them.
    proxies = [] if public is None else [*THIS_MACHINE, *(map(str, login.addresses) if login else ())]
    app.add_middleware(Forwarded, trusted=proxies, public=public)
    below = public if path_of(public) else None
    return page.mount(app, below)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Start and stop what runs as long as the server does."""
    threads = [backup for backup in (app.state.context.backups, app.state.context.webhooks) if backup is not None]
    async with live_desk.lifespan(app):
        for thread in threads:
            thread.start()
        app.state.context.similar.start()
        await asyncio.to_thread(app.state.importing.delete_old_uploads)
        yield
        for thread in threads:
            thread.close()
        await app.state.mcp.close()
        await asyncio.to_thread(app.state.samp.hub.close)
        app.state.drafting.close()
        app.state.importing.close()
        app.state.exporting.close()
        app.state.grouping.close()
        app.state.context.similar.close()


def serve(settings: ServerSettings) -> None:
    """Open (or create) the database, load the demo into an empty one, and serve until stopped.

    :raises CannotRun: others could reach the app and nobody has a password, another program uses the port, or
        the model servers or the proxy are not named in a usable way
    :raises StoreError: the database cannot be opened, or is damaged
    """
    settings.check()
    database = settings.database
    try:
        roster = Roster.load(settings.servers, settings.server, database_folder=database.resolve().parent)
    except RosterError as problem:
        raise CannotRun(str(problem)) from problem
    store = Store.open(database, patience=SUBMIT_SECONDS)
    try:
        # SQLite checks the tables in a thread, without Python's lock, while the app is built.
        with ThreadPoolExecutor(1) as pool, _private_uploads():
            check = pool.submit(store.upkeep.check_at_start)
            _prepare(
                store,
                None if settings.local else settings.public or settings.host or tr("every address"),
                settings.login,
            )
            backups = DailyBackups(store, settings.backups) if settings.backups else None
            app = build(
                store,
                settings.local,
                roster,
                settings.public,
                backups,
                settings.import_from,
                settings.login,
                WebhookSender(store, settings.public or settings.url),
            )
            check.result()
            gc.freeze()  # what a start makes stays: nothing to collect
            gc.enable()  # off since the command began
            print(
                tr(
                    "Spec-o3 review on {url}  (database: {database}; stop with Ctrl C)",
                    url=settings.url,
                    database=database,
                ),
                flush=True,
            )
            log_lines.install()
            if store.sky.any():
                threading.Thread(target=sky.prepare, daemon=True).start()
            if settings.open_browser:
                threading.Timer(1.0, webbrowser.open, [settings.url]).start()
            _run(app, settings)
    finally:
        store.close()


def _prepare(store: Store, address: str | None, login: ProxyLogin | None = None) -> None:
    """Require a person who can sign in if others can reach ``address``; fill an empty database with the demo."""
    active = [person for person in store.accounts.people() if person.active]
    if login is not None and login.only:
        known = store.logins.of_people()
        if not any(person.is_any("coordinator") and person.initials in known for person in active):
            raise CannotRun(
                tr(
                    "--proxy-login-only: no coordinator has a sign-in name yet, so nobody could manage the campaign. "
                    "Start the app without it, set the names in the People tab, then start it again."
                )
            )
    elif address is not None and not any(person.has_password for person in active):
        raise CannotRun(
            tr(
                "{address} can be reached from other machines, but nobody has a password yet. Start the app "
                "at 127.0.0.1, set passwords in the People tab, then start it again.",
                address=address,
            )
        )
    if store.queue.page(QueueFilter(), "", limit=1).total == 0:
        print(tr("Empty database: loading the demo (simulated spectra, drafts by the baseline)."), flush=True)
        load_demo(store)


def _run(app: FastAPI, settings: ServerSettings) -> None:
    # uvicorn ends by sending itself the signal that stopped it; what follows must run all the same.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    uvicorn.run(
        app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        log_config=None,  # uvicorn's log goes where ours does, in the same form
        server_header=False,
        proxy_headers=False,  # ``Forwarded`` applies them, and keeps the address of the connection
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


@contextmanager
def _private_uploads() -> Iterator[None]:
    """Keep uploaded files in a folder that only this user can read, and delete it at the end. Gradio's own
    choice is a folder that all users of the machine share and that is never emptied."""
    before = os.environ.get(UPLOAD_FOLDER)
    with tempfile.TemporaryDirectory(prefix="spec-o3-uploads-", dir=before, ignore_cleanup_errors=True) as folder:
        os.environ[UPLOAD_FOLDER] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ[UPLOAD_FOLDER]
            else:
                os.environ[UPLOAD_FOLDER] = before
