"""Comments between two people: threads, mentions, what is unread, text that is not lost, and what judges see."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from reviewer.drafting import demo
from reviewer.store import Draft, Store
from reviewer.store.team.imported import ImportedComment
from tests.browser.page.test_accessibility import SMALL, add_axe, in_both_themes, violations
from tests.browser.support.review_app import (
    PASSWORD,
    answered,
    frames,
    held,
    serving,
    settled,
    show_item,
    signed_in,
    wait_for,
)
from tests.support.campaign import TO_AUDIT, Desk

pytestmark = pytest.mark.browser
PEOPLE = {
    "RE": ("Rosa Eder", ["reviewer"]),
    "AB": ("Aude Bernard", ["auditor"]),
    "CD": ("Chen Dan", ["reviewer", "auditor"]),
    "CO": ("Cora Olsen", ["coordinator"]),
}
BEYOND = """() => {
  const inside = '.comments :is(button, textarea, select, .pill, .text), .so-unread, .so-unread-list a'
  return [...document.querySelectorAll(inside)].filter((part) => {
    const { left, right, width } = part.getBoundingClientRect()
    return part.checkVisibility() && width && (left < -1 || right > innerWidth + 1)
  }).map((part) => part.outerHTML.slice(0, 160))
}"""
"""Parts of the comments that are cut off at the side of the window."""
WIDTHS = (390, 820, 1366)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight items and four people."""
    db = tmp_path_factory.mktemp("comments") / "annotations.db"
    with Store.open(db) as store:
        for initials, (name, roles) in PEOPLE.items():
            store.accounts.add_person(initials, name, roles, password=PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in list(demo.demo_items())[:8])
    return db


@pytest.fixture
def app(prepared: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The app over a copy of the database: what is unread depends on every comment in it."""
    db = Path(shutil.copy(prepared, tmp_path))
    with serving(db) as url:
        yield url, db


@contextmanager
def desk(chromium: Browser, url: str, initials: str, item: int = 1) -> Iterator[Page]:
    with signed_in(chromium, url, initials, PASSWORD) as page:
        show_item(page, item)
        yield page


def add(db: Path, person: str, text: str, item: int = 1, **more: str) -> int:
    with Store.open(db) as store:
        made = store.comments.add(person=person, item_id=item, text=text, key=f"{person} {item} {text}", **more)
        return made.id


def texts(db: Path, item: int = 1, person: str = "RE") -> list[list[str]]:
    with Store.open(db) as store:
        return [[c.text for c in thread.comments] for thread in store.comments.of_item(item, person).threads]


def news(page: Page) -> None:
    """What the page does every ten seconds."""
    page.evaluate("window.specO3.review.queue.check()")


@pytest.mark.smoke
def test_two_people_talk_about_a_step(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    with desk(chromium, url, "AB") as ab, desk(chromium, url, "CD", item=2) as cd:
        # AB writes about step 2, and names CD from the list that @ opens.
        ab.locator(".card .number").nth(1).click()
        ab.locator(".card.selected .step-more").click()
        ab.get_by_role("button", name="comment on this step").click()
        field = ab.locator(".comments .composer textarea")
        expect(field).to_be_focused()
        expect(ab.locator(".comments .composer select")).to_have_value("s2")
        ab.keyboard.type("Is this Hα, @ch")
        expect(ab.locator(".comments .people li")).to_have_text(["CD Chen Dan"])
        ab.keyboard.press("Enter")
        expect(field).to_have_value("Is this Hα, @CD ")
        ab.keyboard.type("?")
        ab.keyboard.press("Enter")
        expect(ab.locator(".comments .thread .text")).to_have_text("Is this Hα, @CD ?")
        expect(ab.locator(".comments .mention")).to_have_text("@CD")
        expect(field).to_have_value("")
        expect(ab.locator(".card").nth(1).locator("button.comment")).to_have_text("1 comment")

        # CD sees that something is unread, and opens it.
        expect(cd.locator(".so-unread")).to_be_hidden()
        news(cd)
        expect(cd.locator(".so-unread")).to_have_text("1 unread")
        expect(cd.locator("#so-row-1 .pill.amber")).to_have_text("unread")
        cd.locator(".so-unread").click()
        expect(cd.locator(".so-unread-list a")).to_contain_text("mentions you")
        cd.locator(".so-unread-list a").click()
        cd.wait_for_function("window.specO3.review.current?.item.id === 1")
        expect(cd.locator(".comments li.comment .pill")).to_have_text("new")
        expect(cd.locator(".comments li.comment")).to_be_focused()
        expect(cd.locator(".so-unread")).to_be_hidden()
        expect(cd.locator("#so-row-1 .pill.amber")).to_have_count(0)
        expect(cd.locator(".comments .toggle")).to_contain_text("1 new")

        # CD answers and resolves the thread.
        cd.locator(".comments .reply").click()
        cd.keyboard.type("Yes.")
        cd.keyboard.press("Enter")
        expect(cd.locator(".comments .thread .text")).to_have_text(["Is this Hα, @CD ?", "Yes."])
        cd.get_by_role("button", name="Resolve").press("Enter")
        expect(cd.locator(".comments .thread")).to_contain_text("resolved by CD")
        expect(cd.get_by_role("button", name="Reopen")).to_be_focused()

        # AB has the item open, and is told.
        news(ab)
        expect(ab.locator(".toasts")).to_contain_text("CD commented on this item.")
        expect(ab.locator(".comments .thread")).to_contain_text("resolved by CD")
        expect(ab.locator(".comments .thread .text")).to_have_text(["Is this Hα, @CD ?", "Yes."])
        expect(ab.locator(".so-unread")).to_be_hidden()
        ab.get_by_role("button", name="Reopen").press("Enter")
        expect(ab.get_by_role("button", name="Resolve")).to_be_focused()
    assert texts(db) == [["Is this Hα, @CD ?", "Yes."]]


def test_the_semicolon_opens_the_field_and_escape_leaves_it(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    with desk(chromium, url, "RE") as page:
        expect(page.locator(".comments .body")).to_be_hidden()
        page.keyboard.press(";")
        field = page.locator(".comments .composer textarea")
        expect(field).to_be_focused()
        page.keyboard.type("first @c")
        expect(page.locator(".comments .people li")).to_have_text(["CD Chen Dan", "CO Cora Olsen"])
        page.keyboard.press("ArrowDown")
        expect(page.locator(".comments .people li[aria-selected=true]")).to_have_text("CO Cora Olsen")
        active = field.get_attribute("aria-activedescendant")
        assert active == page.locator(".comments .people li[aria-selected=true]").get_attribute("id")
        page.keyboard.press("Escape")
        expect(page.locator(".comments .composer .people")).to_be_hidden()
        expect(field).to_be_focused()
        page.keyboard.press("Shift+Enter")
        # Enter that accepts a word of an input method sends nothing.
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))
        compose = {"text": "发射", "selectionStart": 2, "selectionEnd": 2}
        page.context.new_cdp_session(page).send("Input.imeSetComposition", compose)
        page.keyboard.press("Enter")
        frames(page)
        assert "POST" not in sent
        page.keyboard.insert_text("")
        page.keyboard.type("second; n")
        page.keyboard.press("Enter")
        expect(page.locator(".comments .thread .text")).to_have_text("first @c\nsecond; n")
        page.keyboard.press("Escape")
        expect(field).not_to_be_focused()
        page.keyboard.press("n")
        page.wait_for_function("window.specO3.review.current?.item.id === 2")
        expect(page.locator(".comments .thread")).to_have_count(0)
    assert texts(db) == [["first @c\nsecond; n"]]


@pytest.mark.smoke
def test_a_text_survives_a_reload_and_is_offered_where_it_was_typed(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    thread = add(db, "AB", "Is this Hα?")
    with desk(chromium, url, "RE") as page:
        page.keyboard.press(";")
        page.locator(".comments .composer select").select_option("s2")
        page.locator(".comments .composer textarea").fill("about the step")
        page.locator(".comments .reply").click()
        page.keyboard.type("a reply")
        page.reload()
        settled(page)
        show_item(page, 2)
        expect(page.locator(".comments .composer textarea")).to_have_value("")
        show_item(page, 1)
        expect(page.locator(".comments .composer select")).to_have_value("s2")
        expect(page.locator(".comments .composer textarea")).to_have_value("about the step")
        expect(page.locator(".comments .composer option:checked")).to_contain_text("(unsent text)")
        expect(page.locator(".comments .thread textarea")).to_have_value("a reply")
        page.locator(".comments .thread textarea").press("Enter")
        expect(page.locator(".comments .thread .text")).to_have_text(["Is this Hα?", "a reply"])
        page.locator(".comments .composer textarea").press("Enter")
        expect(page.locator(".comments .thread .text")).to_have_text(["Is this Hα?", "a reply", "about the step"])
        # At once: later news of the item would draw it anew.
        assert "unsent" not in page.locator(".comments .composer option:checked").inner_text()
        page.reload()
        settled(page)
        show_item(page, 1)
        expect(page.locator(".comments .thread .text")).to_have_count(3)
        expect(page.locator(".comments .composer textarea")).to_have_value("")
    with Store.open(db) as store:
        first, second = store.comments.of_item(1, "RE").threads
    assert (first.id, first.step, second.step) == (thread, "", "s2")


def test_a_comment_whose_answer_is_lost_is_sent_again_and_counts_once(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    keys = []
    with desk(chromium, url, "RE") as page:

        def arrives_but_no_answer(route: Route) -> None:
            keys.append(route.request.post_data_json["key"])
            if route.request.method == "POST" and len(keys) < 3:
                route.fetch(max_retries=3)
                route.abort()
            else:
                route.continue_()

        page.route(
            re.compile("/item/1/comments$"),
            lambda route: arrives_but_no_answer(route) if route.request.method == "POST" else route.continue_(),
        )
        page.keyboard.press(";")
        page.keyboard.type("Once.")
        page.keyboard.press("Enter")
        expect(page.locator(".comments .composer .note")).to_contain_text("Not sent yet")
        # The page is left while it waits, and sends it by itself when it is back.
        page.reload()
        settled(page)
        show_item(page, 1)
        expect(page.locator(".comments .thread .text")).to_have_text("Once.")
        expect(page.locator(".comments .composer textarea")).to_have_value("")
    assert len(keys) >= 2
    assert len(set(keys)) == 1
    assert texts(db) == [["Once."]]


def test_a_refused_comment_stays_in_the_field_with_the_reason(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    with desk(chromium, url, "RE") as page:
        page.keyboard.press(";")
        page.locator(".comments .composer select").select_option("s1")
        page.locator(".comments .composer textarea").fill("Not narrow.")
        with Store.open(db) as store:
            work = Desk(store)
            work.decide("CD", 1, "keep")
            work.edit("CD", 1, "Hα is narrow.")
        page.locator(".comments .composer textarea").press("Enter")
        expect(page.locator(".comments .composer .note")).to_contain_text("This step was changed in version 2")
        expect(page.locator(".comments .composer textarea")).to_have_value("Not narrow.")
    assert texts(db) == []


@pytest.mark.smoke
def test_a_judge_sees_only_the_number_until_the_decision(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    with Store.open(db) as store:
        Desk(store).until(1, *TO_AUDIT)
    add(db, "CO", "SECRET to @CD", step="s2")
    add(db, "CO", "SECRET to nobody")
    with desk(chromium, url, "CD") as page:
        expect(page.locator(".so-unread")).to_have_text("2 unread")
        page.locator(".so-unread").click()
        expect(page.locator(".so-unread-list .text")).to_have_text(
            [
                "A comment on item 1; shown after your decision.",
                "CO mentioned you on item 1; shown after your decision.",
            ]
        )
        page.keyboard.press("Escape")
        expect(page.locator(".comments .toggle .count")).to_have_text("2")
        page.locator(".comments .toggle").click()
        expect(page.locator(".comments .scrolled > .note")).to_have_text(
            "2 comments by others are shown after your decision."
        )
        page.locator(".comments .composer textarea").fill("Mine.")
        page.keyboard.press("Enter")
        expect(page.locator(".comments .thread .text")).to_have_text("Mine.")
        assert "SECRET" not in page.content()
        expect(page.locator(".so-unread")).to_have_text("2 unread")
        page.keyboard.press("Escape")
        page.keyboard.press("Shift+K")
        expect(page.locator(".comments .thread .text")).to_have_text(["SECRET to @CD", "SECRET to nobody", "Mine."])
        expect(page.locator(".comments .scrolled > .note")).to_be_hidden()
        expect(page.locator(".so-unread")).to_be_hidden()
        expect(page.locator(".card").nth(1).locator("button.comment")).to_have_text("1 comment · 1 new")


def test_text_is_text_and_addresses_are_links(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    hostile = "<img src=x onerror=alert(1)> javascript:alert(1) @AB, (see https://example.org/a?b=c&d=%3Cb%3E). http://"
    add(db, "AB", hostile)
    with desk(chromium, url, "RE") as page:
        page.keyboard.press(";")
        text = page.locator(".comments .thread .text")
        expect(text).to_have_text(hostile)
        assert text.locator("img").count() == 0
        assert text.locator(".mention").all_inner_texts() == ["@AB"]
        link = text.locator("a")
        expect(link).to_have_text("https://example.org/a?b=c&d=%3Cb%3E")
        assert (link.get_attribute("rel"), link.get_attribute("target")) == ("noopener noreferrer", "_blank")
        # A button of a thread keeps the focus when a comment comes.
        resolve = page.locator(".comments .thread").get_by_role("button", name="Resolve")
        resolve.focus()
        with Store.open(db) as store:
            (thread,) = store.comments.of_item(1, "RE").threads
        add(db, "AB", "Or Hβ?", thread=thread.id)
        news(page)
        expect(text).to_have_text([hostile, "Or Hβ?"])
        expect(resolve).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".comments .thread").get_by_role("button", name="Reopen")).to_be_focused()


def test_comments_of_another_item_are_no_news(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    add(db, "AB", "Long known, @RE.", item=2)
    add(db, "CD", "Earlier.", item=1)
    with desk(chromium, url, "RE") as page:
        expect(page.locator(".so-unread")).to_have_text("1 unread")
        expect(page.locator(".comments .thread .text")).to_have_text("Earlier.")
        late = held(page, "/item/1/comments$")
        add(db, "AB", "@RE, look.", item=1)
        news(page)
        wait_for(page, late)
        show_item(page, 2)
        expect(page.locator(".comments .thread .text")).to_have_text("Long known, @RE.")
        answered(page, *late)
        expect(page.locator(".so-review .toasts")).not_to_contain_text("commented on this item")


def test_polling_waits_while_the_page_is_hidden(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    add(db, "AB", "@RE, first.", item=3)
    with desk(chromium, url, "RE") as page:
        expect(page.locator(".so-unread")).to_have_text("1 unread")
        requested: list[str] = []
        page.on("request", lambda request: requested.append(request.url))
        page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
        add(db, "AB", "@RE, look.", item=2)
        news(page)
        frames(page)
        assert not [url for url in requested if "stamp" in url or "unread" in url]
        page.evaluate("delete document.hidden")
        news(page)
        expect(page.locator(".so-unread")).to_have_text("2 unread")
        # Nothing has changed since: the list is not requested again.
        requested.clear()
        with page.expect_response("**/queue/stamp*") as stamp:
            news(page)
        stamp.value.finished()
        frames(page)
        # The page itself may have looked too, as it does every ten seconds.
        regular = {url.split("/api/v1/")[1] for url in requested if "stamp" in url or "comments" in url}
        assert regular == {"queue/stamp"}


def test_axe_finds_nothing_in_comments_and_nothing_is_cut_off(chromium: Browser, app: tuple[str, Path]) -> None:
    url, db = app
    link = "https://example.org/" + "b" * 200
    add(db, "AB", "a" * 400 + f" @RE {link}", step="s2")
    thread = add(db, "AB", "Done.")
    with Store.open(db) as store:
        store.comments.set_resolved(person="AB", item_id=1, thread=thread, resolved=True, key="resolve")
        source = "Label Studio, " + "someone@example.org" * 5
        store.imported_comments.add([ImportedComment(1, source, "Agreed.", None, "imported")])
    with signed_in(chromium, url, "RE", PASSWORD) as page:
        # Comments on an item in front are read: the list of unread ones is opened first.
        add_axe(page)
        show_item(page, 2)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.locator(".so-unread").click()
            frames(page)  # what has opened is placed in the next one
            assert page.evaluate(BEYOND) == [], width
            assert violations(page) == []
            page.keyboard.press("Escape")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            show_item(page, 2)
            show_item(page, 1)
            page.keyboard.press(";")
            page.keyboard.type("@c")
            expect(page.locator(".comments .composer .people li")).to_have_count(2)
            frames(page)
            assert page.evaluate(BEYOND) == [], width
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
            # The button is not under the bar of decisions.
            assert page.locator(".comments .composer .foot .primary").evaluate(
                """(button) => {
                  const { x, y, width, height } = button.getBoundingClientRect()
                  return button.contains(document.elementFromPoint(x + width / 2, y + height / 2))
                }"""
            ), width
            page.locator(".comments .composer textarea").fill("")
            page.keyboard.press("Escape")
        assert in_both_themes(page) == []
        assert page.evaluate(SMALL) == []
        # The focus goes through the panel in the order in which it is read.
        page.locator(".comments .toggle").focus()
        order = []
        for _ in range(4):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.textContent.trim()"))
        assert order == ["step 2, zoom", "Resolve", link, "Reply"]
