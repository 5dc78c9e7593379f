"""Two apps below paths of one host, behind a real nginx with TLS: one proxy takes the path off, the other keeps it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from getpass import getuser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from tests.browser.support.live_app import choose, write_csv
from tests.browser.support.review_app import PASSWORD, open_tab, start
from tests.support import cli
from tests.support.chromium import TOUR_SEEN

_SERVER = """
daemon off; user {user};
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto http; # wrong on purpose
    proxy_buffering off;
    client_max_body_size 5m;
    location /review/ {{ proxy_pass http://127.0.0.1:{strips}/; }}
    location /review/api/v1/live/files {{ proxy_pass http://127.0.0.1:{strips}/api/v1/live/files; }}
    location /other/ {{ proxy_pass http://127.0.0.1:{keeps}; }}
    location / {{ return 500; }}
  }}
}}
"""


def _nginx() -> str:
    """Return the program. Debian's package is fetched if this process may, as tests/browser/get-chromium.sh does."""
    if shutil.which("nginx") is None and shutil.which("apt-get") is not None:
        subprocess.run(["apt-get", "install", "-y", "-qq", "nginx-light"], capture_output=True, check=False)
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed here and could not be (Debian: apt-get install nginx-light)")
    return program


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a host that has an app at /review/ and another at /other/."""
    program, folder = _nginx(), tmp_path_factory.mktemp("proxy")
    key = ["-nodes", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", *key, "-days", "2", "-subj", "/CN=127.0.0.1"],
        check=True,
        capture_output=True,
    )
    port, strips, keeps = (cli.free_port() for _ in range(3))
    (folder / "nginx.conf").write_text(
        _SERVER.format(folder=folder, port=port, strips=strips, keeps=keeps, user=getuser())
    )
    address = f"https://127.0.0.1:{port}"
    with _app(folder / "review", strips, f"{address}/review/"), _app(folder / "other", keeps, f"{address}/other"):
        proxy = subprocess.Popen([program, "-c", folder / "nginx.conf", "-p", folder])
        try:
            yield address
        finally:
            proxy.terminate()
            proxy.wait(60)


@contextmanager
def _app(folder: Path, port: int, public: str) -> Iterator[None]:
    folder.mkdir()
    db = folder / "annotations.db"
    with closing(Store.open(db)) as store:
        for initials in ("CO", "RE"):
            store.accounts.add_person(initials, initials, ["reviewer", "coordinator"], password=PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in demo.demo_items())
    process = start(db, port, "--no-backups", "--behind", public, host=urlsplit(public).netloc)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def _browser(chromium: Browser, host: str, *paths: str) -> Iterator[Page]:
    """A page. Every request goes to one of the paths and succeeds; no error is on the page."""
    wrong: list[str] = []
    with chromium.new_context(viewport={"width": 1366, "height": 768}, ignore_https_errors=True) as context:
        context.add_init_script(TOUR_SEEN)
        context.set_default_timeout(60_000)

        def follow(page: Page) -> None:
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)

        context.on("page", follow)
        context.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("data:", "blob:", *(f"{host}{path}" for path in paths)))
                else wrong.append(f"a request of {request.url}")
            ),
        )
        context.on(
            "response",
            lambda answer: wrong.append(f"{answer.status} of {answer.url}") if answer.status >= 400 else None,
        )
        yield context.new_page()
    assert not wrong, wrong


def _sign_in(page: Page, url: str, initials: str) -> None:
    page.goto(url)
    page.wait_for_url(f"{url}sign-in")
    page.fill("input[name=initials]", initials)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda at: at.startswith(url) and "sign-in" not in at)
    expect(page.locator(".so-review .decision-bar")).to_be_visible()


@pytest.mark.parametrize("path", ["/review/", "/other/"])
def test_the_page_works_below_a_path(chromium: Browser, host: str, path: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "star.csv")
    url = f"{host}{path}"
    with _browser(chromium, host, path) as page:
        _sign_in(page, url, "CO")
        page.get_by_role("button", name="Skip the tour").click()
        page.keyboard.press("a")
        page.wait_for_function(
            "[...document.querySelectorAll('.so-review .so-agent img')].some((i) => i.complete && i.naturalWidth)"
        )
        with page.expect_response(lambda answer: answer.url.endswith("/decide")) as decided:
            page.locator(".decision-bar button", has_text="Keep").first.click()
        assert decided.value.url.startswith(f"{url}api/v1/item/")

        open_tab(page, "Live")
        with page.expect_response(lambda answer: answer.url.endswith("/live/files")) as uploaded:
            page.locator(".so-live input[type=file]").set_input_files(tmp_path / "star.csv")
        assert uploaded.value.status == 200, uploaded.value.text()
        choose(page, "baseline")
        page.locator(".so-live .decision-bar .run").click()
        page.wait_for_function("document.querySelectorAll('.so-live .trace .card').length > 2")

        open_tab(page, "Data")
        with page.expect_download() as download:
            page.locator("a[href$='decisions.csv']").click()
        assert download.value.url == f"{url}api/v1/tables/decisions.csv"
        assert b"," in Path(download.value.path()).read_bytes()
        page.get_by_role("button", name="Add spectra …").click()
        page.get_by_label("Files", exact=True).set_input_files(tmp_path / "star.csv")
        page.get_by_label("Question: is it a …").select_option("cv")
        with page.expect_response(lambda answer: answer.url == f"{url}api/v1/drafts") as drafting:
            page.get_by_role("button", name="Draft", exact=True).click()
        assert drafting.value.status == 200, drafting.value.text()

        for address in ("docs/", "docs/zh/reviewing.md"):
            page.goto(url + address)
            assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none", address
            page.locator("header a").first.click()
            page.wait_for_url(lambda at: at.split("#")[0] == url)

        page.context.add_cookies([{"name": "so-language", "value": "zh", "url": url + "x", "secure": True}])
        page.goto(url)
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.locator("#so-tabs button[role=tab]").nth(5).click()
        expect(page.locator(".so-data tbody tr").first).to_be_visible()
        page.locator("#so-tabs button[role=tab]").nth(6).click()
        expect(page.locator(".so-people tbody tr").first).to_be_visible()


def test_two_apps_of_one_host_keep_their_sessions_and_unsent_text_apart(chromium: Browser, host: str) -> None:
    with _browser(chromium, host, "/review/", "/other/") as page:
        _sign_in(page, f"{host}/review/", "CO")
        page.evaluate("import('./ui/common/browser_storage.js').then((m) => m.lasting.set('so-mine', 'text'))")
        _sign_in(page, f"{host}/other/", "RE")
        both = "[m.lasting.get('so-mine'), m.lasting.names('so-mine')]"
        kept = f"import('./ui/common/browser_storage.js').then((m) => {both})"
        assert page.evaluate(kept) == [None, []]
        who = "fetch('api/v1/me').then((answer) => answer.json()).then((me) => me.initials)"
        assert page.evaluate(who) == "RE"
        page.goto(f"{host}/review/")
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        assert (page.evaluate(who), page.evaluate(kept)) == ("CO", ["text", ["so-mine"]])
        sessions = [cookie for cookie in page.context.cookies() if cookie["name"] == "spec_o3_session"]
        assert sorted(cookie["path"] for cookie in sessions) == ["/other/", "/review/"]
        assert all(cookie["secure"] and cookie["httpOnly"] for cookie in sessions)
        page.goto("about:blank")  # or it would ask for more, signed out
        page.request.post(f"{host}/review/sign-out", max_redirects=0)
        page.goto(f"{host}/other/")
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        assert page.evaluate(who) == "RE"
