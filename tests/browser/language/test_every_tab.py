"""A walk through the tabs of a campaign, with their dialogs and messages, in the pseudo-language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.language.campaign import EXPORT, PAIR, REJECTED, RETURNED, SCORERS, TALK, VOTE
from tests.browser.language.walk import Walk, said, sign_in
from tests.browser.support.review_app import held, show_item, wait_for

pytestmark = pytest.mark.browser
DIALOG = "dialog.panel"


@pytest.fixture
def walk(desk: Page) -> Walk:
    return Walk(desk)


def test_items_in_every_state_and_comments(walk: Walk) -> None:
    page = walk.page
    page.locator(".so-unread").click()
    walk.look("unread comments")
    page.keyboard.press("Escape")
    for item in (PAIR, RETURNED, REJECTED, VOTE, TALK):
        show_item(page, item)
        walk.look(f"item {item}")
        walk.key("h", DIALOG)
    for key in ("Shift+Q", "x", "m"):
        walk.key(key, DIALOG)
    page.keyboard.press(";")
    expect(page.locator(".comments .composer textarea")).to_be_focused()
    page.keyboard.type("@")
    walk.look("comments")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.evaluate("(id) => { location.hash = id }", f"#item={TALK}&beside={PAIR}")
    expect(page.locator(".beside-legend")).to_be_visible()
    walk.look("two traces")
    page.keyboard.press("p")
    walk.look("verdict first")
    page.keyboard.press("p")
    walk.check()


def test_find(walk: Walk) -> None:
    page = walk.page
    walk.tab("find", ".so-find tbody.hit")
    search = page.locator(".so-find input[name=find]")
    for words, sign in (("Hα", "mark"), ("-x", ".total:has-text('Add')"), ("Ψ", ".nothing"), ("6563", "mark")):
        search.fill(words)
        expect(page.locator(f".so-find {sign}").first).to_be_visible()
        walk.look(f"search for {words}")
    search.fill("")
    expect(page.locator(".so-find tbody.hit")).to_have_count(10)
    row = page.locator(f".so-find tbody[data-item='{TALK}']")
    row.locator(".tick input").check()
    for name in ("Reject …", "Assign …", "Unassign …", "Set batch …", "Save as list …", "Save view …"):
        walk.press(name, ".so-find")
        choice = page.locator(f"{DIALOG} fieldset input").first
        if choice.is_visible():
            choice.check()
            walk.look(f"{name}, its preview")
        page.keyboard.press("Escape")
    walk.press("Past actions …", ".so-find")
    page.keyboard.press("Escape")
    walk.key("?", DIALOG)
    row.locator("button").last.click()
    walk.look("the menu of a row")
    page.get_by_role("menuitem", name=said("Similar text")).click()
    expect(page.locator(".so-find .about")).to_be_visible()
    walk.look("similar texts")
    walk.press("Back to the search", ".so-find")
    row.locator(".tick input").check()
    walk.press("More like these", ".so-find")
    walk.press("Back to the search", ".so-find")
    walk.press("Groups …", ".so-find")
    walk.check()


def test_blind_sessions(walk: Walk) -> None:
    page = walk.page
    walk.tab("blind", ".so-blind .session .checks p")
    page.locator(".so-blind details").evaluate_all("(all) => all.forEach((one) => { one.open = true })")
    page.locator(".so-blind [name=items]").fill("ι")
    walk.press("Preview", ".so-blind")
    page.locator(".so-blind [name=items]").fill("")
    for name, value in (("sources", "Ζ"), ("sources", "Ω"), ("scorers", SCORERS[2]), ("mode", "both")):
        page.locator(f".so-blind [name={name}][value={value}]").check()
    page.locator(".so-blind [name=number]").fill("1")
    page.locator(".so-blind [name=each]").fill("1")
    walk.press("Preview", ".so-blind")
    expect(page.locator(".so-blind .preview table")).to_be_visible()
    for name in ("Discard…", "Close…"):
        walk.press(name, ".so-blind .session")
        page.keyboard.press("Escape")
    walk.check()


def test_what_a_scorer_without_other_roles_sees(page: Page) -> None:
    sign_in(page, SCORERS[2])
    walk = Walk(page)
    walk.tab("blind", ".blind .place.current")
    page.wait_for_function("window.specO3.blind.scoring.current")
    page.keyboard.press("Enter")
    walk.look("not scored yet")
    for key in ("?", "g"):
        walk.key(key, DIALOG)
    for _ in range(page.locator(".blind .place").count()):
        walk.settle()
        pair = page.evaluate("window.specO3.blind.scoring.isPair")
        walk.look("a pair" if pair else "a trace")
        if pair:
            break
        page.keyboard.press("3")
        page.keyboard.press("3")
        page.keyboard.press("Enter")
    walk.tab("library", ".so-sheet .so-table td")
    walk.tab("people", "#so-tab-people .so-table td")
    walk.check()


def test_progress_with_the_audit_log(walk: Walk) -> None:
    page = walk.page
    walk.tab("progress", ".so-progress .chart svg text")
    page.locator(".so-progress .trust").scroll_into_view_if_needed()
    expect(page.locator(".so-progress .trust .empty")).to_be_visible()
    walk.press("Audit log …", ".so-progress")
    walk.press("Verify", DIALOG)
    expect(page.locator(f"{DIALOG} .note.good")).to_be_visible()
    walk.look("verified")
    page.keyboard.press("Escape")
    walk.check()


def sheet(page: Page, heading: str) -> Locator:
    """A form of the Library tab."""
    return page.locator(".so-sheet", has=page.get_by_role("heading", name=said(heading), exact=True))


def test_library(walk: Walk, tmp_path: Path) -> None:
    page = walk.page
    walk.tab("library", ".so-sheet .so-table td")
    rows = "\n".join(f"{w},{1 + w % 7}" for w in range(4000, 8000, 2))
    (tmp_path / "κ.csv").write_text(f"wavelength,flux\n{rows}\n", encoding="utf-8")
    (tmp_path / "λ.fits").write_text("-", encoding="utf-8")
    (tmp_path / "μ.jsonl").write_text('{"a": 1}\n', encoding="utf-8")

    def press(form: str, name: str, sign: str = ".so-message") -> None:
        sheet(page, form).get_by_role("button", name=said(name), exact=True).click()
        expect(sheet(page, form).locator(f"{sign}:visible").first).to_be_visible()
        walk.look(f"{form}: {name}")

    def choose(form: str, *names: str) -> None:
        sheet(page, form).locator("input[type=file]").first.set_input_files([tmp_path / name for name in names])
        expect(sheet(page, form).locator("td.filename").first).to_be_visible()
        walk.look(f"{form}: files")

    drafting, importing, annotating = "Draft from survey files", "Import trajectories", "Import annotations"
    for form, name in ((drafting, "Draft with the baseline"), (importing, "Import"), (annotating, "Check only")):
        press(form, name)
    uploads = held(page, "/upload\\?")
    sheet(page, drafting).locator("input[type=file]").first.set_input_files(tmp_path / "κ.csv")
    expect(sheet(page, drafting).locator(".uploading")).to_have_text(said("Uploading 1 file …"))
    walk.look("an upload")
    wait_for(page, uploads)
    uploads[0].continue_()
    expect(sheet(page, drafting).locator("td.filename")).to_be_visible()
    page.unroute_all()
    choose(drafting, "κ.csv", "λ.fits")
    sheet(page, drafting).get_by_label(said("Question: is it a …")).click()
    walk.look("questions")
    page.get_by_role("option", name="Cataclysmic").click()
    press(drafting, "Draft with the baseline", ".so-results td")
    choose(importing, "μ.jsonl")
    press(importing, "Import", ".so-results td")
    choose(annotating, "μ.jsonl")
    press(annotating, "Import annotations")
    folder = sheet(page, "Export approved").get_by_label(said("Name of the folder"))
    for name in ("", EXPORT, "2026-2"):
        folder.fill(name)
        press("Export approved", "Export")
    batch = sheet(page, "Withdraw a batch").get_by_label(said("Batch to withdraw"))
    batch.click()
    page.get_by_role("option", name="β2").click()
    walk.look("a batch")
    press("Backups", "Back up now")
    walk.check()


def test_people(walk: Walk) -> None:
    page = walk.page
    walk.data = ("textarea:disabled",)  # passwords and tokens that are shown once
    walk.tab("people", "#so-tab-people .so-table td")
    names = ("Save roles", "Change name", "Set password", "Set my password", "Make a token", "Add", "Add a webhook")
    for name in (*names, "Send a test", "Generate a password", "Save rules", "Save batches"):
        button = page.locator("#so-tab-people").get_by_role("button", name=said(name), exact=True)
        button.click()
        walk.look(f"People: {name}")
    page.locator("#so-tab-people").get_by_label(said("Name of the new token")).fill("ν1")
    walk.press("Make a token", "#so-tab-people")
    secret = page.locator(f"#so-tab-people label:has(span:text-is('{said('New token')}')) textarea")
    expect(secret).to_have_value(re.compile("^so3_"))
    walk.look("a new token")
    walk.check()


def test_the_frame_of_documents(walk: Walk, url: str) -> None:
    # Documents are English, or declare their language.
    walk.data = ("title, #text :is(p, li, td, th, h1, h2, h3), nav a, nav p, aside a",)
    for address in ("docs/", "docs/reviewing.md", "docs/none.md"):
        walk.page.goto(f"{url}{address}")
        walk.look(address)
    walk.check(least=0)
