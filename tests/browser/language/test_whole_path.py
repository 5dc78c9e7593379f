"""The path of an item in Chinese, from the sign-in to the export, by the words that the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agent import language
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from tests.browser.language.campaign import draft
from tests.browser.language.walk import shown_texts
from tests.browser.support.review_app import PASSWORD, serving, settled, show_item
from tests.support.chromium import TOUR_SEEN
from tests.support.drawn_traces import decide

pytestmark = pytest.mark.browser

PEOPLE = {"RE": ["reviewer", "coordinator"], "AU": ["auditor", "reviewer"], "VO": ["reviewer"]}
WORD = re.compile(r"[A-Za-z]{3,}")
NAMES = re.compile(
    r"Label Studio|Excel|ShareGPT|LLaMA-Factory|TRL|ECSV|TSV| Lines|-MIN|Parquet|gzip|"
    r"Krippendorff|alpha|Computing |'s Alpha-Reliability|Fleiss|Psychological Bulletin|"
    r"Balmer absorption|-noise|approved-[0-9]|plate [0-9]|z_max|z_min|Alpha|docs|/[\w./-]+"
)
"""Names of programs, formats, people and publications, examples, and paths in Chinese sentences."""


class Words:
    """The words of the page in a language, by the English messages."""

    def __init__(self, code: str) -> None:
        self.code = code
        parts: tuple[language.Part, ...] = ("program", "page")
        catalogues = [language.catalogue(code, part) for part in parts] if code != language.ENGLISH else []
        self._forms = {key: forms[0] for catalogue in catalogues for key, forms in catalogue.items()}

    def __call__(self, message: str, **values: object) -> str:
        return self._forms.get(message, message).format(**values)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Two items, and three people with passwords."""
    with Store.open(tmp_path / "annotations.db") as store:
        for number, (person, roles) in enumerate(PEOPLE.items()):
            store.accounts.add_person(person, f"Πρόσωπο {number}", roles, PASSWORD)
        store.settings.set_rules(None, Rules(auditors=1))
        store.items.add_all(Draft(*draft(f"α{number}", "Μ1", refused=False), batch="β1") for number in (1, 2))
    return tmp_path / "annotations.db"


@contextmanager
def signed_in(chromium: Browser, url: str, say: Words, person: str) -> Iterator[Page]:
    """The page of a person whose browser asks for the language."""
    errors: list[str] = []
    with chromium.new_context(locale="zh-CN", viewport={"width": 1366, "height": 768}) as context:
        context.add_init_script(TOUR_SEEN)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url)
        in_language(page, say.code)
        page.get_by_label(say("Initials")).fill(person)
        page.get_by_label(say("Password")).fill(PASSWORD)
        page.get_by_role("button", name=say("Sign in")).click()
        expect(page.locator(".so-review .decision-bar")).to_be_visible()
        settled(page)
        yield page
    assert not errors, errors


def in_language(page: Page, code: str) -> None:
    expect(page.locator("html")).to_have_attribute("lang", language.TAGS[code])


def no_english(page: Page, say: Words) -> None:
    """No text that the page shows has a word of English; the data are Greek."""
    wrong = {f"{where}: {text}" for where, text in shown_texts(page) if WORD.search(NAMES.sub("", text))}
    assert not wrong, "\n".join(["English words:", *sorted(wrong)[:60]])


def tab(page: Page, say: Words, name: str) -> None:
    page.get_by_role("tab", name=say(name), exact=True).click()


def press(place: Page | Locator, say: Words, name: str, **values: object) -> None:
    place.get_by_role("button", name=say(name, **values)).first.click()


def says(page: Page, say: Words, message: str, **values: object) -> None:
    """Wait for what the page says after an action."""
    expect(page.locator(".toasts, .notice").filter(has_text=say(message, **values)).first).to_be_visible()


@pytest.mark.smoke
def test_an_item_goes_from_the_draft_to_the_export_in_chinese(chromium: Browser, database: Path) -> None:
    say = Words("zh")
    with serving(database) as url, signed_in(chromium, url, say, "RE") as page:
        screen_and_revise(page, say)
        with signed_in(chromium, url, say, "AU") as other:
            audit_and_vote(other, say)
        with Store.open(database) as store:
            decide(store, "VO", 1, "approve")
            assert store.items.get(1).standing.state == "approved"
        reject_and_undo(page, say)
        export(page, say)
        tab(page, say, "Progress")
        tile = page.locator(".so-progress .tile", has_text=say("Approved"))
        expect(tile.locator("dd").first).to_have_text("1")
        expect(page.locator(".so-progress .chart svg text").first).to_be_visible()
        no_english(page, say)
        change_language_and_back(page, say)


def screen_and_revise(page: Page, say: Words) -> None:
    """Mark a step, keep, comment, edit a thought, save and submit."""
    show_item(page, 1)
    card = page.locator(".card.think").first
    card.locator(".number").click()
    card.get_by_title(f"{say('supported')} (y)", exact=True).click()
    expect(card.locator(".mark.set")).to_have_count(1)
    no_english(page, say)
    press(page.locator(".decision-bar"), say, "Keep")
    says(page, say, "Kept.")
    show_item(page, 1)
    expect(page.locator(".decision-bar .round")).to_contain_text(say("revision"))
    page.keyboard.press(";")
    page.keyboard.type("Hα, @AU ;")
    press(page.locator(".comments"), say, "Send")
    expect(page.locator(".comments .mention")).to_have_text("@AU")
    card.locator(".number").click()
    press(card, say, "more ▾")
    press(card, say, "edit")
    card.locator("textarea").press("End")
    card.locator("textarea").press_sequentially(" Ναι.")
    page.keyboard.press("Escape")
    expect(card.locator("ins")).to_contain_text("Ναι.")
    no_english(page, say)
    page.locator(".decision-bar .comment").fill("Ναι.")
    press(page.locator(".decision-bar"), say, "Save and submit")
    says(page, say, "Submitted.")


def audit_and_vote(page: Page, say: Words) -> None:
    """Read the comment, pass the item and approve it."""
    page.get_by_role("button", name=say("{n} unread", n=1)).click()
    page.locator(".so-unread-list a").click()
    page.wait_for_function("window.specO3.review.current?.item.id === 1")
    expect(page.locator(".comments .thread .text")).to_have_text("Hα, @AU ;")
    no_english(page, say)
    settled(page)
    press(page.locator(".decision-bar"), say, "Pass")
    says(page, say, "Passed.")
    show_item(page, 1)
    press(page.locator(".decision-bar"), say, "Approve")
    says(page, say, "Approved.")


def reject_and_undo(page: Page, say: Words) -> None:
    """Search, select, reject after the preview, and undo."""
    tab(page, say, "Find")
    page.get_by_role("searchbox", name=say("Search in traces and comments")).fill("γραμμή")
    row = page.locator(".so-find tbody[data-item='2']")
    expect(row.locator("mark").first).to_be_visible()
    row.get_by_label(say("Select item {number}", number=2)).check()
    no_english(page, say)
    press(page.locator(".so-find"), say, "Reject …")
    dialog = page.locator("dialog.panel")
    dialog.get_by_label(say("Bad data")).check()
    expect(dialog.locator(".bulk-preview")).to_contain_text(say("rejected"))
    no_english(page, say)
    press(dialog, say, "Reject {n} item", n=1)
    expect(row.locator(".state")).to_have_text(say("rejected"))
    press(page.locator(".so-find .notice"), say, "Undo")
    expect(row.locator(".state")).to_have_text(say("screening"))
    says(page, say, "Undone: {n} item is as it was before.", n=1)


def export(page: Page, say: Words) -> None:
    tab(page, say, "Data")
    page.get_by_role("button", name=say("Export …"), exact=True).click()
    page.get_by_label(say("Name of the folder")).fill("2026-1")
    page.locator("dialog.panel").get_by_role("button", name=say("Export"), exact=True).click()
    link = page.get_by_role("link", name="zip", exact=True)
    expect(link).to_be_visible()
    no_english(page, say)
    with page.expect_download() as download:
        link.click()
    assert download.value.suggested_filename == "2026-1.zip"


def change_language_and_back(page: Page, say: Words) -> None:
    tab(page, say, "Find")
    english = Words(language.ENGLISH)
    for before, after in ((say, english), (english, say)):
        press(page.locator(".so-help"), before, "Help")
        page.get_by_role("menuitemradio", name=language.NAMES[after.code]).click()
        in_language(page, after.code)
        expect(page.locator(".so-help .help")).to_have_text(after("Help"))
        expect(page.get_by_role("tab", name=after("Find"), exact=True)).to_have_attribute("aria-selected", "true")
