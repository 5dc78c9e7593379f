"""The forms of tokens, sign-in names and webhooks in the People tab, and the page of the API."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from reviewer.store import Store
from reviewer.web.background.webhooks import WebhookSender
from tests.browser.support.review_app import frames, serving_here
from tests.support.campaign import TO_VOTE, Desk, an_item, people, stopped_webhook

pytestmark = pytest.mark.browser
PASSWORD = "Balmer decrement"
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tokens") / "annotations.db"
    with Store.open(path) as store:
        people(store)
        for initials in ("CO", "RE"):
            store.accounts.set_password("CO", initials, PASSWORD)
    return path


@pytest.fixture
def store(prepared: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copy(prepared, tmp_path))) as store:
        yield store


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with serving_here(store, webhooks=WebhookSender(store, "http://127.0.0.1", every=0.05)) as here:
        yield here


@contextmanager
def receiving() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(HOSTILE.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}/hook"
        http.shutdown()


def open_people(page: Page, address: str, initials: str) -> None:
    page.goto(f"{address}/sign-in")
    page.fill("input[name=initials]", initials)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/sign-in" not in url)
    page.get_by_role("tab", name="People", exact=True).click()
    expect(page.get_by_role("button", name="Make a token")).to_be_visible()


def shown(page: Page, label: str) -> str:
    """What is shown once in the field with this label."""
    field = page.locator(f"label:has(span:text-is('{label}')) :is(input, textarea)")
    expect(field).to_be_visible()
    return field.input_value()


@pytest.mark.smoke
def test_a_reviewer_makes_a_token_and_revokes_it(store: Store, address: str, page: Page) -> None:
    open_people(page, address, "RE")
    expect(page.get_by_role("heading", name="Webhooks")).to_be_hidden()
    expect(page.get_by_text("No tokens.")).to_be_visible()
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_text("Name of the token: found ''")).to_be_visible()
    page.get_by_label("Name of the new token").fill(HOSTILE)
    page.get_by_label("May", exact=True).click()
    page.get_by_role("option", name="read and write").click()
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_text("now: it is not shown again.")).to_be_visible()
    secret = shown(page, "New token")
    assert httpx.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).json()["initials"] == "RE"
    (token,) = store.tokens.listed("RE")
    assert (token.name, token.may_write) == (HOSTILE, True)
    page.get_by_role("tab", name="Data", exact=True).click()
    page.get_by_role("tab", name="People", exact=True).click()
    expect(page.get_by_text("last used")).to_be_visible()
    expect(page.get_by_text("New token", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The token is revoked")).to_be_visible()
    assert store.tokens.listed("RE") == []
    assert page.title() != "1"


def test_a_second_click_revokes_no_other_token_and_deletes_no_other_webhook(
    store: Store, address: str, page: Page
) -> None:
    for number in (1, 2):
        store.tokens.make("CO", f"token {number}", False, 30)
        store.webhooks.add("CO", f"https://example.org/{number}", ["approved"])
    open_people(page, address, "CO")
    expect(page.get_by_text("token 2").first).to_be_visible()
    expect(page.get_by_role("button", name="Delete", exact=True)).to_be_visible()
    for button, done, choose in (
        ("Revoke", "The token is revoked", "Choose a token first."),
        ("Delete", "The webhook is deleted", "Choose a webhook first."),
    ):
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_text(done)).to_be_visible()
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_text(choose)).to_be_visible()
    assert len(store.tokens.listed("CO")) == len(store.webhooks.listed("CO")) == 1


def test_a_coordinator_adds_a_webhook_and_sees_what_was_delivered(store: Store, address: str, page: Page) -> None:
    item = an_item(store)
    with receiving() as url:
        open_people(page, address, "CO")
        page.get_by_label("Address of the new webhook").fill("http://example.org")
        page.get_by_role("button", name="Add a webhook").click()
        expect(page.get_by_text("found http://example.org, expected https")).to_be_visible()
        page.get_by_label("Address of the new webhook").fill(url)
        page.get_by_role("button", name="Add a webhook").click()
        expect(page.get_by_text("Copy the secret now")).to_be_visible()
        assert shown(page, "Secret that signs its messages").startswith("whsec_")
        page.get_by_role("button", name="Send a test").click()
        expect(page.get_by_text(f"The test message was delivered: 200 OK {HOSTILE}")).to_be_visible()
        Desk(store).until(item, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        while store.webhooks.deliveries("CO", 1)[0].delivered_at is None:
            time.sleep(0.05)
        page.get_by_role("tab", name="Data", exact=True).click()
        page.get_by_role("tab", name="People", exact=True).click()
        expect(page.get_by_role("cell", name=f"delivered 200 OK {HOSTILE}")).to_be_visible()
        page.get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("The webhook is deleted")).to_be_visible()
    assert store.webhooks.listed("CO") == []
    assert page.title() != "1"


def test_a_coordinator_starts_a_webhook_again_that_was_stopped(store: Store, address: str, page: Page) -> None:
    store.webhooks.add("CO", "https://example.org/b", ["approved"])
    number = stopped_webhook(store)
    open_people(page, address, "CO")
    row = page.get_by_role("row", name=f"{number} https://example.org/a")
    expect(row).to_contain_text("stopped Nothing was delivered since 20")
    expect(row).to_contain_text("11 were not delivered")
    again = page.get_by_role("button", name="Start again")
    expect(again).to_be_hidden()  # the first webhook is chosen, which is not stopped
    page.get_by_label("Webhook", exact=True).click()
    page.get_by_role("option", name=f"{number} · https://example.org/a").click()
    expect(page.get_by_text("Dropped: the webhook is stopped.")).to_be_visible()
    for width in (390, 820, 1366):
        page.set_viewport_size({"width": width, "height": 900})
        again.scroll_into_view_if_needed()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert row.evaluate("(row) => row.closest('.so-table').scrollWidth <= row.closest('.so-table').clientWidth")
    again.click()
    expect(page.get_by_text("The webhook is started again")).to_be_visible()
    expect(again).to_be_hidden()
    expect(row).not_to_contain_text("stopped")
    assert store.webhooks.listed("CO")[1].stopped_at is None


def test_a_coordinator_sets_a_sign_in_name(store: Store, address: str, page: Page) -> None:
    open_people(page, address, "CO")
    page.get_by_role("button", name="Sign-in through a proxy").click()
    field = page.get_by_placeholder("Sign-in name at your provider")
    expect(field).to_be_visible()
    # Gradio (6.31) sets the value of a folded field once more in the frame in which it is first seen.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))")
    field.fill("Cora@Example.org")
    page.get_by_role("button", name="Set sign-in name").click()
    expect(page.get_by_text("The proxy signs cora@example.org in as CO now.")).to_be_visible()
    assert store.logins.of_people() == {"CO": "cora@example.org"}


def test_the_page_of_the_api_fits_its_window(store: Store, address: str, page: Page) -> None:
    open_people(page, address, "CO")
    refused: list[str] = []
    # Gradio reports the requests that end with its page; only what the policy of the new page refuses counts.
    page.on("console", lambda message: refused.append(message.text) if "Security Policy" in message.text else None)
    page.get_by_role("link", name="What a script can do").click()
    expect(page.locator("#operations-Review-queue_api_v1_queue_get")).to_be_visible()
    for width in (390, 820, 1366):
        page.set_viewport_size({"width": width, "height": 900})
        frames(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert refused == []
