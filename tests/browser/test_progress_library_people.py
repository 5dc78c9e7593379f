"""The Progress, Library and People tabs and the sign-in page, in a real browser on the real app."""

from __future__ import annotations

import json
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from playwright.sync_api import Page, TimeoutError, expect

from agent.simulate import simulate
from reviewer.exchange import exports as exporting
from reviewer.exchange.imports import own_row
from reviewer.rules.inspection import Inspection
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, QueueFilter, Store
from reviewer.ui import drafts, imports
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
    page.get_by_role("tab", name=name).click()
    if name == "Library":
        # This text comes from the server: Gradio handles the file fields from then on.
        expect(page.get_by_text("None yet.")).to_be_visible()
        # On a busy machine a page may keep a connection open all the time: wait five seconds at most.
        with suppress(TimeoutError):
            page.wait_for_load_state("networkidle", timeout=5_000)


def lamost_file(folder: Path) -> Path:
    """A simulated cataclysmic variable in LAMOST's five-row layout."""
    spectrum = simulate("cv", "LAMOST", 30.0, 1)
    rows = [spectrum.flux, spectrum.ivar, spectrum.wavelength, spectrum.mask, spectrum.mask]
    image = fits.PrimaryHDU(np.array(rows, np.float32))
    image.header["TELESCOP"] = "LAMOST"
    image.header["EXTEN0"] = "Flux, Inverse, Wavelength, Andmask, Ormask"
    path = folder / "spec-56414-TEST_sp01-001.fits"
    image.writeto(path)
    return path


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
    expect(page.locator("#so-person .who")).to_have_text("AB · auditor, coordinator, reviewer")
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
    dialog.get_by_role("button", name="Save rules").click()
    expect(refused).to_have_count(1)
    votes.fill("3")
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
def test_a_reviewer_sees_people_and_exports_but_changes_neither(
    campaign: Store, campaign_address: str, page: Page
) -> None:
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
    page.keyboard.press("Escape")
    open_tab(page, "Library")
    expect(page.get_by_text("Only coordinators can import and export")).to_be_visible()
    expect(page.get_by_role("heading", name="Past exports")).to_be_visible()
    for name in ("Draft with the baseline", "Import", "Export", "Stop"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    for name in ("Draft from survey files", "Import trajectories", "Withdraw a batch", "Export approved", "Backups"):
        expect(page.get_by_role("heading", name=name)).to_be_hidden()
    expect(page.get_by_label("Name of the folder")).to_be_hidden()


@pytest.mark.smoke
def test_a_coordinator_who_lost_the_role_is_refused_although_the_form_is_still_open(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    campaign.accounts.add_person("RE", "Rosa Eder", ["coordinator"], PASSWORD)
    enter(page, campaign_address, "RE", PASSWORD)
    open_tab(page, "Library")
    button = page.get_by_role("button", name="Export", exact=True)
    expect(button).to_be_enabled()
    page.get_by_label("Name of the folder").fill("mine")
    campaign.accounts.set_roles("AA", "RE", ["reviewer"])
    # The page only shows the rule; the handler has to hold without it.
    button.click()
    expect(page.get_by_text("Only a coordinator can do this; RE is reviewer.")).to_be_visible()
    assert campaign.settings.exports() == []


@pytest.mark.smoke
def test_survey_files_dropped_on_the_page_become_drafted_items(
    store: Store, address: str, page: Page, tmp_path: Path
) -> None:
    good, bad = lamost_file(tmp_path), tmp_path / "notes <b>.fits"
    bad.write_text("no spectrum")
    enter(page, address, "ab")
    open_tab(page, "Library")
    results = page.locator(".so-results tbody tr")
    drop(page, good, bad)
    page.get_by_role("button", name="Draft with the baseline").click()
    expect(page.get_by_text("choose a question")).to_be_visible()
    page.get_by_label("Question: is it a …").click()
    page.get_by_role("option", name="Cataclysmic").click()
    page.get_by_label("Batch name (for filtering)").first.fill("plate 56414")
    page.get_by_role("button", name="Draft with the baseline").click()
    expect(page.get_by_text("1 of 2 files had a problem")).to_be_visible()
    expect(results.filter(has_text=good.name)).to_contain_text("drafted 1 item #1")
    expect(results.filter(has_text="notes")).to_contain_text("refused")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Draft with the baseline")).to_be_enabled()
    drop(page, good)
    page.get_by_role("button", name="Draft with the baseline").click()
    expect(results.filter(has_text=good.name)).to_contain_text("nothing was added #1")
    row = store.items.get(1).row
    assert (row.survey, row.task, row.batch, row.drafter_kind) == ("LAMOST", "cv", "plate 56414", "baseline")


def test_while_drafting_runs_the_files_are_counted_and_it_can_be_stopped(
    store: Store, address: str, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits, baseline = threading.Event(), drafts.run

    def slow_run(*arguments: object) -> object:
        if len(store.queue.page(QueueFilter(), "AB").rows) == 1:
            assert waits.wait(60)
        return baseline(*arguments)

    monkeypatch.setattr(drafts, "run", slow_run)
    files = [tmp_path / f"star{number}.csv" for number in range(3)]
    for number, path in enumerate(files):
        rows = "\n".join(f"{w},{1 + (w * (number + 3)) % 11}" for w in range(4000, 8000, 2))
        path.write_text(f"wavelength,flux\n{rows}\n")
    enter(page, address, "ab")
    open_tab(page, "Library")
    drop(page, *files)
    page.get_by_label("Question: is it a …").click()
    page.get_by_role("option", name="Cataclysmic").click()
    button = page.get_by_role("button", name="Draft with the baseline")
    button.click()
    try:
        expect(page.get_by_text("Drafting file 2 of 3: star1.csv")).to_be_visible()
        expect(button).to_be_disabled()
        expect(page.locator(".so-results tbody tr").first.get_by_role("link", name="#1")).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_text("Stopped. Items drafted so far are in the queue.")).to_be_visible()
    finally:
        waits.set()
    expect(button).to_be_enabled()


def drop(page: Page, *paths: Path) -> None:
    page.locator("[data-testid=file-upload]").first.set_input_files(paths)
    for path in paths:
        expect(page.get_by_role("cell", name=path.name).first).to_be_visible()


@pytest.mark.smoke
def test_the_export_button_writes_a_folder_and_shows_its_path(
    campaign: Store, campaign_address: str, page: Page, tmp_path: Path
) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "Library")
    expect(page.get_by_text("2 approved items can be exported.")).to_be_visible()
    page.get_by_label("Name of the folder").fill("../outside")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("expected letters, digits")).to_be_visible()
    page.get_by_label("Name of the folder").fill("first")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("Written to")).to_contain_text(str(tmp_path / "campaign-exports" / "first"))
    row = page.get_by_role("row", name="first")
    expect(row).to_contain_text("2 items · 4 pictures · cv 2 · drafted by baseline 2")
    with page.expect_download() as download:
        row.get_by_role("link", name="manifest").click()
    manifest = json.loads(download.value.path().read_text())
    assert manifest == json.loads((tmp_path / "campaign-exports" / "first" / "manifest.json").read_text())
    assert [export.person for export in campaign.settings.exports()] == ["AA"]
    with page.expect_download() as download:
        row.get_by_role("link", name="zip").click()
    assert download.value.suggested_filename == "first.zip"
    inside = zipfile.ZipFile(download.value.path())
    assert json.loads(inside.read("first/manifest.json")) == manifest
    assert len([name for name in inside.namelist() if name.endswith(".png")]) == 4
    with page.expect_download() as download:
        page.get_by_role("link", name="Every decision as CSV", exact=True).click()
    assert download.value.suggested_filename == "decisions.csv"
    assert "2,b.fits,cv,vote,BB,approve,,YES," in download.value.path().read_text(encoding="utf-8")
    shutil.rmtree(tmp_path / "campaign-exports" / "first")
    answer = page.request.get(f"{campaign_address}/api/v1/exports/1/zip")
    assert answer.status == 404
    assert "The folder was moved, deleted, or replaced by a later export" in answer.json()["error"]


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
def test_an_export_is_imported_as_a_zip(
    campaign: Store, store: Store, address: str, page: Page, tmp_path: Path
) -> None:
    made = exporting.export(campaign, "again", folder=tmp_path / "out").folder
    packed = tmp_path / "again.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for path in made.rglob("*"):
            file.write(path, path.relative_to(made.parent))
    enter(page, address, "ab")
    open_tab(page, "Library")
    page.locator("[data-testid=file-upload]").nth(1).set_input_files(packed)
    expect(page.get_by_role("cell", name="again.zip").first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("2 new items in the queue.")).to_be_visible()
    before = {campaign.items.get(i).version.content_hash for i in campaign.queue.approved()}
    assert {store.items.get(i).version.content_hash for i in (1, 2)} == before


def test_importing_what_is_here_already_adds_nothing_and_links_to_it(
    campaign: Store, campaign_address: str, page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_QUICK", 60.0)  # the button waits for the end, also on a busy machine
    made = exporting.export(campaign, "again", folder=tmp_path / "out").folder
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "Library")
    upload = page.locator("[data-testid=file-upload]").nth(1)
    upload.set_input_files(made / "trajectories.jsonl")
    expect(page.get_by_role("cell", name="trajectories.jsonl").first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    first, second = campaign.queue.approved()
    expect(page.get_by_text("Nothing new. 2 are already approved here")).to_contain_text(f"(#{first}, #{second})")
    expect(page.get_by_role("cell", name="trajectories.jsonl")).to_have_count(0)
    spectrum = a_spectrum("a.fits")
    other = json.dumps(own_row(a_trace(spectrum, "NO"), spectrum))
    (tmp_path / "other.jsonl").write_text(other, encoding="utf-8")
    page.locator("[data-testid=file-upload]").nth(1).set_input_files(tmp_path / "other.jsonl")
    expect(page.get_by_role("cell", name="other.jsonl").first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 row of spectra that are here already for the same task")).to_be_visible()
    expect(page.get_by_role("row", name="other.jsonl 1 a.fits")).to_contain_text(f"here with another text: #{first}")
    assert campaign.queue.page(QueueFilter(), "AA").total == 4
    page.get_by_label("import them all the same").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 new item in the queue. 1 row of spectra")).to_be_visible()
    page.get_by_role("link", name="Open this batch in Review").click()
    expect(page.get_by_role("tab", name="Review")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".so-review .queue .rows").get_by_role("option")).to_have_count(1)
    expect(page).to_have_url(f"{campaign_address}/#item=5")


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


@pytest.mark.smoke
def test_tabs_show_what_waits_keep_their_place_and_have_keys(
    campaign: Store, campaign_address: str, page: Page
) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    tabs = page.locator("#so-tabs").first.get_by_role("tab")
    expect(page.get_by_role("tab", name="Review 1 waiting", exact=True)).to_be_visible()
    places = [tab.bounding_box() for tab in tabs.all()]
    open_tab(page, "Progress")
    waiting = page.locator(".so-progress .mine")
    expect(waiting).to_contain_text("1 item")
    # Others add items: the number grows in any tab with the next look at the server.
    campaign.items.add_all([Draft(a_trace(s), s) for s in (a_spectrum(f"{n}.fits") for n in range(9))])
    page.evaluate("window.specO3.review.queue.check()")
    expect(page.get_by_role("tab", name="Review 10 waiting", exact=True)).to_be_visible()
    assert [tab.bounding_box() for tab in tabs.all()] == places
    # The keys of the page.
    theme = page.locator("html").get_attribute("data-theme")
    page.keyboard.press("Shift+D")
    expect(page.locator("html")).not_to_have_attribute("data-theme", theme or "")
    page.keyboard.press("?")
    expect(page.locator("dialog.panel .key-sheet dd")).to_have_text(["dark or light", "this sheet"])
    page.keyboard.press("Escape")
    # A link of what waits opens Review with that filter.
    page.get_by_role("button", name="Refresh").click()
    waiting.get_by_role("button", name="screening").click()
    expect(page.locator(".so-review .queue .chips")).to_contain_text("screening")
    expect(page.locator(".so-review .queue-title")).to_contain_text("10 waiting")


@pytest.mark.smoke
def test_a_batch_is_withdrawn_and_restored_in_the_library(campaign: Store, campaign_address: str, page: Page) -> None:
    items = [
        added.item_id
        for added in campaign.items.add_all(
            [Draft(a_trace(s), s, batch="mis<take>") for s in (a_spectrum(f"{name}.fits") for name in "xyz")]
        )
    ]
    enter(page, campaign_address, "AA", PASSWORD)
    open_tab(page, "Library")
    page.get_by_label("Batch to withdraw").click()
    page.get_by_role("option", name=f"mis<take> · 3 items, #{items[0]} to #{items[-1]}").click()
    expect(page.get_by_text("3 items, none touched.")).to_be_visible()
    campaign.leases.take("BB", items[0])
    page.get_by_label("Only these items").fill("none")
    expect(page.get_by_text("found 'none', expected one item number")).to_be_visible()
    page.get_by_label("Only these items").fill("")
    expect(page.get_by_text("3 items, 1 of them touched by people. These stay:")).to_contain_text(
        f"#{items[0]} (open now)"
    )
    page.get_by_role("button", name="Withdraw 2 items").click()
    expect(page.get_by_text("2 items withdrawn.")).to_be_visible()
    assert [campaign.items.standing(item).state for item in items] == ["screening", "withdrawn", "withdrawn"]
    page.get_by_role("button", name="Restore 2 items").click()
    expect(page.get_by_text("2 items restored: in screening again.")).to_be_visible()
    assert [campaign.items.standing(item).state for item in items] == ["screening"] * 3
    page.get_by_role("link", name=f"#{items[0]}", exact=True).first.click()
    expect(page.get_by_role("tab", name="Review")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(f"{campaign_address}/#item={items[0]}")


DROP_A_FILE = """(selector) => {
    const files = new DataTransfer()
    files.items.add(new File(['1 2'], 'star.txt'))
    const target = selector ? document.querySelector(selector) : document.body
    return ['dragover', 'drop'].map((type) =>
        !target.dispatchEvent(new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true })))
}"""


def test_a_file_dropped_outside_a_box_never_replaces_the_page(campaign_address: str, page: Page) -> None:
    enter(page, campaign_address, "AA", PASSWORD)
    expect(page.locator(".so-top")).to_be_visible()
    for tab in ("Review", "Live", "Blind", "Progress", "Library", "People"):
        page.get_by_role("tab", name=tab).click()
        assert page.evaluate(DROP_A_FILE, "#so-tabs") == [True, True]
        assert page.evaluate(DROP_A_FILE, None) == [True, True]
        expect(page.locator(".so-drop-hint")).to_contain_text("Drop files into a box of the Library tab")
    text = """() => {
      const text = new DataTransfer()
      text.setData('text/plain', 'broad')
      const drop = { dataTransfer: text, bubbles: true, cancelable: true }
      return !document.body.dispatchEvent(new DragEvent('drop', drop))
    }"""
    assert page.evaluate(text) is False
