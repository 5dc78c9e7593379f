"""Faults during work, in the real app and a real browser.

No typed text is lost, no action counts twice, and the person sees a message.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from reviewer.blind.plan import Plan
from reviewer.store import Store
from tests.browser.support.blind_app import in_front
from tests.browser.support.faulty_app import (
    App,
    all_sent,
    at_item,
    enter,
    first_thought,
    full,
    locked,
    notice,
    opened,
    saved,
    sign_in,
    strip,
    team_of_four,
    tiny_disk,
    unsent,
    unsent_here,
    visitor,
    write,
)
from tests.browser.support.review_app import PASSWORD, held, let_go, settled, wait_for
from tests.support.blind_campaign import team as blind_team
from tests.support.blind_campaign import two_sources
from tests.support.campaign import Desk

pytestmark = pytest.mark.browser
REVISION, SCREENING = 17, 13
SCREENED = REVISION + SCREENING


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One app for this file, on its own disk if one can be mounted."""
    folder = tmp_path_factory.mktemp("disk")
    with tiny_disk(folder, 64) as own_disk:
        served = App(team_of_four(folder / "annotations.db", REVISION, SCREENING))
        served.disk = folder if own_disk else None
        served.start()
        yield served
        served.stop()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with visitor(chromium) as context:
        yield context.new_page()


def decisions(app: App, item: int) -> list[tuple[str, str]]:
    with Store.open(app.db) as store:
        return [(entry.decision.person, entry.decision.verb) for entry in store.items.history(item)]


def text_of(app: App, item: int) -> str:
    with Store.open(app.db) as store:
        return store.items.get(item).version.trajectory.steps[0].text


def autosaved(app: App, person: str, item: int) -> str:
    with Store.open(app.db) as store:
        text = store.leases.autosaved(person, item)
    return str(text.body) if text else ""


def submit(page: Page) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save and submit").click()


def submitted(page: Page, app: App, item: int, ending: str) -> None:
    """Check that the server got the submit exactly once."""
    expect(page.locator(".so-review .toasts")).to_contain_text("Submitted")
    assert decisions(app, item) == [("RC", "keep"), ("RV", "submit")]
    assert text_of(app, item).endswith(ending)


# ---- the server


@pytest.mark.smoke
def test_text_typed_while_the_server_is_dead_is_restored_for_its_writer_only(page: Page, app: App) -> None:
    at_item(page, app, 1, "RV")
    write(page, " Typed before.")
    saved(page)
    app.kill()
    card = write(page, " Typed after.")
    expect(strip(page)).to_contain_text("The server does not answer")
    expect(strip(page)).to_contain_text("kept in this browser")
    expect(page.locator(".so-top .saved")).to_have_text("not saved yet")
    expect(card.locator("textarea")).to_be_focused()
    with contextlib.suppress(Exception):
        page.reload()  # the browser's own "does not answer"
    app.start()
    cookies = page.context.cookies()
    page.context.clear_cookies()
    opened(page, app, 1, "RB")
    expect(notice(page)).to_have_text(re.compile("^RV is working on this item"))
    expect(first_thought(page)).not_to_contain_text("Typed")
    assert len(unsent_here(page)) == 1
    page.context.clear_cookies()
    page.context.add_cookies(cookies)
    at_item(page, app, 1, "RV")
    expect(notice(page)).to_contain_text("has been restored")
    expect(first_thought(page)).to_contain_text("Typed before. Typed after.")
    saved(page)
    assert unsent_here(page) == []


def test_an_open_page_continues_by_itself_when_the_server_is_back(page: Page, app: App) -> None:
    at_item(page, app, 2, "RV")
    app.kill()
    write(page, " Through a restart.")
    submit(page)
    expect(unsent(page)).to_have_text("not sent: 1")
    expect(strip(page)).to_be_visible()
    app.start()
    submitted(page, app, 2, "Through a restart.")
    expect(strip(page)).to_be_hidden()
    assert unsent_here(page) == []


# ---- the network


@pytest.mark.smoke
def test_a_submit_during_a_network_cut_is_sent_later(page: Page, app: App) -> None:
    at_item(page, app, 3, "RV")
    write(page, " Cut off.")
    page.context.set_offline(True)
    submit(page)
    expect(unsent(page)).to_have_text("not sent: 1")
    expect(strip(page)).to_contain_text("The server does not answer")
    page.context.set_offline(False)
    submitted(page, app, 3, "Cut off.")
    expect(strip(page)).to_be_hidden()


def both_opened(page: Page, app: App, first: int, second: int) -> None:
    """Show the second item and then the first, so that both are at hand without the server."""
    at_item(page, app, second, "RV")
    go_to(page, first)
    settled(page)


def go_to(page: Page, item: int) -> None:
    page.evaluate("(id) => window.specO3.review.open(id)", item)
    page.wait_for_function("(id) => window.specO3.review.current?.item.id === id", arg=item)


@pytest.mark.smoke
def test_a_decision_waits_with_its_item_whatever_is_on_the_screen(page: Page, app: App) -> None:
    first, second = REVISION + 6, REVISION + 7
    both_opened(page, app, first, second)
    page.context.set_offline(True)
    page.keyboard.press("k")
    expect(unsent(page)).to_have_text("not sent: 1")
    expect(page.get_by_role("button", name="Keep")).to_be_disabled()
    go_to(page, second)
    page.keyboard.press("k")
    expect(unsent(page)).to_have_text("not sent: 2")
    unsent(page).click()
    entries = page.locator(".unsent-entry")
    expect(entries.nth(0)).to_contain_text(re.compile(rf"^#{first} demo-.*decision: keep"))
    expect(entries.nth(1)).to_contain_text(re.compile(rf"^#{second} demo-.*decision: keep"))
    page.keyboard.press("Escape")
    page.context.set_offline(False)
    all_sent(page)
    for item in (first, second):
        assert decisions(app, item) == [("RV", "keep")]
    expect(notice(page)).to_be_hidden()
    with Store.open(app.db) as store:
        assert [store.leases.held_by_others("RB", item) for item in (first, second)] == [None, None]


def test_a_decision_that_is_refused_later_names_its_item(page: Page, app: App) -> None:
    first, second = REVISION + 8, REVISION + 9
    both_opened(page, app, first, second)
    page.context.set_offline(True)
    page.keyboard.press("k")
    expect(unsent(page)).to_have_text("not sent: 1")
    go_to(page, second)
    with Store.open(app.db) as store:
        Desk(store).until(first, ("RB", "keep"))
    page.context.set_offline(False)
    expect(page.locator(".so-review .toasts")).to_contain_text(f"#{first} demo-")
    unsent(page).click()
    entry = page.locator(".unsent-entry")
    expect(entry).to_contain_text(re.compile(rf"^#{first} demo-.*Not accepted: .*revision"))
    expect(notice(page)).to_be_hidden()
    assert (decisions(app, first), decisions(app, second)) == ([("RB", "keep")], [])
    page.reload()
    settled(page)
    expect(unsent(page)).to_have_text("not sent: 1")  # until the person has seen it
    unsent(page).click()
    page.get_by_role("button", name="Remove from this list").click()
    expect(unsent(page)).to_be_hidden()


@pytest.mark.smoke
def test_what_waited_is_sent_after_the_page_was_closed(page: Page, app: App) -> None:
    """A mark, a comment, and a changed text with its decision, in their order."""
    item = 16
    at_item(page, app, item, "RV")
    page.keyboard.press("y")
    saved(page)
    page.route(
        "**/api/v1/item/*/*", lambda route: route.abort() if route.request.method == "POST" else route.continue_()
    )
    page.keyboard.press("1")
    page.keyboard.press(";")
    page.keyboard.type("Is this the line?")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    write(page, " Closed before it was sent.")
    submit(page)
    expect(unsent(page)).to_have_text("not sent: 3")
    expect(page.get_by_role("button", name="Save and submit")).to_be_disabled()
    page.close()
    again = page.context.new_page()
    at_item(again, app, REVISION + 11, "RV")
    all_sent(again)
    assert decisions(app, item) == [("RC", "keep"), ("RV", "submit")]
    assert text_of(app, item).endswith("Closed before it was sent.")
    with Store.open(app.db) as store:
        assert "not supported" in [mark.mark for mark in store.marks.of_item(item)]
        texts = [c.text for thread in store.comments.of_item(item, "RV", False).threads for c in thread.comments]
        assert texts == ["Is this the line?"]


def test_marks_versions_inspections_and_undo_are_sent_to_the_item_they_were_made_on(page: Page, app: App) -> None:
    item, other = 14, REVISION + 10
    both_opened(page, app, item, other)
    write(page, " In the tunnel.")
    page.keyboard.press("Escape")
    saved(page)
    page.context.set_offline(True)
    page.keyboard.press("3")
    page.keyboard.press("Control+s")
    page.keyboard.press("Shift+Q")
    page.keyboard.press("4")
    page.get_by_role("button", name="Save inspection").click()
    expect(unsent(page)).to_have_text("not sent: 3")
    go_to(page, other)
    page.keyboard.press("k")
    expect(unsent(page)).to_have_text("not sent: 4")
    page.keyboard.press("u")
    page.context.set_offline(False)
    all_sent(page)
    assert text_of(app, item).endswith("In the tunnel.")
    assert decisions(app, other) == [("RV", "keep")]
    with Store.open(app.db) as store:
        assert [mark.mark for mark in store.marks.of_item(item)] == ["wrong frame"]
        inspected = store.inspections.of_item(item)
        assert inspected is not None
        assert [inspection.person for inspection in inspected.inspections] == ["RV"]
        assert store.marks.of_item(other) == []


@pytest.mark.parametrize(("item", "route"), [(5, "decide"), (15, "version")])
@pytest.mark.smoke
def test_an_action_whose_answer_was_lost_counts_once(page: Page, app: App, item: int, route: str) -> None:
    lost: list[int] = []

    def lose(request: Route) -> None:
        if lost:
            request.continue_()
            return
        lost.append(request.fetch(max_retries=3).status)
        request.abort()

    at_item(page, app, item, "RV")
    page.route(f"**/api/v1/item/{item}/{route}", lose)
    write(page, " Answered unheard.")
    submit(page)
    submitted(page, app, item, "Answered unheard.")
    assert lost == [200]
    with Store.open(app.db) as store:
        assert [version.number for version in store.items.versions(item)] == [1, 2]


@pytest.mark.smoke
def test_a_double_click_a_held_key_and_enter_twice_decide_one_item(page: Page, app: App) -> None:
    first, second, third = (REVISION + n for n in (1, 2, 3))
    at_item(page, app, first, "RV")
    page.get_by_role("button", name="Keep").dblclick()
    expect(page.locator(".so-review .toasts")).to_contain_text("Kept")
    at_item(page, app, second, "RV")
    page.keyboard.down("Shift")
    for _ in range(6):
        page.keyboard.down("K")  # held: the browser repeats it
    page.keyboard.up("K")
    page.keyboard.up("Shift")
    expect(page.locator(".decision-bar .round")).to_have_text("revision")
    at_item(page, app, third, "RV")
    page.get_by_role("button", name="Keep").focus()
    routes = held(page, "/decide$")
    page.keyboard.press("Enter")
    wait_for(page, routes)
    page.keyboard.press("Enter")
    for route in routes:
        route.continue_()
    expect(page.locator(".so-review .toasts")).to_contain_text("Kept")
    for item in (first, second, third):
        assert decisions(app, item) == [("RV", "keep")]
    assert decisions(app, third + 1) == []


def test_a_button_that_is_pressed_while_the_bar_is_drawn_again_still_acts(page: Page, app: App) -> None:
    at_item(page, app, REVISION + 5, "RV")
    box = page.get_by_role("button", name="Keep").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.evaluate("window.specO3.review.statements.dispatchEvent(new Event('change'))")
    page.mouse.up()
    expect(page.locator(".so-review .toasts")).to_contain_text("Kept")
    assert decisions(app, REVISION + 5) == [("RV", "keep")]


# ---- sign-in


def test_after_a_day_a_tab_requires_a_new_sign_in_and_restores_its_text(chromium: Browser, app: App) -> None:
    with visitor(chromium, private=True) as context:
        page = context.new_page()
        page.clock.install()
        at_item(page, app, 6, "RV")
        write(page, " Before the night.")
        saved(page)
        with Store.open(app.db) as store:
            store.accounts.set_password(None, "RV", PASSWORD)  # ends the session, as after a day
        with sqlite3.connect(app.db) as db:
            db.execute("UPDATE leases SET expires_at = '2020-01-01T00:00:00.000+00:00' WHERE ended IS NULL")
        db.close()
        page.clock.fast_forward("24:00:00")
        expect(strip(page)).to_contain_text("You are signed out")
        write(page, " After it.")
        page.get_by_role("button", name="Sign in again").click()
        page.locator("form.sign-in").get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(strip(page)).to_be_hidden()
        expect(page.locator(".so-review .card.think").first).to_contain_text("Before the night. After it.")
        saved(page)
        assert unsent_here(page) == []


@pytest.mark.smoke
def test_after_another_person_signs_in_in_another_tab_nothing_is_sent_in_their_name(page: Page, app: App) -> None:
    at_item(page, app, 7, "RV")
    write(page, " By RV.")
    saved(page)
    other = page.context.new_page()
    page.context.clear_cookies()
    other.goto(app.url)
    sign_in(other, "RB")
    other.wait_for_function("window.specO3?.review.current")
    page.bring_to_front()
    write(page, " Still by RV.")
    expect(strip(page)).to_contain_text("This page belongs to RV, but RB has signed in since")
    assert autosaved(app, "RB", 7) == ""
    page.context.clear_cookies()
    other.goto(app.url)
    sign_in(other, "RV")
    other.wait_for_function("window.specO3?.review.current")
    page.bring_to_front()
    expect(strip(page)).to_be_hidden()
    submit(page)
    submitted(page, app, 7, "By RV. Still by RV.")


# ---- several pages, several people


@pytest.mark.smoke
def test_two_tabs_of_one_person_show_a_notice_and_keep_both_texts(page: Page, app: App) -> None:
    at_item(page, app, 8, "RV")
    other = page.context.new_page()
    at_item(other, app, 8, "RV")
    page.bring_to_front()
    write(page, " In the first tab.")
    saved(page)
    other.bring_to_front()
    write(other, " In the second tab.")
    expect(notice(other)).to_contain_text("in another tab or on another machine as well")
    other.keyboard.press("Escape")
    notice(other).get_by_role("button", name="Compare").click()
    expect(other.locator("dialog.panel ins")).to_contain_text("first")
    expect(other.locator("dialog.panel del")).to_contain_text("second")
    other.get_by_role("button", name="Use the other one").click()
    expect(other.locator(".so-review .card.think").first).to_contain_text("In the first tab.")
    saved(other)
    assert unsent_here(other) == []


def lease_of_other(app: App, person: str, item: int) -> datetime:
    """When the lease that keeps this person from an item ends, in Shanghai."""
    with Store.open(app.db) as store:
        lease = store.leases.held_by_others(person, item)
    assert lease is not None
    return lease.until.astimezone(ZoneInfo("Asia/Shanghai"))


def test_viewing_an_item_locks_nobody_out_and_the_first_change_does(chromium: Browser, page: Page, app: App) -> None:
    def holders() -> list[str]:
        with sqlite3.connect(app.db) as db:
            rows = db.execute("SELECT person FROM leases WHERE item = 11 AND ended IS NULL").fetchall()
        db.close()
        return [person for (person,) in rows]

    at_item(page, app, 11, "RB")
    page.wait_for_load_state("networkidle")
    assert holders() == []
    with visitor(chromium, private=True) as context:
        other = context.new_page()
        at_item(other, app, 11, "RV")
        write(other, " By RV.")
        other.wait_for_function("window.specO3.review.lease")
        assert holders() == ["RV"]
        with Store.open(app.db) as store:
            assert store.leases.held_by_others("RV", 11) is None
        before = lease_of_other(app, "RB", 11)
        page.context.new_cdp_session(page).send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Shanghai"})
        at_item(page, app, 11, "RB")
        expect(notice(page)).to_contain_text("RV is working on this item.")
        # RV's page may have renewed it meanwhile.
        times = "|".join(f"{end:%H:%M}" for end in (before, lease_of_other(app, "RB", 11)))
        expect(notice(page)).to_contain_text(re.compile(f"Their lease ends at ({times}) at the latest."))


@pytest.mark.smoke
def test_text_is_kept_if_the_lease_expires_and_another_person_takes_the_item(page: Page, app: App) -> None:
    at_item(page, app, 9, "RV")
    write(page, " Too slow.")
    saved(page)
    with sqlite3.connect(app.db) as db:
        db.execute("UPDATE leases SET expires_at = '2020-01-01T00:00:00.000+00:00' WHERE item = 9 AND ended IS NULL")
    db.close()
    with Store.open(app.db) as store:
        taken = store.leases.take("RB", 9)
        submit(page)
        expect(notice(page)).to_contain_text("RB is working on this item")
        expect(notice(page)).to_contain_text("Your text is kept, unsent")
        expect(unsent(page)).to_be_hidden()
        expect(page.locator(".so-review .card.think").first).to_contain_text("Too slow.")
        store.leases.release(taken.token)
    notice(page).get_by_role("button", name="Try again").click()
    expect(notice(page)).to_be_hidden()
    submit(page)
    submitted(page, app, 9, "Too slow.")


def test_a_key_of_the_earlier_round_decides_nothing_in_the_next(page: Page, app: App) -> None:
    """An item in front comes into another round by one's own decision, or by another person's."""
    item = REVISION + 12
    at_item(page, app, item, "RV")
    go_on = page.get_by_role("button", name="Go on in this round")
    page.keyboard.press("Shift+K")  # keep, and stay
    expect(go_on).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".so-review .toasts")).to_contain_text("in another round now: revision")
    assert decisions(app, item) == [("RV", "keep")]
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Submit")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Keep")).to_be_visible()  # expected by the person: no pause
    with Store.open(app.db) as store:
        store.leases.release(store.leases.take("RV", item).token)
        Desk(store).until(item, ("RB", "keep"))
    page.keyboard.press("c")
    page.keyboard.type("x")  # the lease is taken: the page learns what has changed
    expect(page.locator(".so-review .toasts")).to_contain_text("RB kept this item. It is in revision now.")
    expect(go_on).to_be_visible()
    expect(page.get_by_label("Comment", exact=True)).to_be_focused()


def test_text_is_kept_and_a_notice_is_shown_if_the_item_went_back_meanwhile(page: Page, app: App) -> None:
    at_item(page, app, 10, "RV")
    write(page, " Too late.")
    saved(page)
    with Store.open(app.db) as store:
        store.reviews.undo(person="RC", item_id=10, key="the screening taken back")
    submit(page)
    expect(notice(page)).to_contain_text(
        "Not sent. RC took a decision back. It is in screening now. What you wrote is kept"
    )
    expect(page.locator(".decision-bar .round")).to_have_text("screening")
    assert "Too late." in autosaved(app, "RV", 10)


def test_a_sent_comment_does_not_become_unsent_text_again(page: Page, app: App) -> None:
    """The autosave is slow: the decision waits for it, so that the autosave cannot arrive later."""
    at_item(page, app, SCREENED, "RV")
    comment = page.get_by_label("Comment", exact=True)

    def slowly(route: Route) -> None:
        page.wait_for_timeout(1500)
        route.continue_()

    page.route("**/autosave", slowly)
    with page.expect_request("**/autosave"):
        comment.fill("a broad Hα")
    page.get_by_role("button", name="Keep").click()
    expect(page.locator(".so-review .toasts")).to_contain_text("Kept")
    page.unroute("**/autosave")
    page.wait_for_timeout(1000)  # a delayed autosave would have been sent by now
    with Store.open(app.db) as store:
        assert [entry.decision.comment for entry in store.items.history(SCREENED)] == ["a broad Hα"]
        assert store.leases.autosaved("RV", SCREENED) is None
    opened(page, app, SCREENED, "RV")
    expect(comment).to_have_value("")


# ---- the disk and the file


def test_a_full_disk_is_reported_and_the_text_is_sent_when_there_is_space(page: Page, app: App) -> None:
    if app.disk is None:
        pytest.skip("a disk that can be filled is mounted by root alone")
    at_item(page, app, 11, "RV")
    with full(app.disk):
        write(page, " On a full disk." + " And so on." * 40)
        expect(notice(page)).to_contain_text("the disk is full. Nothing was saved")
        expect(page.locator(".so-top .saved")).to_have_text("not saved yet")
        submit(page)
        expect(unsent(page)).to_have_text("not sent: 1")
        expect(page.locator(".so-review .card.think").first).to_contain_text("On a full disk.")
        assert len(unsent_here(page)) == 1
    submitted(page, app, 11, "And so on.")
    assert unsent_here(page) == []


def test_a_database_locked_by_another_program_is_reported_within_seconds(page: Page, app: App) -> None:
    at_item(page, app, 12, "RV")
    with locked(app.db):
        write(page, " Behind a lock.")
        expect(notice(page)).to_contain_text("it is locked by another program")
    saved(page)
    expect(notice(page)).to_be_hidden()
    submit(page)
    submitted(page, app, 12, "Behind a lock.")


# ---- the browser

FORBIDDEN = """
for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, { get() { throw new DOMException('forbidden', 'SecurityError') } })
"""
FULL = """
const put = Storage.prototype.setItem
Storage.prototype.setItem = function (name, text) {
  if (text.length > 500) throw new DOMException('full', 'QuotaExceededError')
  put.call(this, name, text)
}
"""


@pytest.mark.parametrize(("item", "storage"), [(13, FORBIDDEN), (14, FULL)], ids=["forbidden", "full"])
def test_without_the_browsers_storage_the_page_works_and_shows_that_it_must_stay_open(
    chromium: Browser, app: App, item: int, storage: str
) -> None:
    with visitor(chromium, private=True) as context:
        context.add_init_script(storage)
        page = context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        at_item(page, app, item, "RV")
        if storage == FORBIDDEN:  # nothing says that the tour was seen
            expect(page.locator(".so-tour")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.locator(".so-tour")).to_have_count(0)
        page.context.set_offline(True)
        write(page, " Nowhere else.")
        expect(strip(page)).to_contain_text("leave this page open")
        page.context.set_offline(False)
        expect(strip(page)).to_be_hidden()
        saved(page)
        assert "Nowhere else." in autosaved(app, "RV", item)


# ---- blind answers


@pytest.fixture(scope="module")
def blind_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Another app, with a blind session for SB."""
    folder = tmp_path_factory.mktemp("blind")
    db = blind_team(folder / "annotations.db", two_sources(2))
    with Store.open(db) as store:
        session = store.blind.sessions.create("CO", Plan("one", ("SB",), each=1), "the drawing")
        store.blind.sessions.open("CO", session.id, "the opening")
    served = App(db)
    served.start()
    yield served
    served.stop()


def at_first_sheet(page: Page, app: App) -> None:
    page.goto("about:blank")
    page.goto(app.url)
    page.get_by_role("tab", name="Blind").click()
    in_front(page, 1)


def blind_answers(app: App) -> int:
    """Return the number of answers, changed answers included."""
    with contextlib.closing(sqlite3.connect(app.db)) as db:
        (count,) = db.execute("SELECT count(*) FROM blind_scores").fetchone()
    return int(count)


def test_a_blind_answer_with_a_lost_reply_counts_once_and_is_kept_over_a_sign_out(page: Page, blind_app: App) -> None:
    enter(page, blind_app, "SB")
    at_first_sheet(page, blind_app)
    lost: list[int] = []

    def lose(request: Route) -> None:
        lost.append(request.fetch(max_retries=3).status)
        request.abort()

    page.route("**/score", lose, times=1)
    before = blind_answers(blind_app)
    for key in ("ArrowUp", "5", "ArrowDown", "4", "Enter"):
        page.keyboard.press(key)
    in_front(page, 2)
    assert (lost, blind_answers(blind_app)) == ([200], before + 1)
    # Held until the cookie is gone: if another request were refused first, the dialog would take the keys.
    routes = held(page, "/score$")
    for key in ("1", "1", "Enter"):
        page.keyboard.press(key)
    wait_for(page, routes)
    page.context.clear_cookies()
    let_go(page, routes)
    expect(strip(page)).to_contain_text("You are signed out")
    expect(page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    page.keyboard.press("Escape")
    routes = held(page, "/score$")
    enter(page, blind_app, "SB")
    wait_for(page, routes)  # the page sends by itself what waited; the person presses Enter meanwhile
    in_front(page, 2)
    page.keyboard.press("Enter")
    for route in routes:
        route.continue_()
    in_front(page, 3)
    assert blind_answers(blind_app) == before + 2
