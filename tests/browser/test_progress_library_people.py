"""The Progress and People tabs and the sign-in page, in a real browser on the real app."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from reviewer.rules.inspection import Inspection
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from tests.browser.support.review_app import serving_here
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
    expect(page.get_by_text("You work here without a password")).to_be_visible()
    add_person(page, "CD", "Cyril Dune", "another password")
    expect(page.get_by_text("Set your own password first")).to_be_visible()
    page.get_by_placeholder("New password, 8").fill(PASSWORD)
    page.get_by_placeholder("Repeat the password").fill(PASSWORD)
    page.get_by_role("button", name="Set my password").click()
    expect(page.get_by_text("This is a team now")).to_be_visible()
    # The person goes on where they are, with what they typed.
    expect(page.get_by_label("Initials", exact=True)).to_have_value("CD")
    expect(page.get_by_text("adding the second person sets the rules of a team")).to_be_visible()
    expect(page.locator("#so-person .who")).to_have_text("AB · auditor, coordinator, reviewer")
    page.get_by_role("button", name="Generate a password").click()
    expect(page.get_by_text("Copy this password now")).to_be_visible()
    first = page.get_by_label("First password")
    expect(first).not_to_have_attribute("type", "password")
    generated = first.input_value()
    page.get_by_label("Initials", exact=True).fill("CD")
    page.get_by_label("Full name").fill("Cyril Dune")
    expect(page.get_by_label("Set the rules of a team: 2 audits, 2 votes")).to_be_checked()
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("CD can sign in now as reviewer. The rules of a team apply: 2 people")).to_be_visible()
    expect(page.get_by_text("let one person do every round")).to_be_hidden()
    assert store.settings.rules() == Rules()
    assert store.accounts.sign_in("CD", generated).person == "CD"
    page.get_by_placeholder("Name shown").fill("Cyril van Dune")
    page.get_by_role("button", name="Change name").click()
    expect(page.get_by_text("CD is shown as Cyril van Dune now.")).to_be_visible()
    assert store.accounts.person("CD").name == "Cyril van Dune"
    page.get_by_label("To approve", exact=True).fill("3")
    refused = page.get_by_text("“To approve” cannot exceed the number of votes (2).")
    expect(refused).to_be_visible()
    page.get_by_role("button", name="Save rules").click()
    expect(page.get_by_text("Not saved: correct the numbers first.")).to_be_visible()
    expect(refused).to_have_count(1)
    page.get_by_label("Votes", exact=True).fill("3")
    expect(page.get_by_text("3 people vote: 3 to approve make it approved")).to_be_visible()
    page.get_by_role("button", name="Save rules").click()
    expect(page.get_by_text("Saved. The new rules apply to open rounds")).to_be_visible()
    assert store.settings.rules() == Rules(auditors=2, votes=3, approve_at=3, reject_at=2)
    assert [(p.initials, p.has_password) for p in store.accounts.people()] == [("AB", True), ("CD", True)]


@pytest.mark.smoke
def test_a_session_that_ended_is_renewed_where_the_person_is(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    """Only Gradio's own requests are refused here; what was typed into its form stays."""
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "People")
    expect(page.get_by_role("button", name="Save rules")).to_be_visible()
    with suppress(TimeoutError):
        page.wait_for_load_state("networkidle", timeout=5_000)
    with_session = page.context.cookies()
    page.context.clear_cookies()
    add_person(page, "ZZ", "Zoe Zenith", "another password")
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
    expect(page.get_by_label("Full name")).to_have_value("Zoe Zenith")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("ZZ can sign in now as reviewer")).to_be_visible()


def add_person(page: Page, initials: str, name: str, password: str) -> None:
    page.get_by_label("Initials", exact=True).fill(initials)
    page.get_by_label("Full name").fill(name)
    page.get_by_label("First password").fill(password)
    page.get_by_role("button", name="Add", exact=True).click()


@pytest.mark.smoke
def test_a_reviewer_sees_people_but_changes_none(campaign: Store, campaign_address: str, page: Page) -> None:
    campaign.accounts.add_person("RE", "Rosa Eder", ["reviewer"], PASSWORD)
    enter(page, campaign_address, "RE", PASSWORD)
    open_tab(page, "People")
    expect(page.get_by_text("Only coordinators change people and rules")).to_be_visible()
    expect(page.get_by_role("cell", name="Rosa Eder")).to_be_visible()
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
    tiles = progress.locator(".tiles")
    tiles.get_by_text("Disagreement").hover()
    expect(tiles.get_by_text("which they disagreed")).to_be_visible()
    agreement = progress.locator(".agreement")
    expect(agreement.nth(0).get_by_role("row")).to_have_count(3)
    expect(agreement.nth(0)).to_contain_text("undefined: every decision is approve")
    agreement.nth(0).locator("th .defined").first.hover()
    expect(agreement.nth(0).get_by_text("the chance that they decided alike")).to_be_visible()
    expect(agreement.nth(1)).to_contain_text("People disagree on no item so far.")
    expect(agreement.nth(3)).to_contain_text("Undefined: nobody has committed a verdict")
    progress.get_by_label("Batch").select_option("second")
    expect(progress.get_by_role("definition").nth(5)).to_have_text("0\u202f% 0 of 1")
    undefined = progress.get_by_role("definition").nth(6)
    expect(undefined).to_have_text("undefined: no item was judged by two people yet")
    assert "NaN" not in progress.inner_text()
