"""The Progress and People tabs and the sign-in page, in a real browser on the real app."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reviewer.rules.inspection import Inspection
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from tests.browser.support.review_app import held, let_go, serving_here, wait_for
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved, decide

pytestmark = pytest.mark.browser
# A first page load on a busy machine is slow; nothing here is timed.
PASSWORD = "Hα in emission"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty database; exports are written next to it."""
    store = Store.open(tmp_path / "annotations.db")
    yield store
    store.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four items: two approved, one rejected, one without decisions. AA signs in with a password."""
    path = tmp_path_factory.mktemp("prepared") / "campaign.db"
    with a_store(path) as store:
        store.accounts.set_password("AA", "AA", PASSWORD)
        traces = [(a_trace(s), s) for s in (a_spectrum(f"{name}.fits") for name in "abcd")]
        add_approved(store, *traces[:2])
        rejected, _ = (a.item_id for a in store.items.add_all([Draft(t, s, batch="second") for t, s in traces[2:]]))
        decide(store, "BB", rejected, "reject", reason="bad_data")
    return path


@pytest.fixture
def campaign(prepared: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copy(prepared, tmp_path))) as store:
        yield store


# A test that requests these before ``page`` closes the browser before its server.
@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with serving_here(store) as address:
        yield address


@pytest.fixture
def campaign_address(campaign: Store) -> Iterator[str]:
    with serving_here(campaign) as address:
        yield address


def enter(page: Page, address: str, initials: str, password: str | None = None) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(address)
    page.get_by_label("Initials").fill(initials)
    if password is not None:
        page.get_by_label("Password").fill(password)
    page.get_by_role("button").click()


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


@pytest.mark.smoke
def test_a_team_signs_in_with_passwords_and_a_wrong_one_is_refused(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    enter(page, campaign_address, "AA", "not the password")
    expect(page.get_by_role("alert")).to_have_text("Initials and password do not match.")
    expect(page.get_by_label("Initials")).to_have_value("AA")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("tab", name="People", exact=True)).to_be_visible()


@pytest.mark.smoke
def test_a_person_who_works_alone_starts_a_team_and_adds_a_person(store: Store, address: str, page: Page) -> None:
    enter(page, address, "ab")
    open_tab(page, "People")
    people, dialog = page.locator(".so-people"), page.locator("dialog.panel")
    expect(people.get_by_text("You work here without a password")).to_be_visible()
    expect(people.get_by_role("row", name="AB")).to_contain_text("with initials alone")
    # Whoever has no password sets their own first.
    people.get_by_role("button", name="Add a person").click()
    dialog.get_by_label("New password").fill(PASSWORD)
    dialog.get_by_label("Repeat the password").fill("another password")
    dialog.get_by_role("button", name="Set my password").click()
    expect(dialog.get_by_text("The two passwords differ; nothing was changed.")).to_be_visible()
    dialog.get_by_label("Repeat the password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(people.get_by_text("This is a team now")).to_be_visible()
    expect(dialog).to_be_hidden()
    # The person goes on where they are.
    expect(people.get_by_text("adding the second person sets the rules of a team")).to_be_visible()
    page.locator(".so-person > button").click()
    expect(page.locator("#so-person .who")).to_have_text("AB · auditor, coordinator, reviewer")
    page.keyboard.press("Escape")
    people.get_by_role("button", name="Add a person").click()
    dialog.get_by_role("button", name="Generate a password").click()
    expect(dialog.get_by_text("Copy this password now")).to_be_visible()
    first = dialog.get_by_label("First password")
    expect(first).to_have_attribute("type", "text")
    generated = first.input_value()
    dialog.get_by_label("Show the password").uncheck()
    expect(first).to_have_attribute("type", "password")
    dialog.get_by_label("Initials").fill("CD")
    dialog.get_by_label("Full name").fill("Cyril Dune")
    expect(dialog.get_by_label("Set the rules of a team: 2 audits, 2 votes")).to_be_checked()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(people.get_by_text("CD can sign in now as reviewer. The rules of a team apply: 2 people")).to_be_visible()
    expect(page.get_by_text("let one person do every round")).to_be_hidden()
    assert store.settings.rules() == Rules()
    assert store.accounts.sign_in("CD", generated).person == "CD"
    assert [(p.initials, p.has_password) for p in store.accounts.people()] == [("AB", True), ("CD", True)]


@pytest.mark.smoke
def test_a_row_opens_the_sheet_of_a_person(campaign: Store, campaign_address: str, page: Page) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "People")
    people, dialog = page.locator(".so-people"), page.locator("dialog.panel")
    row = people.get_by_role("row", name="BB")
    expect(row).to_contain_text("no password yet")
    row.click()
    dialog.get_by_label("Name shown").fill("Berta van Dune")
    dialog.get_by_label("auditor").uncheck()
    dialog.get_by_label("coordinator").uncheck()
    dialog.get_by_role("button", name="Save", exact=True).click()
    expect(people.get_by_text("BB is shown as Berta van Dune now. BB is now reviewer.")).to_be_visible()
    expect(row).to_contain_text("Berta van Dune")
    expect(row.locator(".pill")).to_have_text(["reviewer", "no password yet"])
    # The same by keyboard.
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    dialog.locator("summary", has_text="New password").click()
    dialog.get_by_label("New password").fill("short")
    page.keyboard.press("Enter")
    expect(dialog.get_by_text("password: found 5 characters, expected 8 to 200")).to_be_visible()
    dialog.get_by_label("New password").fill("Paschen break")
    page.keyboard.press("Enter")
    expect(people.get_by_text("BB has a new password and is signed out everywhere.")).to_be_visible()
    expect(row).to_contain_text("with a password")
    assert campaign.accounts.sign_in("BB", "Paschen break").person == "BB"
    row.click()
    dialog.get_by_role("button", name="Deactivate").click()
    expect(people.get_by_text("BB is no longer active.")).to_be_visible()
    expect(row).to_contain_text("not active")
    row.click()
    dialog.get_by_role("button", name="Reactivate").click()
    expect(people.get_by_text("BB is active again.")).to_be_visible()
    assert (campaign.accounts.person("BB").name, campaign.accounts.person("BB").active) == ("Berta van Dune", True)


@pytest.mark.smoke
def test_rules_are_described_while_they_are_changed_and_then_saved(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "People")
    dialog = page.locator("dialog.panel")
    page.get_by_role("button", name="Rules").click()
    alone = dialog.get_by_label("One person may do every round")
    votes = dialog.get_by_label("Votes")
    alone.check()
    expect(dialog.get_by_text("One person may screen, revise")).to_be_visible()
    expect(votes).to_be_disabled()
    alone.uncheck()
    expect(votes).to_be_enabled()
    expect(votes).to_have_value("2")
    dialog.get_by_label("To approve").fill("3")
    refused = dialog.get_by_text("“To approve” cannot exceed the number of votes (2).")
    expect(refused).to_be_visible()
    saving = held(page, "/api/v1/rules$")
    dialog.get_by_role("button", name="Save rules").click()
    wait_for(page, saving)
    votes.fill("3")  # before the refusal to save has come
    let_go(page, saving)
    expect(dialog.get_by_text("3 people vote: 3 to approve make it approved")).to_be_visible()
    expect(refused).to_be_hidden()
    dialog.get_by_role("button", name="Save rules").click()
    expect(page.get_by_text("Saved. The new rules apply to open rounds")).to_be_visible()
    assert campaign.settings.rules() == Rules(auditors=2, votes=3, approve_at=3, reject_at=2)
    page.get_by_role("button", name="Verdict first", exact=True).click()
    dialog.get_by_label("second").check()
    dialog.get_by_role("button", name="Save batches").click()
    expect(page.get_by_text("Saved. The rule applies at once.")).to_be_visible()
    assert campaign.settings.get("verdict_first") == ["second"]


@pytest.mark.smoke
def test_a_session_that_ended_is_renewed_where_the_person_is(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    """What was typed in a dialog stays below the one for the password."""
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "People")
    page.get_by_role("button", name="Add a person").click()
    adding = page.get_by_role("dialog", name="Add a person")
    adding.get_by_label("Initials").fill("ZZ")
    adding.get_by_label("Full name").fill("Zoe Zenith")
    adding.get_by_label("First password").fill("another password")
    with_session = page.context.cookies()
    page.context.clear_cookies()
    adding.get_by_role("button", name="Add", exact=True).click()
    form = page.locator("form.sign-in")
    expect(form.get_by_label("Initials")).to_have_value("AA")
    form.get_by_label("Password").fill("not the password")
    page.keyboard.press("Enter")
    expect(form.get_by_role("alert")).to_have_text("Initials and password do not match.")
    form.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(form).to_be_hidden()
    expect(page.locator(".so-away")).to_be_hidden()
    assert page.context.cookies() != with_session
    adding.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("ZZ can sign in now as reviewer")).to_be_visible()
    expect(page.locator(".so-people").get_by_role("row", name="ZZ")).to_contain_text("Zoe Zenith")


@pytest.mark.smoke
def test_a_reviewer_sees_people_but_changes_none(campaign: Store, campaign_address: str, page: Page) -> None:
    campaign.accounts.add_person("RE", "Rosa Eder", ["reviewer"], PASSWORD)
    enter(page, campaign_address, "RE", PASSWORD)
    open_tab(page, "People")
    expect(page.get_by_text("Only coordinators change people and rules")).to_be_visible()
    expect(page.get_by_role("cell", name="Rosa Eder")).to_be_visible()
    for name in ("Add a person", "Webhooks", "Change RE"):
        expect(page.locator(".so-people").get_by_role("button", name=name)).to_be_hidden()
    page.get_by_role("button", name="Rules").click()
    expect(page.get_by_text("2 people audit each revised item")).to_be_visible()
    expect(page.get_by_label("Votes")).to_be_disabled()
    expect(page.get_by_role("button", name="Save rules")).to_be_hidden()
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_hidden()


def test_inspections_that_differ_are_listed_in_progress_once_the_round_is_over(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    for item in (1, 4):
        for person, z, spectype in (("AA", 0.3688123, "QSO"), ("BB", 0.0, "STAR")):
            inspection = Inspection(person, z=z, quality=4, spectype=spectype)
            campaign.inspections.add(item_id=item, inspection=inspection, key=f"{person} on {item}")
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "Progress")
    items = page.locator(".so-progress").get_by_role("definition").first
    expect(items).to_have_text("4")
    row = page.locator(".so-progress tr", has=page.get_by_role("link", name="a.fits")).last
    expect(row).to_contain_text("z, class")
    expect(row).to_contain_text("AA z 0.3688123 quality 4 QSO; BB z 0.00000 quality 4 STAR")
    agreement = f"{campaign_address}/api/v1/progress/agreement"
    conflicts = page.request.get(agreement).json()["conflicts"]
    assert (conflicts["total"], [conflict["id"] for conflict in conflicts["items"]]) == (1, [1]), "4 is in screening"
    assert page.request.get(f"{agreement}?batch=second").json()["conflicts"]["total"] == 0
    # The numbers are counted again whenever the tab is opened.
    open_tab(page, "People")
    spectrum = a_spectrum("late.fits")
    campaign.items.add_all([Draft(a_trace(spectrum), spectrum)])
    open_tab(page, "Progress")
    expect(items).to_have_text("5")


@pytest.mark.smoke
def test_progress_draws_charts_and_defines_every_number(campaign: Store, campaign_address: str, page: Page) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "Progress")
    progress = page.locator(".so-progress")
    expect(progress.locator(".plot .main-svg").first).to_be_visible()
    expect(progress.get_by_role("definition")).to_have_text(
        ["4", "1", "2", "1", "0", "67\u202f% 2 of 3", "0\u202f% 0 of 2"]
    )
    expect(progress.locator(".chart").nth(0)).to_contain_text("4 items")
    expect(progress.locator(".chart").nth(1)).to_contain_text("2 versions")
    expect(progress.locator(".mine section")).to_have_text(
        [re.compile(r"^What you did\d+ decisions? today"), re.compile("^What waits for you"), re.compile("^When it is")]
    )
    tiles = progress.locator(".tiles")
    tiles.get_by_text("Disagreement").hover()
    expect(tiles.get_by_text("which they disagreed")).to_be_visible()
    agreement = progress.get_by_role("region", name="Agreement of reviewers")
    expect(agreement.get_by_role("row")).to_have_count(3)
    expect(agreement).to_contain_text("undefined: every decision is approve")
    agreement.locator("th .defined").first.hover()
    expect(agreement.get_by_text("the chance that they decided alike")).to_be_visible()
    # A card with nothing in it is one line, and a single bar is no thicker than one of many.
    nothing = progress.locator(".chart.line")
    expect(nothing.filter(has_text="People disagree on no item so far.")).to_be_visible()
    expect(nothing.filter(has_text="Undefined: nobody has committed a verdict")).to_be_visible()
    assert max(line.bounding_box()["height"] for line in nothing.all()) < 60
    bars = progress.locator(".chart").nth(0).locator(".barlayer .point path")
    assert max(bar.bounding_box()["height"] for bar in bars.all()) < 30
    progress.get_by_label("Batch").select_option("second")
    expect(progress.get_by_role("definition").nth(5)).to_have_text("0\u202f% 0 of 1")
    undefined = progress.get_by_role("definition").nth(6)
    expect(undefined).to_have_text("undefined: no item was judged by two people yet")
    assert "NaN" not in progress.inner_text()
