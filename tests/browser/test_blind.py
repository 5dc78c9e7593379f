"""A blind session from setup to closing, with three scorers and a coordinator, in the real app."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from reviewer.blind.plan import Plan
from reviewer.store import Store
from tests.browser.support.blind_app import blind, in_front, open_blind
from tests.browser.support.review_app import picture, serving, signed_in
from tests.support.blind_campaign import PASSWORD, SESSION_SCORERS, TELLING, ZETA, team, two_sources

pytestmark = pytest.mark.browser


def set_up(page: Page) -> None:
    """Set up and open a session as a coordinator."""
    expect(page.get_by_role("button", name="Create session")).to_be_in_viewport(ratio=1)
    page.get_by_label("Name").fill("zeta against omega")
    page.get_by_label("both", exact=True).check()
    for scorer in SESSION_SCORERS:
        page.locator(f"[name=scorers][value={scorer}]").check()
    page.get_by_label("Hidden repeats per scorer").fill("1")
    page.get_by_label("Scorers per spectrum").fill("3")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("SA: ")
    expect(page.locator(".preview tr", has_text="pairs")).to_contain_text("4")
    page.get_by_role("button", name="Create session").click()
    card = page.locator(".session")
    expect(card.locator(".giveaways li", has_text="GPT-5").first).to_contain_text(TELLING.strip())
    expect(card.locator(".checks")).to_contain_text("it takes 10 traces of each source")
    expect(card.locator(".checks")).to_contain_text("drawn anew")
    page.get_by_role("button", name="Open for scoring").click()
    expect(card.locator("header .pill")).to_have_text("open")
    expect(card.locator(".about")).to_contain_text("3 scorers per spectrum · 1 repeat per scorer")
    expect(card.locator(".about")).to_contain_text(
        "Analysis plan: physical consistency, the first source less the second"
    )
    expect(card.locator(".about")).to_contain_text("SHA-256")


def score_by_mouse(page: Page) -> int:
    """Answer all questions with the mouse; return their number."""
    count = page.locator(".blind .place").count()
    for place in range(1, count + 1):
        in_front(page, place)
        if page.evaluate("window.specO3.blind.scoring.isPair"):
            page.locator(".choices .option").nth(2).click()
        else:
            page.locator("[data-scale=coherence] .option").nth(place % 6).click()
            page.locator("[data-scale=consistency] .option").nth(6).click()
        page.get_by_role("button", name="Save and next").click()
    expect(page.locator(".notice.done")).to_contain_text(f"All {count} are answered")
    return count


@pytest.mark.smoke
def test_a_session_from_set_up_to_closed(chromium: Browser, tmp_path: Path) -> None:
    db = team(tmp_path / "annotations.db", two_sources(4, TELLING))
    with serving(db) as url:
        with blind(chromium, url, "CO") as page:
            set_up(page)
        with blind(chromium, url, "SA") as page:
            count = score_by_keyboard(page)
        with blind(chromium, url, "SB") as page:
            assert score_by_mouse(page) == count
        with blind(chromium, url, "CO") as page:
            progress = page.locator(".session .scorer")
            expect(progress.nth(0)).to_contain_text(f"{count} of {count}")
            expect(progress.nth(2)).to_contain_text(f"0 of {count}")
            assert "a comment to keep" not in page.content()
            expect(page.get_by_role("link", name="Report")).to_have_count(0)
            page.get_by_role("button", name="Close…").click()
            expect(page.locator("dialog")).to_contain_text(f"{count} answers are still missing")
            page.get_by_role("button", name="Cancel").click()
            expect(page.locator(".session header .pill")).to_have_text("open")
            page.get_by_role("button", name="Close…").click()
            page.get_by_role("button", name="Close session").click()
            expect(page.locator(".session header .pill")).to_have_text("closed")
            page.goto(url + "api/v1/blind/sessions/1/report.html")
            expect(page.locator("body")).to_contain_text(ZETA)
            figures = page.locator("#figures .plot")
            expect(figures.locator(".main-svg:first-child")).to_have_count(figures.count())
            for width in (390, 1366):
                page.set_viewport_size({"width": width, "height": 768})
                expect(figures.last).to_be_visible()
                expect(page.locator("html")).to_have_js_property("scrollWidth", width)
        with signed_in(chromium, url, "SC", PASSWORD) as page:
            expect(page.locator(".so-review .item .name")).to_contain_text("zq-observed")
            open_blind(page)
            expect(page.locator(".blind")).to_contain_text("Nothing to score")
    with Store.open(db) as store:
        responses = [r for r in store.blind.results.of_session(None, 1).responses if r.scorer == "SA"]
    assert len(responses) == count
    assert {response.answer.comment for response in responses} == {"", "a comment to keep"}


def score_by_keyboard(page: Page) -> int:
    """Answer all questions by keyboard, the first one with every feature; return their number."""
    press = page.keyboard.press
    in_front(page, 1)
    count = page.locator(".blind .place").count()
    trace, window = page.locator(".blind .steps > .trace").first, page.locator(".blind .so-full .so-badge.so-selected")
    press("ArrowLeft")
    expect(trace.locator(".card.selected .number")).to_have_text("1")
    for _ in range(3):
        press("ArrowRight")
    expect(trace.locator(".card.selected .number")).to_have_text("4")
    expect(window).to_have_text("4")
    press("k")
    press("w")
    expect(trace.locator(".card.selected .mark.set")).to_contain_text("this claim is wrong")
    press("Enter")
    expect(page.locator(".blind .toast")).to_contain_text("Score both scales first")
    press("4")
    press("t")
    expect(chosen(page, "coherence")).to_contain_text("sound, small lapses")
    expect(chosen(page, "consistency")).to_contain_text("cannot tell")
    press("c")
    page.keyboard.type("a comment to keep 5")
    expect(chosen(page, "coherence")).to_contain_text("sound, small lapses")
    # Unsaved input is restored after a reload.
    page.reload()
    page.wait_for_function("window.specO3?.blind")
    in_front(page, 1)
    expect(page.locator(".blind .comment")).to_have_value("a comment to keep 5")
    expect(page.locator(".blind .notice")).to_contain_text("has been restored")
    expect(trace.locator(".marked")).to_have_count(1)
    picture(page, "blind")
    press("c")
    press("End")
    press("Backspace")
    press("Control+Enter")
    in_front(page, 2)
    # Places are opened in order: this one, and the last answers before it.
    places = page.locator(".blind .place")
    expect(places.nth(0)).to_be_enabled()
    expect(places.nth(2)).to_be_disabled()
    press("]")
    expect(page.locator(".blind .toast").last).to_contain_text("Answer this one first")
    press("[")
    in_front(page, 1)
    expect(page.locator(".blind .state")).to_have_text("saved")
    press("ArrowUp")
    press("5")
    press("Enter")
    in_front(page, 2)
    expect(page.locator(".blind .done")).to_contain_text(f"1 of {count}")
    press("?")
    expect(page.locator("dialog .rubric")).to_contain_text("Every claim can be seen in the spectrum")
    press("1")
    press("Escape")
    assert page.locator(".blind .option.chosen").count() == 0
    for place in range(2, count + 1):
        in_front(page, place)
        if page.evaluate("window.specO3.blind.scoring.isPair"):
            expect(page.locator(".blind .question")).to_contain_text("regardless of the verdict")
            expect(page.locator(".blind .side.front")).to_have_text("left")
            press("1")
        else:
            press(str(place % 6))
            press("3")
        if place == count:
            press("ArrowDown")
            press("ArrowRight")
            expect(window).to_have_text("R2")
        press("Enter")
    expect(page.locator(".blind .notice.done")).to_contain_text(f"All {count} are answered. You can change the last")
    expect(page.locator(".blind .place").first).to_be_disabled()
    return count


def chosen(page: Page, scale: str) -> Locator:
    return page.locator(f"[data-scale={scale}] .option.chosen")


def test_an_answer_changed_while_it_is_saved_stays_in_front_and_practice_has_a_banner(
    chromium: Browser, tmp_path: Path
) -> None:
    db = team(tmp_path / "annotations.db", two_sources(2))
    with Store.open(db) as store:
        plan = Plan("practice", ("SA",), each=1, items=(1, 2), training=(3,))
        session = store.blind.sessions.create("CO", plan, "the drawing")
        store.blind.sessions.open("CO", session.id, "the opening")
    banner = "Practice: this one does not count"
    with serving(db) as url, blind(chromium, url, "SA") as page:
        in_front(page, 1)
        expect(page.locator(".blind .item")).to_contain_text(banner)
        for key in ("3", "3", "Enter"):
            page.keyboard.press(key)
        in_front(page, 2)
        expect(page.locator(".blind .item")).not_to_contain_text(banner)
        page.keyboard.press("2")
        page.keyboard.press("3")
        page.evaluate("() => { const { scoring } = specO3.blind; scoring.save(); scoring.score('coherence', 4) }")
        expect(page.locator(".blind .notice")).to_contain_text("You changed the answer while it was being saved")
        in_front(page, 2)
        expect(page.locator(".blind .state")).to_have_text("not saved yet")
        page.keyboard.press("Enter")
        in_front(page, 3)
    with Store.open(db) as store:
        store.blind.sessions.close("CO", session.id, "the closing")
        (response,) = (r for r in store.blind.results.of_session(None, session.id).responses if r.changes)
    assert (response.first_answer.coherence, response.answer.coherence, response.changes) == (2, 4, 1)


def test_the_form_points_at_a_wrong_field_in_a_folded_part(chromium: Browser, tmp_path: Path) -> None:
    db = team(tmp_path / "annotations.db", two_sources(1))
    with serving(db) as url, blind(chromium, url, "CO") as page:
        plan = page.locator("details", has_text="Analysis plan")
        for button in ("Preview", "Create session"):
            page.get_by_label("Name").fill("one")
            plan.evaluate("(part) => { part.open = true; part.querySelector('[name=gold_within]').value = 2 }")
            plan.evaluate("(part) => { part.open = false }")
            page.get_by_role("button", name=button).click()
            expect(plan).to_have_attribute("open", "")
            expect(page.locator(".session")).to_have_count(0)


@pytest.mark.smoke
def test_an_answer_is_kept_while_the_server_does_not_answer(chromium: Browser, tmp_path: Path) -> None:
    db = team(tmp_path / "annotations.db", two_sources(1))
    with Store.open(db) as store:
        session = store.blind.sessions.create("CO", Plan("one", ("SA",), each=1), "the drawing")
        store.blind.sessions.open("CO", session.id, "the opening")
    with serving(db) as url, blind(chromium, url, "SA") as page:
        in_front(page, 1)
        page.keyboard.press("2")
        page.keyboard.press("3")
        page.route("**/score", lambda route: route.abort())
        page.keyboard.press("Enter")
        expect(page.locator(".blind .state")).to_have_text("not sent yet")
        expect(chosen(page, "coherence")).to_contain_text("broken")
        page.unroute("**/score")
        in_front(page, 2)
        with Store.open(db) as store:
            assert [work.answered for work in store.blind.scoring.assignments("SA")] == [True, False]
            store.blind.sessions.close("CO", session.id, "the closing")
        page.keyboard.press("2")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        expect(page.locator(".blind .notice")).to_contain_text("is closed")
        expect(page.locator(".blind .state")).to_have_text("not saved")
