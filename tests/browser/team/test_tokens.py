"""The dialogs of tokens, sign-in names and webhooks in the People tab, and the page of the API."""

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
from playwright.sync_api import Locator, Page, expect

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


def open_people(page: Page, address: str, initials: str, dialog: str = "API tokens") -> Locator:
    """Open a dialog of the People tab."""
    page.goto(f"{address}/sign-in")
    page.fill("input[name=initials]", initials)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/sign-in" not in url)
    page.get_by_role("tab", name="People", exact=True).click()
    return open_dialog(page, dialog)


def open_dialog(page: Page, name: str) -> Locator:
    page.locator(".so-people").get_by_role("button", name=name).click()
    return page.get_by_role("dialog", name=name)


@pytest.mark.smoke
def test_a_reviewer_makes_a_token_and_revokes_it(store: Store, address: str, page: Page) -> None:
    store.tokens.make("CO", "of another person", False, 30)
    dialog = open_people(page, address, "RE")
    expect(dialog.get_by_text("No tokens.")).to_be_visible()
    dialog.get_by_role("button", name="Make a token").click()
    assert dialog.get_by_label("Name of the new token").evaluate("(field) => field.validity.valueMissing")
    dialog.get_by_label("Name of the new token").fill(HOSTILE)
    dialog.get_by_label("May").select_option("read and write")
    dialog.get_by_label("Ends").select_option("in 365 days")
    dialog.get_by_role("button", name="Make a token").click()
    expect(dialog.get_by_text("now: it is not shown again.")).to_be_visible()
    secret = dialog.get_by_label("New token", exact=True).input_value()
    (token,) = store.tokens.listed("RE")
    assert (token.name, token.may_write) == (HOSTILE, True)
    assert token.expires_at is not None
    assert (token.expires_at - token.made_at).days == 365
    assert httpx.get(f"{address}/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).json()["initials"] == "RE"
    page.keyboard.press("Escape")
    open_dialog(page, "API tokens")
    expect(dialog.get_by_text("last used")).to_be_visible()
    expect(dialog.get_by_label("New token", exact=True)).to_have_count(0)
    dialog.get_by_role("button", name="Revoke").click()
    expect(dialog.get_by_text("The token is revoked")).to_be_visible()
    assert store.tokens.listed("RE") == []
    assert page.title() != "1"


def test_a_second_click_revokes_no_other_token_and_deletes_no_other_webhook(
    store: Store, address: str, page: Page
) -> None:
    for number in (1, 2):
        store.tokens.make("CO", f"token {number}", False, 30)
        store.webhooks.add("CO", f"https://example.org/{number}", ["approved"])
    tokens = open_people(page, address, "CO")
    tokens.get_by_role("button", name="Revoke").first.dblclick()
    expect(tokens.get_by_text("The token is revoked")).to_be_visible()
    expect(tokens.get_by_text("revoked", exact=True)).to_have_count(1)
    page.keyboard.press("Escape")
    webhooks = open_dialog(page, "Webhooks")
    webhooks.get_by_role("button", name="Delete").first.dblclick()
    expect(webhooks.get_by_text("The webhook is deleted")).to_be_visible()
    expect(webhooks.get_by_text("deleted", exact=True)).to_have_count(1)
    assert len(store.tokens.listed("CO")) == len(store.webhooks.listed("CO")) == 1


@pytest.mark.smoke
def test_a_coordinator_adds_a_webhook_and_sees_what_was_delivered(store: Store, address: str, page: Page) -> None:
    item = an_item(store)
    with receiving() as url:
        dialog = open_people(page, address, "CO", "Webhooks")
        expect(dialog.get_by_text("No webhooks.")).to_be_visible()
        dialog.get_by_label("Address of the new webhook").fill("http://example.org")
        dialog.get_by_role("button", name="Add a webhook").click()
        expect(dialog.get_by_text("found http://example.org, expected https")).to_be_visible()
        dialog.get_by_label("Address of the new webhook").fill(url)
        dialog.get_by_role("button", name="Add a webhook").click()
        expect(dialog.get_by_text("Copy the secret now")).to_be_visible()
        assert dialog.get_by_label("Secret that signs its messages").input_value().startswith("whsec_")
        dialog.get_by_role("button", name="Send a test").click()
        expect(dialog.get_by_text(f"The test message was delivered: 200 OK {HOSTILE}")).to_be_visible()
        Desk(store).until(item, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        while store.webhooks.deliveries("CO", 1)[0].delivered_at is None:
            time.sleep(0.05)
        dialog.locator("summary", has_text="Last deliveries").click()
        expect(dialog.get_by_role("cell", name=f"delivered 200 OK {HOSTILE}")).to_be_visible()
        expect(dialog.get_by_role("link", name=f"#{item}")).to_be_visible()
        dialog.get_by_role("button", name="Delete").click()
        expect(dialog.get_by_text("The webhook is deleted")).to_be_visible()
    assert store.webhooks.listed("CO") == []
    assert page.title() != "1"


def test_a_coordinator_starts_a_webhook_again_that_was_stopped(store: Store, address: str, page: Page) -> None:
    store.webhooks.add("CO", "https://example.org/b", ["approved"])
    number = stopped_webhook(store)
    dialog = open_people(page, address, "CO", "Webhooks")
    stopped = dialog.get_by_role("region", name="https://example.org/a")
    expect(stopped).to_contain_text(f"{number} · https://example.org/a")
    expect(stopped).to_contain_text("stopped Nothing was delivered since 20")
    expect(stopped).to_contain_text("11 were not delivered")
    again = dialog.get_by_role("button", name="Start again")
    expect(again).to_have_count(1)  # the other webhook is not stopped
    stopped.locator("summary").click()
    expect(stopped.get_by_text("Dropped: the webhook is stopped.")).to_be_visible()
    for width in (390, 820, 1366):
        page.set_viewport_size({"width": width, "height": 900})
        again.scroll_into_view_if_needed()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert dialog.evaluate("(dialog) => dialog.scrollWidth <= dialog.clientWidth")
    again.click()
    expect(dialog.get_by_text("The webhook is started again")).to_be_visible()
    expect(again).to_be_hidden()
    expect(stopped).not_to_contain_text("stopped")
    assert store.webhooks.listed("CO")[1].stopped_at is None


def test_a_coordinator_sets_a_sign_in_name(store: Store, address: str, page: Page) -> None:
    open_people(page, address, "CO")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Change RE").click()
    dialog = page.get_by_role("dialog", name="RE")
    dialog.locator("summary", has_text="Sign-in through a proxy").click()
    dialog.get_by_label("Sign-in name at your provider").fill("Rosa@Example.org")
    dialog.get_by_role("button", name="Set sign-in name").click()
    expect(page.get_by_text("The proxy signs rosa@example.org in as RE now.")).to_be_visible()
    expect(page.locator(".so-people").get_by_role("row", name="Change RE")).to_contain_text("rosa@example.org")
    assert store.logins.of_people() == {"RE": "rosa@example.org"}


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
