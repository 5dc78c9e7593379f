"""The tabs and dialogs in the pseudo-language: a text outside ⟦ and ⟧ is no message.

tests/test_language.py and ESLint find such texts in our sources; here are those of Gradio and of the drawn page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agent.language import PSEUDO
from tests.browser.language.campaign import EXPORT, PAIR, REJECTED, RETURNED, SCORERS, TALK, VOTE, campaign
from tests.browser.language.walk import Walk, said, sign_in
from tests.browser.support.review_app import serving, show_item
from tests.support.chromium import profile

pytestmark = pytest.mark.browser
DIALOG = "dialog.panel"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(campaign(tmp_path_factory.mktemp("language") / "annotations.db"), SPEC_O3_PSEUDO="1") as address:
        yield address


@contextmanager
def pseudo_page(chromium: Browser, url: str) -> Iterator[Page]:
    with profile(chromium) as context:
        context.add_cookies([{"name": "so-language", "value": PSEUDO, "url": url}])
        page = context.new_page()
        page.goto(url)
        yield page


@pytest.fixture(scope="module")
def desk(chromium: Browser, url: str) -> Iterator[Page]:
    """The page of a person with all roles, for all tests of a module."""
    with pseudo_page(chromium, url) as page:
        sign_in(page, "AA")
        yield page


@pytest.fixture
def walk(desk: Page) -> Walk:
    return Walk(desk)


def test_review_and_its_dialogs(walk: Walk) -> None:
    page = walk.page
    for item in (PAIR, RETURNED, REJECTED, VOTE, TALK):
        show_item(page, item)
        walk.look(f"item {item}")
        walk.key("h", DIALOG)
    for key in ("x", "m", "?"):
        walk.key(key, DIALOG)
    for key, pane in (("g", ".guide-text"), ("Shift+Q", "input.z")):
        page.keyboard.press(key)
        expect(page.locator(f".so-review .evidence {pane}")).to_be_visible()
        walk.look(f"key {key}")
    page.keyboard.press("Shift+H")
    for step in range(4):
        walk.look(f"tour {step + 1}")
        page.locator(".so-tour button.primary").click()
    page.locator(".so-help .help").click()
    walk.look("help menu")
    page.keyboard.press("Escape")
    panes = page.locator(".so-review .evidence [role=tab]")
    expect(panes).to_have_count(7)
    for pane in panes.all():
        pane.click()
        walk.look("evidence")
    page.locator(".so-review .evidence .close").click()
    for opener in (".item .name", ".so-more", ".step-more"):
        page.locator(f".so-review {opener}").first.click()
        walk.look(opener)
        page.keyboard.press("Escape")
    show_item(page, PAIR)
    page.locator(".so-review button.others").click()
    walk.look("other traces")
    page.locator(".others-sheet button").first.click()
    expect(page.locator(".so-review .steps.second .differences")).to_be_visible()
    walk.look("two traces")
    page.locator(".so-review .steps.second .close").click()
    walk.check()
    page.evaluate("document.querySelector('.so-top').append('Some words')")
    walk.look("planted")
    with pytest.raises(AssertionError, match="Some words"):
        walk.check()
    page.evaluate("document.querySelector('.so-top').lastChild.remove()")


def test_find_live_and_progress(walk: Walk) -> None:
    page = walk.page
    walk.tab("find", ".so-find tbody.hit")
    page.locator(f".so-find tbody[data-item='{TALK}'] .tick input").check()
    for name in ("Reject …", "Assign …", "Set batch …", "Save as list …", "Save view …", "Past actions …"):
        walk.press(name, ".so-find")
        page.keyboard.press("Escape")
    walk.tab("live", ".so-live .decision-bar .run")
    for opener in (".settings", ".download"):
        if page.locator(f".so-live {opener}").first.is_enabled():
            page.locator(f".so-live {opener}").first.click()
            walk.look(f"live {opener}")
            page.keyboard.press("Escape")
    walk.tab("progress", ".so-progress .chart svg text")
    walk.press("Audit log …", ".so-progress")
    walk.press("Verify", DIALOG)
    page.keyboard.press("Escape")
    walk.check()


def test_blind_sessions(walk: Walk, chromium: Browser, url: str) -> None:
    page = walk.page
    walk.tab("blind", ".so-blind .session .checks p")
    page.locator(".so-blind details").evaluate_all("(all) => all.forEach((part) => { part.open = true })")
    for name, value in (("sources", "Ζ"), ("sources", "Ω"), ("scorers", SCORERS[2]), ("mode", "both")):
        page.locator(f".so-blind [name={name}][value={value}]").check()
    page.locator(".so-blind [name=number]").fill("1")
    page.locator(".so-blind [name=each]").fill("1")
    walk.press("Preview", ".so-blind")
    walk.press("Close…", ".so-blind .session")
    page.keyboard.press("Escape")
    walk.check()
    with pseudo_page(chromium, url) as scorer:
        Walk(scorer).look("sign-in")
        sign_in(scorer, SCORERS[2])
        sheet = Walk(scorer)
        sheet.tab("blind", ".blind .place.current")
        for key in ("?", "g"):
            sheet.key(key, DIALOG)
        sheet.check()


def test_data(walk: Walk, tmp_path: Path) -> None:
    page = walk.page
    walk.data = ("input[name=name]",)  # the proposed name of a folder
    walk.tab("data", ".so-data tbody td")
    for name, text in (("λ.fits", "-"), ("μ.jsonl", '{"a": 1}\n')):
        (tmp_path / name).write_text(text, encoding="utf-8")
    dialog = page.locator("dialog.panel")

    def opened(button: str, file: str = "") -> None:
        page.get_by_role("button", name=said(button), exact=True).first.click()
        walk.look(button)
        if file:
            dialog.locator("input[type=file]").first.set_input_files(tmp_path / file)

    opened("Add spectra …", "λ.fits")
    dialog.locator("select").first.select_option("cv")
    walk.press("Draft", DIALOG)
    expect(page.locator(".so-data .details td").first).to_be_visible()
    opened("Import …", "μ.jsonl")
    walk.press("Import", DIALOG)
    expect(page.locator(".so-data .job .told.bad")).to_have_count(2)
    opened("Annotations …")
    walk.press("Check only", DIALOG)
    page.keyboard.press("Escape")
    opened("Export …")
    dialog.get_by_label(said("Name of the folder")).fill(EXPORT)
    walk.press("Export", DIALOG)
    opened("Catalogue …")
    dialog.locator("summary").click()
    dialog.get_by_label(said("Name of the folder")).fill("2026-2")
    dialog.locator("select").first.select_option("cv")
    walk.press("Make it", DIALOG)
    walk.press("Back up now")
    opened("Take back")
    page.keyboard.press("Escape")
    expect(page.locator(".so-data .job")).to_have_count(4)
    expect(page.locator(".so-data .job a[download]")).to_be_visible()
    walk.look("jobs")
    walk.check()


def test_people_and_documents(walk: Walk, url: str) -> None:
    page = walk.page
    walk.data = ("input[readonly]",)  # tokens that are shown once
    walk.tab("people", ".so-people tbody tr")
    for name in ("Rules", "Verdict first", "Webhooks", "API tokens", "My password", "Add a person"):
        walk.press(name, ".so-people")
        for part in page.locator(f"{DIALOG} summary").all():
            part.click()
            walk.look(name)
        if name == "Webhooks":
            walk.press("Send a test", DIALOG)
        if name == "API tokens":
            page.locator(DIALOG).get_by_label(said("Name of the new token")).fill("ν1")
            walk.press("Make a token", DIALOG)
            expect(page.locator(f"{DIALOG} input[readonly]")).to_have_value(re.compile("^so3_"))
        if name == "Add a person":
            walk.press("Generate a password", DIALOG)
        page.keyboard.press("Escape")
    page.locator(".so-people .row-button").first.click()
    for part in page.locator(f"{DIALOG} summary").all():
        part.click()
    walk.look("a person")
    walk.press("Save", DIALOG)
    walk.check()
    # Documents are English, or declare their language.
    walk.data = ("title, #text :is(p, li, td, th, h1, h2, h3), nav a, nav p, aside a",)
    for address in ("docs/", "docs/reviewing.md", "docs/none.md"):
        page.goto(f"{url}{address}")
        walk.look(address)
    walk.check(least=0)
