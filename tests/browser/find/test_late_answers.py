"""The Find tab while answers are late or do not come: what is shown is what the person asked for last."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from reviewer.store import Store
from tests.browser.find.pages import App, button, dialog, filter_by, reload_find, row, search, selected, total
from tests.browser.support.review_app import answered, frames, held, open_tab, wait_for

pytestmark = pytest.mark.browser


def similar(page: Page, item: int) -> None:
    row(page, item).locator("a.open-item").focus()
    page.keyboard.press("t")


def test_similar_items_that_come_after_another_search_are_dropped(page: Page) -> None:
    routes = held(page, r"/similar\?by=text")
    similar(page, 3)
    wait_for(page, routes)
    search(page, "Swan")
    total(page, 50)
    answered(page, routes[0])
    total(page, 50)
    expect(page.locator(".so-find .about")).to_be_hidden()
    expect(page.locator(".so-find .results")).not_to_have_class(re.compile("waiting"))


def test_values_to_filter_by_that_come_late_do_not_change_the_filter(page: Page, store: Store, app: App) -> None:
    view = store.views.create(person="CO", name="second", filter={"batch": "second"})
    filter_by(page, "state", "screening")
    expect(page.locator(".so-find .chips")).to_contain_text("screening")
    routes = held(page, "/api/v1/facets")
    page.goto(f"{app[0]}#view={view.id}")
    page.reload()
    total(page, 50)
    wait_for(page, routes)
    answered(page, *routes)
    batch = page.locator(".so-find .filter [name=batch]")
    expect(batch).to_have_value("second")
    expect(page.locator(".so-find .filter [name=state]")).to_have_value("")


def test_of_two_views_the_one_that_was_chosen_last_is_opened(page: Page, store: Store) -> None:
    first = store.views.create(person="CO", name="words of the sky", filter={"words": "sky"})
    store.views.create(person="CO", name="all of pilot", filter={"batch": "pilot"})
    reload_find(page)
    routes = held(page, f"/api/v1/views/{first.id}$")
    page.locator(".so-find .views a", has_text="words of the sky").click()
    wait_for(page, routes)
    page.locator(".so-find .views a", has_text="all of pilot").click()
    total(page, 100)
    answered(page, routes[0])
    total(page, 100)
    expect(page.locator(".so-find .views li.current")).to_contain_text("all of pilot")


def test_a_reload_keeps_the_search_that_followed_a_view(page: Page, store: Store) -> None:
    view = store.views.create(person="CO", name="only pilot", filter={"batch": "pilot"})
    reload_find(page)
    page.locator(f".so-find .views a[href='#view={view.id}']").click()
    total(page, 100)
    page.reload()
    total(page, 100)
    expect(page.locator(".so-find .views li.current")).to_contain_text("only pilot")
    filter_by(page, "batch", "second")
    total(page, 50)
    page.reload()
    total(page, 50)


def test_an_action_whose_dialog_is_closed_meanwhile_is_told_with_its_undo(page: Page, store: Store) -> None:
    row(page, 2).locator(".tick input").click()
    button(page, "Set batch …").click()
    page.keyboard.type("closed too soon")
    change = dialog(page).get_by_role("button", name="Change the batch of 1 item")
    expect(change).to_be_enabled()
    routes = held(page, "/api/v1/bulk$")
    change.click()
    wait_for(page, routes)
    page.keyboard.press("Escape")
    expect(dialog(page)).to_have_count(0)
    routes[0].continue_()
    expect(page.locator(".so-find .notice")).to_contain_text("1 item is in the new batch.")
    expect(row(page, 2).locator(".batch")).to_have_text("closed too soon")
    page.locator(".so-find .notice").get_by_role("button", name="Undo").click()
    expect(row(page, 2).locator(".batch")).to_have_text("pilot")
    assert store.items.get(2).row.batch == "pilot"


def test_an_action_without_an_answer_says_so_and_can_be_sent_again(page: Page, store: Store) -> None:
    row(page, 2).locator(".tick input").click()
    button(page, "Set batch …").click()
    page.keyboard.type("once")
    change = dialog(page).get_by_role("button", name="Change the batch of 1 item")
    routes = held(page, "/api/v1/bulk$")
    change.click()
    wait_for(page, routes)
    routes[0].fetch(max_retries=3)
    routes[0].abort()
    expect(dialog(page).locator(".note")).to_contain_text("The server does not answer. Is it still running?")
    change.click()
    wait_for(page, routes, 2)
    routes[1].continue_()
    expect(row(page, 2).locator(".batch")).to_have_text("once")
    assert [(action.details, action.items) for action in store.bulk.actions(1)] == [({"batch": "once"}, 1)]
    assert "once" not in [action.details.get("batch") for action in store.bulk.actions()[1:]]


def test_people_who_come_late_can_be_chosen(page: Page) -> None:
    routes = held(page, "/api/v1/facets")
    page.reload()
    total(page, 150)
    wait_for(page, routes)
    row(page, 2).locator(".tick input").click()
    button(page, "Assign …").click()
    wait_for(page, routes, 2)
    for route in routes:
        route.continue_()
    expect(dialog(page).locator(".people label")).to_have_count(3)


def test_a_search_is_repeated_when_the_server_answers_again(page: Page) -> None:
    page.route(re.compile("/api/v1/(find|me|queue)"), lambda route: route.abort())
    search(page, "Swan")
    expect(page.locator(".so-find .notice")).to_contain_text("The server does not answer.")
    expect(page.locator(".so-find .results")).to_have_class(re.compile("waiting"))
    page.unroute_all()
    total(page, 50)
    expect(page.locator(".so-find .notice")).to_be_hidden()


def test_what_is_selected_stays_if_nothing_is_saved(page: Page) -> None:
    similar(page, 3)
    expect(page.locator(".so-find .about")).to_contain_text("Similar to item 3")
    page.locator(".so-find tbody.hit .tick input").first.click()
    button(page, "Save view …").click()
    expect(dialog(page)).to_contain_text("items as a list")
    page.keyboard.press("Escape")
    selected(page, "1 selected")


def test_groups_stay_while_another_tab_is_in_front(page: Page) -> None:
    button(page, "Groups …").click()
    groups = page.locator(".so-find .groups")
    expect(groups).to_be_visible()
    expect(groups.locator("progress")).to_be_hidden(timeout=120_000)
    open_tab(page, "Review")
    page.get_by_role("tab", name="Find", exact=True).click()
    frames(page)
    expect(groups).to_be_visible()
    button(page, "back to the search").click()
    total(page, 150)
