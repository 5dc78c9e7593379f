"""The Find tab: search, selection, actions on many items with preview and undo, views, similar items and groups."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from reviewer.store import Store
from tests.browser.find.pages import App, button, dialog, filter_by, reload_find, row, search, selected, total
from tests.browser.support.review_app import (
    PASSWORD,
    answered,
    held,
    open_tab,
    run_timers,
    settled,
    signed_in,
    wait_for,
)
from tests.support.drawn_traces import decide

pytestmark = pytest.mark.browser
SKY = list(range(3, 151, 3))


def states(store: Store, items: list[int]) -> list[str]:
    return [store.items.get(item).row.state for item in items]


@pytest.mark.smoke
def test_words_are_found_while_a_person_types_and_nothing_else_moves(page: Page) -> None:
    places = "() => ['.search-field', '.found-line', '.selection-bar', '.results']"
    boxes = f"{places[6:]}.map((place) => JSON.stringify(document.querySelector(`.so-find ${{place}}`)"
    boxes += ".getBoundingClientRect()))"
    before = page.evaluate(boxes)
    search(page, "sky lin ")
    total(page, 0)
    expect(page.locator(".so-find .nothing")).to_contain_text("No trace and no remark has all of these words.")
    assert page.evaluate(boxes) == before
    # The last word may go on while it is typed.
    search(page, "sky lin")
    total(page, 50)
    assert page.evaluate(boxes) == before
    search(page, "sky line")
    total(page, 50)
    assert page.evaluate(boxes) == before
    expect(row(page, 3).locator("mark")).to_have_text(["sky", "line"])
    search(page, "-sky")
    expect(page.locator(".so-find .total")).to_contain_text("Add a word to search for")
    expect(button(page, "Review these")).to_be_disabled()
    assert page.evaluate(boxes) == before


def test_letters_of_an_input_method_are_not_searched_for(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.keyboard.press("/")
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "swan", "selectionStart": 4, "selectionEnd": 4})
    run_timers(page, 400)
    assert not [url for url in asked if "/find?" in url]
    keyboard.send("Input.insertText", {"text": "Swan"})
    total(page, 50)


@pytest.mark.smoke
def test_a_late_answer_to_an_earlier_search_is_dropped(page: Page) -> None:
    late = held(page, r"/api/v1/find\?words=sky\*")
    search(page, "sky")
    wait_for(page, late)
    search(page, "Swan")
    total(page, 50)
    expect(row(page, 2)).to_be_visible()
    answered(page, late[0])
    expect(row(page, 2)).to_be_visible()
    expect(row(page, 3)).to_have_count(0)


def test_further_rows_come_while_one_scrolls(page: Page) -> None:
    rows = page.locator(".so-find tbody.hit")
    expect(rows).to_have_count(100)
    page.locator(".so-find .results").evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
    expect(rows).to_have_count(150)
    numbers = rows.evaluate_all("(all) => all.map((one) => Number(one.dataset.item))")
    assert numbers == list(range(1, 151))


def test_rows_show_their_spectra_which_are_loaded_together_and_once(page: Page) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if "/api/v1/sparklines" in request.url else None)
    reload_find(page)
    lines = page.locator(".so-find tbody.hit .sparkline path[d^='M']")
    expect(lines).to_have_count(100)
    box = row(page, 1).locator(".sparkline").bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (120, 24)
    search(page, "sky line")
    total(page, 50)
    expect(lines).to_have_count(50)
    search(page, "")
    total(page, 150)
    expect(lines).to_have_count(100)
    assert len(requests) <= 3, "the queue of Review has some, and a search may bring rows that were not loaded before"
    keys = [key for request in requests for key in request.split("of=")[1].split(",")]
    assert len(keys) == len(set(keys))


@pytest.mark.smoke
def test_the_keyboard_searches_selects_and_opens(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("sky line")
    # Typing that takes long is more than one search; a selection ends with its search.
    page.wait_for_function(
        """() => window.specO3.find.filter.words === 'sky line*'
          && !document.querySelector('.so-find .results').classList.contains('waiting')"""
    )
    total(page, 50)
    page.keyboard.press("ArrowDown")
    expect(row(page, 3).locator("a.open-item")).to_be_focused()
    page.keyboard.press("x")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+X")
    selected(page, "4 selected")
    row(page, 9).locator(".tick input").click()
    selected(page, "3 selected")
    row(page, 18).locator(".tick input").click(modifiers=["Shift"])
    selected(page, "6 selected")
    row(page, 12).locator("a.open-item").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("window.specO3.review.current?.item.id === 12")
    expect(page.locator(".so-review .decision-bar")).to_be_visible()


def test_a_row_opens_in_a_new_browser_tab_with_ctrl(page: Page) -> None:
    with page.context.expect_page() as opened:
        row(page, 5).locator(".state").click(modifiers=["Control"])
    opened.value.wait_for_function("window.specO3?.review?.current?.item.id === 5")
    expect(row(page, 5)).to_be_visible()


def test_a_selection_ends_with_its_search(page: Page) -> None:
    button(page, "select these 100").click()
    selected(page, "100 selected")
    button(page, "select all 150 that match").click()
    selected(page, "150 selected")
    row(page, 2).locator(".tick input").click()
    selected(page, "149 selected")
    filter_by(page, "batch", "second")
    expect(page.locator(".so-find .toasts")).to_contain_text("The search has changed, so nothing is selected")
    total(page, 50)
    selected(page, "Nothing selected")
    expect(button(page, "Reject …")).to_be_disabled()


@pytest.mark.smoke
def test_many_are_rejected_after_a_preview_and_the_action_is_undone(page: Page, store: Store) -> None:
    decide(store, "RE", 150, "reject", reason="bad_data")
    search(page, "sky line")
    total(page, 50)
    button(page, "select all 50 that match").click()
    row(page, 9).locator(".tick input").click()
    button(page, "Reject …").click()
    expect(dialog(page)).to_contain_text("Choose a reason to see what will change.")
    dialog(page).get_by_label("Bad data").check()
    expect(dialog(page).locator(".bulk-preview")).to_contain_text("48 items will be rejected:48: screening → rejected")
    expect(dialog(page).locator(".bulk-preview")).to_contain_text("1 item is left out:")
    expect(dialog(page).locator(".bulk-preview")).to_contain_text("already rejected. (150)")
    dialog(page).get_by_role("button", name="Reject 48 items").click()
    expect(page.locator(".so-find .notice")).to_contain_text("48 items are rejected.")
    assert set(states(store, [item for item in SKY if item != 9])) == {"rejected"}
    assert states(store, [9]) == ["screening"]
    expect(row(page, 3).locator(".state")).to_have_text("rejected")
    selected(page, "Nothing selected")
    page.locator(".so-find .notice").get_by_role("button", name="Undo").click()
    expect(page.locator(".so-find .toasts")).to_contain_text("Undone: 48 items are as they were before.")
    expect(row(page, 3).locator(".state")).to_have_text("screening")
    assert set(states(store, [item for item in SKY if item != 150])) == {"screening"}
    button(page, "Past actions …").click()
    expect(dialog(page).locator("tr")).to_contain_text(["48 items are rejected. Bad data"])
    expect(dialog(page).locator("tr").first).to_contain_text("undone")


@pytest.mark.smoke
def test_nothing_is_done_if_the_items_have_changed_since_the_preview(page: Page, store: Store) -> None:
    search(page, "Swan")
    total(page, 50)
    button(page, "select all 50 that match").click()
    button(page, "Reject …").click()
    dialog(page).get_by_label("Duplicate").check()
    expect(dialog(page).get_by_role("button", name="Reject 50 items")).to_be_enabled()
    decide(store, "RE", 149, "reject", reason="bad_data")
    dialog(page).get_by_role("button", name="Reject 50 items").click()
    expect(dialog(page).locator(".note")).to_contain_text("so nothing was done. This is the new preview:")
    expect(dialog(page).get_by_role("button", name="Reject 49 items")).to_be_enabled()
    assert states(store, [2, 149]) == ["screening", "rejected"]
    dialog(page).get_by_role("button", name="Cancel").click()
    expect(dialog(page)).to_have_count(0)


@pytest.mark.smoke
def test_items_are_assigned_found_by_assignee_and_put_into_a_batch(page: Page, store: Store) -> None:
    search(page, "Balmer absorption")
    total(page, 50)
    button(page, "select all 50 that match").click()
    button(page, "Assign …").click()
    expect(dialog(page).locator(".people label")).to_have_text(["AU · Person AU", "CO · Person CO", "RE · Person RE"])
    dialog(page).get_by_label("RE").check()
    dialog(page).get_by_label("AU").check()
    dialog(page).get_by_role("button", name="Assign 50 items").click()
    expect(row(page, 4).locator(".assigned")).to_have_text("AU, RE")
    page.keyboard.press("Escape")
    open_tab(page, "Progress")
    card = page.locator(".so-progress section", has=page.get_by_role("heading", name="Assigned"))
    expect(card.locator("tbody tr").first).to_have_text(re.compile("AU50screening.50"))
    page.get_by_role("tab", name="Find", exact=True).click()
    search(page, "")
    filter_by(page, "assigned", "RE")
    total(page, 50)
    expect(page.locator(".so-find .chips")).to_contain_text("assigned to RE")
    # A person who has left the team gets no new assignments; earlier ones can be taken back.
    store.accounts.deactivate(None, "AU")
    page.reload()
    row(page, 4).locator(".tick input").click()
    button(page, "Assign …").click()
    expect(dialog(page).locator(".people label")).to_have_text(["CO · Person CO", "RE · Person RE"])
    page.keyboard.press("Escape")
    button(page, "Unassign …").click()
    dialog(page).get_by_label("AU · Person AU").check()
    dialog(page).get_by_role("button", name="Take back the assignment of 1 item").click()
    expect(row(page, 4).locator(".assigned")).to_have_text("RE")
    store.accounts.reactivate(None, "AU")
    filter_by(page, "assigned", "nobody")
    total(page, 100)
    row(page, 2).locator(".tick input").click()
    button(page, "Set batch …").click()
    page.keyboard.type("third look")
    dialog(page).get_by_role("button", name="Change the batch of 1 item").click()
    expect(row(page, 2).locator(".batch")).to_have_text("third look")
    assert store.items.get(2).row.batch == "third look"


def test_a_saved_view_is_opened_by_another_person_from_its_link(chromium: Browser, page: Page, app: App) -> None:
    search(page, "sky line")
    filter_by(page, "batch", "second")
    total(page, 17)
    button(page, "Save view …").click()
    page.keyboard.type("sky lines of the second batch")
    dialog(page).get_by_label("shared").check()
    page.keyboard.press("Enter")
    view = page.locator(".so-find .views a", has_text="sky lines of the second batch")
    expect(view).to_have_attribute("aria-current", "true")
    link = view.get_attribute("href")
    with signed_in(chromium, app[0], "RE", PASSWORD) as other:
        other.goto(f"{app[0]}{link}")
        total(other, 17)
        expect(other.get_by_role("searchbox", name="Search in traces and comments")).to_have_value("sky line*")
        expect(other.locator(".so-find .chips")).to_contain_text("batch second")
        expect(other.locator(".so-find .views li.current")).to_contain_text("by CO")
        actions = other.locator(".so-find [data-action]").evaluate_all("(all) => all.map((a) => a.dataset.action)")
        assert actions == ["reject", "list", "more-like"]


def test_a_view_that_is_not_shared_is_refused_with_the_reason(chromium: Browser, app: App) -> None:
    _, store = app
    view = store.views.create(person="CO", name="mine", filter={})
    with signed_in(chromium, app[0], "AU", PASSWORD) as page:
        page.evaluate("(id) => { location.hash = `#view=${id}` }", view.id)
        expect(page.locator(".so-find .notice")).to_contain_text(re.compile("view", re.IGNORECASE))
        total(page, 150)


def test_a_view_is_deleted_only_after_the_question(page: Page, store: Store) -> None:
    view = store.views.create(person="CO", name="two <b>items</b>", items=[7, 31], shared=True)
    reload_find(page)
    page.locator(".so-find .views a", has_text=view.name).click()
    total(page, 2)
    menu = page.get_by_role("button", name=f"Change or share the view {view.name}", exact=True)
    for answer in ("Cancel", "Delete the view"):
        menu.click()
        dialog(page).get_by_role("button", name="Delete …", exact=True).click()
        expect(dialog(page).get_by_role("heading")).to_have_text(f"Delete the view “{view.name}”?")
        expect(dialog(page)).to_contain_text("The list cannot be brought back. Its 2 items stay as they are.")
        expect(dialog(page)).to_contain_text("It disappears from the lists of all people")
        assert store.views.get("CO", view.id) == view
        dialog(page).get_by_role("button", name=answer, exact=True).click()
        expect(dialog(page)).to_have_count(0)
        if answer == "Cancel":
            expect(menu).to_be_focused()
    expect(page.locator(".so-find .toasts")).to_contain_text(f"The view “{view.name}” is deleted.")
    expect(menu).to_have_count(0)
    total(page, 150)
    assert view.id not in [one.id for one in store.views.of_person("CO")]


@pytest.mark.smoke
def test_a_list_is_reviewed_one_by_one(page: Page) -> None:
    for item in (7, 31, 64):
        row(page, item).locator(".tick input").click()
    button(page, "Save as list …").click()
    page.keyboard.type("three of them")
    page.keyboard.press("Enter")
    page.locator(".so-find .views a", has_text="three of them").click()
    total(page, 3)
    expect(page.locator(".so-find .chips")).to_contain_text("list “three of them”")
    button(page, "Review these").click()
    page.wait_for_function("window.specO3.review.current?.item.id === 7")
    settled(page)
    expect(page.locator(".so-review .chips")).to_contain_text("list “three of them”")
    page.keyboard.press("n")
    page.wait_for_function("window.specO3.review.current?.item.id === 31")
    expect(page.locator(".so-review .queue-title")).to_contain_text("3 items")


def test_a_blind_session_is_begun_with_the_selected_items(page: Page) -> None:
    for item in (8, 20):
        row(page, item).locator(".tick input").click()
    button(page, "Blind session …").click()
    page.keyboard.type("for a session")
    page.keyboard.press("Enter")
    expect(page.locator(".so-blind .blind-setup [name=listed] option:checked")).to_contain_text("for a session")
