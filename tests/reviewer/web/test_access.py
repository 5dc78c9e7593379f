"""Who may read what: routes, addresses and file modes."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.routing import Mount, Route

from agent.cli.command import CannotRun
from app import main
from reviewer import server
from reviewer.store import QueueFilter, Store
from reviewer.ui.languages import PageInLanguage
from reviewer.web import settings
from reviewer.web.access import DOCUMENTS, GRADIO, GRADIO_FOLDERS, PUBLIC, PUBLIC_FOLDERS
from reviewer.web.auth import COOKIE
from reviewer.web.language import without_language
from reviewer.web.settings import ServerSettings
from tests.support.campaign import Desk, an_item, people
from tests.support.cli import free_port

HERE = "http://127.0.0.1:7860"
ALL_ROLES = ("RE", "AU", "CO")
COORDINATORS = ("CO",)
PASSWORD = "Balmer decrement"


def calls(listed: str, people: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The routes that are listed by method and path below /api/v1/, and these people."""
    calls, method = {}, ""
    for word in listed.split():
        if word.isupper():
            method = word
        else:
            calls[f"{method} /api/v1/{word}"] = people
    return calls


WITHOUT_PARAMETERS = calls(
    """
GET samp me queue facets first queue/stamp progress progress/agreement progress/trust groups live/policies live/prompts
live/bench comments/unread blind/work bulk find views tokens openapi.json docs exports
people verdict-first batches
""",
    ALL_ROLES,
) | calls(
    """
GET webhooks exports/status catalogues blind/setup blind/sessions log jobs
POST log/check people/password drafts/stop backups
""",
    COORDINATORS,
)
"""Our routes without parameters, and the people who get an answer."""

WITH_PARAMETERS = (
    calls(
        """
GET samp/position/{item_id}
place/{item_id} item/{item_id} item/{item_id}/history item/{item_id}/hints item/{item_id}/version/{number}
item/{item_id}/others item/{item_id}/opening item/{item_id}/checks item/{item_id}/comments item/{item_id}/similar
groups/{number} spectrum/{sha256} spectrum/{sha256}/lines spectrum/{sha256}/templates spectrum/{sha256}/loci
spectrum/{sha256}/sky spectrum/{sha256}/sky/period
templates/{template_id} sparklines measure atlas spectrum/{sha256}/model spectrum/{sha256}/exposures picture/{name}
live/health live/library live/spectrum/{sha256} live/runs/{run} live/runs/{run}/events live/runs/{run}/picture/{sha256}
live/runs/{run}/trace.json live/runs/{run}/strip.png live/runs/{run}/report.zip live/runs/{run}/trial/events
live/runs/{run}/trial/{number}/texts live/runs/{run}/trial/{number}/picture item/{item_id}/trial/{key}/{number}/texts
item/{item_id}/trial/{key}/{number}/picture progress/trust/thresholds progress/trust/suspects blind/sheet/{token}
blind/sheet/{token}/spectrum blind/sheet/{token}/atlas blind/sheet/{token}/picture/{trace}/{number}
exports/{export_id}/manifest views/{view_id} item/{item_id}/figure.{kind} item/{item_id}/spectrum.{kind}
live/runs/{run}/figure.{kind} live/runs/{run}/spectrum.{kind} live/bench/{row}/figure.{kind}
live/bench/{row}/spectrum.{kind} item/{item_id}/epochs
POST next item/{item_id}/lease item/{item_id}/autosave item/{item_id}/discard item/{item_id}/version
item/{item_id}/medium item/{item_id}/decide item/{item_id}/undo item/{item_id}/mark item/{item_id}/verdict
item/{item_id}/inspection item/{item_id}/statements item/{item_id}/comments item/{item_id}/thread/{thread}
item/{item_id}/comments/read similar groups zoom renew release live/files live/bench live/runs live/runs/{run}/stop
live/runs/{run}/review live/runs/{run}/trial live/runs/{run}/trial/stop blind/sheet/{token}/score
blind/sheet/{token}/prefer views views/{view_id} bulk/preview bulk bulk/{action}/undo find/rows tokens
samp/spectrum/{item_id} samp/table samp/rows
POST people/{initials}/password
DELETE live/bench live/bench/{row} live/runs/{run} views/{view_id} tokens/{token_id}
""",
        ALL_ROLES,
    )
    | calls(
        """
GET blind/sessions/{session}/giveaways blind/sessions/{session}/fingerprints blind/sessions/{session}/history
blind/sessions/{session}/report.html blind/sessions/{session}/report.zip progress/trust/certificate
exports/{export_id}/zip catalogues/{name}/zip webhooks/{webhook_id}/deliveries tables/{name}.{kind}
POST blind/preview blind/power blind/sessions blind/sessions/{session}/open blind/sessions/{session}/close exports
catalogues webhooks webhooks/{webhook_id}/start webhooks/{webhook_id}/test people people/{initials}/account
people/{initials}/login people/{initials}/active rules rules/preview verdict-first
drafts imports imports/cancel imports/resume annotations withdrawals
DELETE webhooks/{webhook_id}
""",
        COORDINATORS,
    )
    | calls("POST samp/call samp/fetch", ())
)
"""Our routes with parameters that name nothing existing, and the people who get past the check of roles.

What each person may decide in a round is checked by the store (``DECIDING``).
"""

TO_AUDIT = ("RE", "keep"), ("RE", "submit")
TO_VOTE = *TO_AUDIT, ("AX", "pass"), ("JU", "pass")
DECIDING: tuple[tuple[tuple[tuple[str, str], ...], str, tuple[str, ...]], ...] = (
    ((), "keep", ("RE", "CO")),
    ((("RE", "keep"),), "submit", ("RE", "CO")),
    (TO_AUDIT, "pass", ("AU", "CO")),
    (TO_VOTE, "approve", ("RE", "AU", "CO")),
    ((*TO_VOTE, ("CO", "approve")), "approve", ("RE", "AU")),
    ((*TO_VOTE, ("VO", "approve"), ("AX", "reject")), "approve", ("AU", "CO")),
)
"""Earlier decisions on an item, the next one, and the people who may take it."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("access") / "annotations.db") as store:
        for who, role in (("CO", "coordinator"), ("RE", "reviewer"), ("AU", "auditor"), ("EX", "coordinator")):
            store.accounts.add_person(who, who, [role], PASSWORD)
        yield store


@pytest.fixture(scope="module")
def app(store: Store) -> FastAPI:
    return server.build(store, local=True)


@pytest.fixture(scope="module")
def browsers(store: Store, app: FastAPI) -> dict[str, TestClient]:
    """Browsers without a session, of each role, and with the old cookie of an inactive person."""
    sessions = {who: {COOKIE: store.accounts.sign_in(who, PASSWORD).token} for who in (*ALL_ROLES, "EX")}
    store.accounts.deactivate("CO", "EX")
    people = {"no session": None, **sessions}
    return {who: TestClient(app, base_url=HERE, follow_redirects=False, cookies=own) for who, own in people.items()}


def routes(within: Any) -> list[tuple[str, str]]:
    """Method and path of every route, including those of mounted and included applications."""
    found = []
    for route in within.routes:
        mounted = isinstance(route, (Mount, PageInLanguage))
        inner = getattr(route, "app", None) if mounted else getattr(route, "original_router", None)
        if inner is not None:
            prefix = route.path if isinstance(route, Mount) else ""
            found += [(method, prefix + path) for method, path in routes(inner)]
        elif isinstance(route, Route):
            found += [(method, route.path) for method in sorted(route.methods or ())]
    assert found
    return found


def filled(path: str) -> str:
    """A path with a value in place of each parameter."""
    return re.sub(r"\{[^}]+\}", "1", path)


def access_of(method: str, path: str) -> str:
    path = without_language(path)
    if method in PUBLIC.get(path, ()) or (method in ("GET", "HEAD") and path.startswith(PUBLIC_FOLDERS)):
        return "public"
    if path.startswith("/api/v1/"):
        return "checked by the route"
    if method in GRADIO.get(path, ()) or path.startswith(GRADIO_FOLDERS):
        return "signed in"
    if path.startswith(DOCUMENTS):
        return "a page for people signed in"
    return "closed"


def test_without_a_session_only_public_routes_answer(app: FastAPI, browsers: dict[str, TestClient]) -> None:
    seen = set()
    for method, template in routes(app):
        path = filled(template)
        kind = access_of(method, path)
        seen.add(kind)
        for who in ("no session", "EX"):
            if kind == "public":
                continue
            status = browsers[who].request(method, path).status_code
            page = path == "/" or path.startswith(DOCUMENTS)
            expected = {"closed": 404, "checked by the route": 401}.get(kind, 303 if page else 401)
            assert status == expected, f"{who}: {method} {path}: {status}"
    assert seen == {"public", "checked by the route", "signed in", "a page for people signed in", "closed"}


GRADIO_ROUTES = """
/ /assets/{path:path} /config /config/ /favicon.ico /gradio_api/api/{api_name} /gradio_api/api/{api_name}/
/gradio_api/app_id /gradio_api/app_id/ /gradio_api/call/v2/{api_name} /gradio_api/call/v2/{api_name}/
/gradio_api/call/v2/{api_name}/{event_id} /gradio_api/call/{api_name} /gradio_api/call/{api_name}/
/gradio_api/call/{api_name}/{event_id} /gradio_api/cancel /gradio_api/component_server
/gradio_api/component_server/ /gradio_api/custom_component/{id}/{environment}/{type}/{file_name}
/gradio_api/deep_link /gradio_api/dev/reload /gradio_api/file/{path:path} /gradio_api/file={path_or_url:path}
/gradio_api/heartbeat/{session_hash} /gradio_api/info /gradio_api/info/ /gradio_api/login_check
/gradio_api/login_check/ /gradio_api/openapi.json /gradio_api/process_recording
/gradio_api/proxy={url_path:path} /gradio_api/queue/data /gradio_api/queue/join /gradio_api/queue/status
/gradio_api/reset /gradio_api/reset/
/gradio_api/run/{api_name} /gradio_api/run/{api_name}/ /gradio_api/runs /gradio_api/runs/
/gradio_api/startup-events /gradio_api/stream/{event_id} /gradio_api/stream/{event_id}/close
/gradio_api/stream/{session_hash}/{run}/{component_id}/playlist-file
/gradio_api/stream/{session_hash}/{run}/{component_id}/playlist.m3u8
/gradio_api/stream/{session_hash}/{run}/{component_id}/{segment_id}.{ext} /gradio_api/theme.css
/gradio_api/token /gradio_api/token/ /gradio_api/undo-vibe-edit /gradio_api/undo-vibe-edit/ /gradio_api/upload
/gradio_api/upload_progress /gradio_api/user /gradio_api/user/ /gradio_api/vibe-code /gradio_api/vibe-code/
/gradio_api/vibe-edit /gradio_api/vibe-edit/ /gradio_api/vibe-starter-queries
/gradio_api/vibe-starter-queries/ /login /login/ /logout /manifest.json /monitoring /monitoring/summary
/monitoring/{key} /openapi.json /pwa_icon /pwa_icon/{size} /robots.txt /static/{path:path} /svelte/{path:path}
/theme.css
"""
"""Every route that Gradio 6.31 mounts. Before one is added here, decide in access.py whether it is open."""


def test_every_route_that_gradio_mounts_was_reviewed(app: FastAPI) -> None:
    in_english = [route.app for route in app.routes if isinstance(route, Mount)]
    in_chinese = [route.app for page in app.routes if isinstance(page, PageInLanguage) for route in page.app.routes]
    for (mounted,) in (in_english, in_chinese):
        assert {path for _, path in routes(mounted)} == set(GRADIO_ROUTES.split())


def test_other_routes_of_gradio_are_closed_to_coordinators_too(app: FastAPI, browsers: dict[str, TestClient]) -> None:
    closed = [(m, filled(p)) for m, p in routes(app) if access_of(m, filled(p)) == "closed"]
    for part in ("/proxy=", "/file=", "/monitoring", "/deep_link", "/component_server", "/vibe", "/dev/reload"):
        assert any(part in path for _, path in closed), part
    for method, path in closed:
        answer = browsers["CO"].request(method, path)
        assert answer.status_code == 404, f"{method} {path}"
        assert method == "HEAD" or answer.json()["kind"] == "closed", f"{method} {path}"


@pytest.mark.parametrize("call", WITHOUT_PARAMETERS)
def test_routes_without_parameters_answer_the_listed_people(browsers: dict[str, TestClient], call: str) -> None:
    method, path = call.split()
    for who in ALL_ROLES:
        status = browsers[who].request(method, path).status_code
        assert status == (200 if who in WITHOUT_PARAMETERS[call] else 403), f"{who}: {call}: {status}"


def test_every_route_of_ours_is_in_the_tables(app: FastAPI) -> None:
    api_routes = {f"{method} {path}" for method, path in routes(app) if path.startswith("/api/v1/")}
    assert api_routes == set(WITHOUT_PARAMETERS) | set(WITH_PARAMETERS)


@pytest.mark.parametrize("call", WITH_PARAMETERS)
def test_routes_with_parameters_refuse_all_but_the_listed_people(browsers: dict[str, TestClient], call: str) -> None:
    method, path = call.split()
    for who in ALL_ROLES:
        sent = {} if method == "GET" else {"json": {}}
        status = browsers[who].request(method, filled(path), **sent).status_code
        if who in WITH_PARAMETERS[call]:
            assert status in (200, 404, 409, 422), f"{who}: {call}: {status}"
        else:
            assert status == 403, f"{who}: {call}: {status}"


@pytest.fixture(scope="module")
def deciding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, TestClient]]:
    """A store with people in it, and its app."""
    with Store.open(tmp_path_factory.mktemp("deciding") / "annotations.db") as store:
        people(store)
        for who in ALL_ROLES:
            store.accounts.set_password("CO", who, PASSWORD)
        yield store, TestClient(server.build(store, local=True), base_url=HERE)


@pytest.mark.parametrize(("before", "verb", "allowed"), DECIDING)
def test_only_the_listed_people_may_decide_in_a_round(
    deciding: tuple[Store, TestClient], before: tuple[tuple[str, str], ...], verb: str, allowed: tuple[str, ...]
) -> None:
    store, client = deciding
    for who in ALL_ROLES:
        # Each person gets a new item with the decisions ``before`` only.
        item = an_item(store, store.queue.page(QueueFilter(), "").total)
        if before:
            Desk(store).until(item, *before)
        client.cookies.set(COOKIE, store.accounts.sign_in(who, PASSWORD).token)
        lease = client.post(f"/api/v1/item/{item}/lease").json().get("lease", "none")
        head = store.log.head()
        version = store.items.get(item).version.id
        body = {"version": version, "verb": verb, "key": f"once-and-once-{item}", "lease": lease}
        status = client.post(f"/api/v1/item/{item}/decide", json=body).status_code
        assert status == (200 if who in allowed else 403), f"{who}: {verb}: {status}"
        assert (store.log.head() != head) == (who in allowed)


OUTSIDE = """
/ui/..%2fannotations.db /ui/%2e%2e/server.py /ui/..%5cserver.py /ui/..%2f..%2f..%2fagent%2ftasks%2fcv.toml
/ui/%2fetc%2fpasswd /ui//etc/passwd /ui/vendor/plotly.min.js /ui/vendor%2fplotly.min.js /ui/server.py
/ui/sign_in.html /ui/ /ui/review/review.js%00.css /assets/a%00.js /static/a%00.js /annotations.db
/static/..%2f..%2fannotations.db /assets/..%2f..%2f..%2fetc%2fpasswd /assets/%2fetc%2fpasswd /static/%2fetc%2fpasswd
/gradio_api/file=annotations.db
"""
LONG = [
    "/ui/" + "a" * 5_000 + ".js",
    "/assets/" + "a" * 5_000 + ".js",
    "/static/" + "a" * 5_000 + ".js",
    "/static/" + "%C3%9F" * 150 + ".js",
]


@pytest.mark.parametrize("path", [*OUTSIDE.split(), *LONG])
def test_no_path_leads_outside_the_served_folders(store: Store, browsers: dict[str, TestClient], path: str) -> None:
    for given in (path, path.replace("annotations.db", str(store.path.resolve()).replace("/", "%2f"))):
        for who in ("no session", "CO"):
            answer = browsers[who].get(given)
            assert 400 <= answer.status_code < 500, f"{who}: {given}: {answer.status_code}"
            assert b"SQLite format" not in answer.content
            assert b"root:" not in answer.content


def test_requests_of_other_sites_are_refused(app: FastAPI, browsers: dict[str, TestClient]) -> None:
    for headers in (
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
    ):
        for method, template in routes(app):
            answer = browsers["CO"].request(method, filled(template), headers=headers)
            assert answer.status_code == 403, f"{headers}: {method} {template}: {answer.status_code}"
            assert "access-control-allow-origin" not in answer.headers


def test_a_link_on_another_site_opens_only_the_page(browsers: dict[str, TestClient]) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert browsers["CO"].get("/", headers=link).status_code == 200
    assert browsers["CO"].post("/sign-out", headers=link).status_code == 403


def test_without_passwords_only_this_machines_own_names_are_answered(tmp_path: Path) -> None:
    with Store.open(tmp_path / "alone.db") as alone:
        alone.accounts.work_alone("ME")
        app = server.build(alone, local=True)
        rebound = TestClient(app, base_url="http://rebound.example:7860", follow_redirects=False)
        proxied = TestClient(app, base_url=HERE, headers={"X-Forwarded-For": "203.0.113.9"})
        for path in ("/", "/sign-in", "/api/v1/me", "/ui/review/review.js", "/gradio_api/info", "/nowhere"):
            assert rebound.get(path).status_code == proxied.get(path).status_code == 403, path


def test_every_response_has_the_security_headers(app: FastAPI, browsers: dict[str, TestClient]) -> None:
    for path in ("/", "/sign-in", "/api/v1/me", "/ui/review/review.js", "/nowhere", "/gradio_api/file=/etc/passwd"):
        headers = browsers["CO"].get(path).headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert headers["cross-origin-resource-policy"] == "same-origin", path


def test_the_policy_allows_only_the_inline_scripts_of_the_response(browsers: dict[str, TestClient]) -> None:
    page = browsers["CO"].get("/")
    scripts = page.headers["content-security-policy"].split("script-src ")[1].split(";")[0]
    inline = re.findall(r"<script(?![^>]* src=)[^>]*>(.*?)</script>", page.text, re.DOTALL)
    assert len(inline) > 2
    for script in inline:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in scripts
    assert scripts.count("'sha256-") == len(inline)
    assert "'unsafe-inline'" not in scripts
    assert "'self'" not in scripts
    scripts_of_gradio = re.findall(r'src="(\./assets/[^"]*)"', page.text)
    assert re.findall(r'<script[^>]* src="([^"]*)"', page.text) == ["ui/language/en.js", *scripts_of_gradio]


def test_a_query_of_the_page_changes_nothing(browsers: dict[str, TestClient]) -> None:
    """Gradio would load a stored state or another page that the query names."""
    page, other = browsers["CO"].get("/"), browsers["CO"].get("/?deep_link=abc&page=other")
    assert (other.status_code, other.text) == (200, page.text)


def test_only_coordinators_upload_files_and_no_upload_can_be_downloaded(browsers: dict[str, TestClient]) -> None:
    page = {"files": ("page.html", b"<script>1</script>", "text/html")}
    assert browsers["RE"].post("/gradio_api/upload", files=page).status_code == 403
    uploaded = browsers["CO"].post("/gradio_api/upload", files=page).json()[0]
    assert Path(uploaded).is_file()
    for who in browsers.values():
        assert who.get(f"/gradio_api/file={uploaded}").status_code == 404
    Path(uploaded).unlink()


REFUSED = "can be reached from other machines, but nobody has a password yet"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database with a coordinator and a reviewer, neither of whom has a password."""
    path = tmp_path / "annotations.db"
    with Store.open(path) as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"])
        store.accounts.add_person("EX", "Exa", ["reviewer"])
        an_item(store)  # into an empty one the server loads the demo
    return path


@pytest.fixture
def started_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses at which the server was started; it does not really listen."""
    hosts: list[str] = []
    monkeypatch.setattr(server, "_run", lambda app, settings: hosts.append(settings.host))
    return hosts


def serve(db: Path, host: str, public: str | None = None) -> None:
    server.serve(ServerSettings(db, host, free_port(), open_browser=False, public=public))


EVERYWHERE = ["0.0.0.0", "::", "", socket.gethostname(), "127.0.0.1.example.org"]


def test_a_public_address_or_proxy_needs_the_password_of_an_active_person(
    db: Path, started_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(db) as store:
        store.accounts.set_password(None, "EX", PASSWORD)
        store.accounts.deactivate(None, "EX")
    with monkeypatch.context() as patch:
        patch.setattr(settings, "require_free", lambda host, port: None)  # a name need not be known here
        for host in EVERYWHERE:
            with pytest.raises(CannotRun, match=REFUSED):
                serve(db, host)
    with pytest.raises(CannotRun, match=f"https://review.example.org {REFUSED}"):
        serve(db, "127.0.0.1", "https://review.example.org")
    assert started_at == []
    with Store.open(db) as store:
        store.accounts.set_password(None, "CO", PASSWORD)
    serve(db, "0.0.0.0")
    assert started_at == ["0.0.0.0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "localhost"])
def test_a_local_address_needs_no_password(db: Path, started_at: list[str], host: str) -> None:
    serve(db, host)
    assert started_at == [host]


posix = pytest.mark.skipif(os.name != "posix", reason="file modes exist on POSIX only")


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """An umask of 0: the program must set file modes itself."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.usefixtures("open_to_all")
def test_a_new_database_its_journals_and_backups_are_private(tmp_path: Path) -> None:
    db = tmp_path / "annotations.db"
    with Store.open(db) as store:
        store.accounts.add_person("AB", "Ada", ["coordinator"], PASSWORD)
        modes = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert modes == {f"annotations.db{end}": 0o600 for end in ("", "-wal", "-shm")}
    copy = tmp_path / "copy.db"
    assert main(["backup", "--out", str(copy), "--db", str(db), "--json"]) == 0
    assert main(["backup", "--plain", "--out", str(tmp_path / "plain"), "--db", str(db), "--json"]) == 0
    db.unlink()
    assert main(["restore", str(copy), "--db", str(db), "--json"]) == 0
    modes = {path.name: mode(path) for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".json"}
    assert set(modes.values()) == {0o600}, modes


@posix
@pytest.mark.usefixtures("open_to_all")
def test_an_existing_file_keeps_its_mode_and_the_doctor_reports_who_can_read_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "annotations.db"
    with Store.open(db):
        pass
    doctor = ["doctor", "database", "--db", str(db), "--json"]
    remedy = f"unless this is intended: chmod 600 {db}*"
    status = main(doctor)
    assert remedy not in capfd.readouterr().out
    db.chmod(0o640)
    with Store.open(db) as store:
        store.accounts.people()
    assert mode(db) == 0o640
    assert main(doctor) == status, "a remark, no failure"
    report = capfd.readouterr().out
    assert "mode 0640" in report
    assert remedy in report


def test_the_manifest_and_its_icons_are_ours_and_open_without_a_session(browsers: dict[str, TestClient]) -> None:
    manifest = browsers["no session"].get("/manifest.json")
    assert manifest.headers["content-type"] == "application/manifest+json"
    assert manifest.json()["name"] == "Spec-o3"
    for address in ("/favicon.ico", *{icon["src"] for icon in manifest.json()["icons"]}):
        answer = browsers["no session"].get(urljoin("/manifest.json", address))
        assert (answer.status_code, answer.content[:4]) == (200, b"\x89PNG"), address
    assert browsers["no session"].get("/pwa_icon/100000").status_code == 404
