"""The Data tab in a real browser on the real app: spectra come in, exports go out, batches are taken back."""

from __future__ import annotations

import json
import re
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from agent.policies.baseline.rule import Baseline
from agent.trajectory import Zoom
from reviewer.exchange import exports as exporting
from reviewer.exchange.imports import own_row
from reviewer.store import Draft, QueueFilter, Store
from tests.agent.foreign import logs_atif
from tests.browser.page.test_accessibility import add_axe, violations
from tests.browser.support.review_app import PASSWORD, answered, held, let_go, serving_here, wait_for
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two approved items of the batch "first", two new ones of "mis<take>"; AA coordinates, RE reviews."""
    path = tmp_path_factory.mktemp("prepared") / "campaign.db"
    with a_store(path) as store:
        store.accounts.set_password("AA", "AA", PASSWORD)
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"], PASSWORD)
        traces = [(a_trace(s), s) for s in (a_spectrum(f"{name}.fits") for name in "abcd")]
        add_approved(store, *traces[:2])
        store.items.add_all([Draft(t, s, batch="mis<take>") for t, s in traces[2:]])
    return path


@pytest.fixture
def store(prepared: Path, tmp_path: Path) -> Iterator[Store]:
    with Store.open(Path(shutil.copy(prepared, tmp_path))) as store:
        yield store


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with serving_here(store) as address:
        yield address


def enter(page: Page, address: str, initials: str) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(address)
    page.get_by_label("Initials").fill(initials)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button").click()
    expect(page.locator(".so-review .decision-bar")).to_be_visible()


def open_data(page: Page, address: str, initials: str = "AA") -> None:
    enter(page, address, initials)
    page.get_by_role("tab", name="Data", exact=True).click()
    expect(page.locator(".so-data tbody tr")).to_have_count(2)


def dialog_of(page: Page, button: str) -> Locator:
    page.get_by_role("button", name=button).click()
    return page.locator("dialog.panel")


def a_star(number: int) -> str:
    return "wavelength,flux\n" + "\n".join(f"{w},{1 + (w * (number + 3)) % 11}" for w in range(4000, 8000, 2))


DROP = """(files) => {
    const transfer = new DataTransfer()
    for (const [name, text] of files) transfer.items.add(new File([text], name))
    const target = document.querySelector('dialog.panel') ?? document.querySelector('#so-tabs')
    return ['dragover', 'drop'].map((type) =>
        !target.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true })))
}"""


@pytest.mark.smoke
def test_spectra_dropped_on_any_tab_are_drafted_and_their_queue_is_opened(
    store: Store, address: str, page: Page
) -> None:
    enter(page, address, "AA")
    assert page.evaluate(DROP, [["star.csv", a_star(1)]]) == [True, True]
    dialog = page.locator("dialog.panel")
    expect(dialog).to_contain_text("1 file, 0.0 MB: star.csv")
    assert page.evaluate(DROP, [["notes.txt", "no spectrum"]]) == [True, True]
    expect(dialog).to_contain_text("2 files, 0.0 MB: star.csv, notes.txt")
    dialog.get_by_role("button", name="Draft", exact=True).click()
    expect(dialog.get_by_label("Question: is it a …")).to_be_focused()
    dialog.get_by_label("Question: is it a …").select_option("cv")
    dialog.get_by_label("Batch name").fill("plate 56414")
    dialog.get_by_role("button", name="Draft", exact=True).click()
    job = page.get_by_role("region", name="Adding spectra")
    expect(job).to_contain_text("1 new item in the queue. 1 of 2 files had a problem.")
    expect(job.get_by_role("row", name="notes.txt")).to_contain_text("refused: found")
    expect(page.get_by_role("row", name="plate 56414")).to_contain_text("screening 1")
    expect(job.get_by_role("link", name="#5", exact=True)).to_have_attribute("href", "#item=5")
    expect(job.locator(".sparkline path")).to_have_attribute("d", re.compile("^M"))
    job.get_by_role("button", name="Close").click()
    expect(job).to_have_count(0)
    # Without a problem the queue of what was added is opened.
    dialog = dialog_of(page, "Add spectra …")
    dialog.get_by_label("Files", exact=True).set_input_files(
        [{"name": "other.csv", "mimeType": "text/csv", "buffer": a_star(2).encode()}]
    )
    dialog.get_by_label("Question: is it a …").select_option("cv")
    dialog.get_by_label("Drafted by").select_option("nano")
    dialog.get_by_label("Batch name").fill("second plate")
    dialog.get_by_role("button", name="Draft", exact=True).click()
    expect(page).to_have_url(f"{address}/#item=6")
    expect(page.locator(".so-review .queue .rows").get_by_role("option")).to_have_count(1)
    assert store.items.get(6).row.drafter_name.startswith("nano")


def test_while_drafting_runs_the_page_can_be_left_and_it_can_be_stopped(
    address: str, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on, turn = threading.Event(), Baseline.turn

    def held(self: Baseline, conversation: object) -> object:
        assert goes_on.wait(60)
        return turn(self, conversation)

    monkeypatch.setattr(Baseline, "turn", held)
    open_data(page, address)
    page.evaluate(DROP, [[f"star{number}.csv", a_star(number)] for number in range(4)])
    dialog = page.locator("dialog.panel")
    dialog.get_by_label("Question: is it a …").select_option("cv")
    dialog.get_by_role("button", name="Draft", exact=True).click()
    job = page.get_by_role("region", name="Adding spectra")
    try:
        expect(job).to_contain_text("Drafting file 1 of 4")
        page.reload()
        page.get_by_role("tab", name="Data", exact=True).click()
        expect(job).to_contain_text("Drafting file 1 of 4")
        job.get_by_role("button", name="Stop").click()
    finally:
        goes_on.set()
    expect(job).to_contain_text("Stopped. Items drafted so far are in the queue.")


@pytest.mark.smoke
def test_an_export_is_made_described_and_downloaded(store: Store, address: str, page: Page, tmp_path: Path) -> None:
    open_data(page, address)
    dialog = dialog_of(page, "Export …")
    expect(dialog.get_by_label("Batch")).to_contain_text("first (2 approved)")
    dialog.get_by_label("Name of the folder").fill("../outside")
    dialog.get_by_role("button", name="Export", exact=True).click()
    failed = page.get_by_role("region", name="Export")
    expect(failed).to_contain_text("expected letters, digits")
    page.get_by_role("row", name="first").get_by_role("button", name="Export").click()
    expect(dialog.get_by_label("Batch")).to_have_value("first")
    dialog.get_by_label("Name of the folder").fill("round-1")
    dialog.get_by_role("button", name="Export", exact=True).click()
    folder = tmp_path / "campaign-exports" / "round-1"
    expect(page.get_by_text("Written to")).to_contain_text(str(folder))
    row = page.get_by_role("row", name="round-1")
    expect(row).to_contain_text("2 items · 4 pictures · cv 2 · drafted by baseline 2")
    with page.expect_download() as download:
        row.get_by_role("link", name="manifest").click()
    manifest = json.loads(download.value.path().read_text())
    assert manifest == json.loads((folder / "manifest.json").read_text())
    with page.expect_download() as download:
        row.get_by_role("link", name="zip").click()
    assert download.value.suggested_filename == "round-1.zip"
    inside = zipfile.ZipFile(download.value.path())
    assert json.loads(inside.read("round-1/manifest.json")) == manifest
    with page.expect_download() as download:
        page.get_by_role("link", name="Every decision as CSV", exact=True).click()
    assert "2,b.fits,cv,vote,BB,approve,,YES," in download.value.path().read_text(encoding="utf-8")
    row.get_by_role("button", name="Train, share").click()
    expect(dialog).to_contain_text(f"spec-o3 sft --config sft_qwen2_5_vl_7b --data {folder} --out runs/round-1")
    page.keyboard.press("Escape")
    shutil.rmtree(folder)
    answer = page.request.get(f"{address}/api/v1/exports/1/zip")
    assert answer.status == 404
    assert "The folder was moved, deleted, or replaced by a later export" in answer.json()["error"]


def test_a_catalogue_is_made_refused_and_downloaded(store: Store, address: str, page: Page, tmp_path: Path) -> None:
    store.views.create(person="AA", name="the first", items=[1], shared=False)
    open_data(page, address)
    dialog = dialog_of(page, "Catalogue …")
    for field, text in (
        ("Name of the folder", "paper"),
        ("Title", "Stars"),
        ("Authors", "Ada; Bo"),
        ("Licence", "CC0-1.0"),
    ):
        if field == "Title":
            dialog.get_by_text("More", exact=True).click()
        dialog.get_by_label(field).fill(text)
    dialog.locator("[name=task]").select_option("cv")
    make = dialog.get_by_role("button", name="Make it")
    make.click()
    card = page.get_by_role("region", name="Catalogue")
    folder = tmp_path / "campaign-catalogues" / "paper"
    expect(card).to_contain_text(f"2 objects with 2 spectra in {folder}", timeout=60_000)
    expect(card.get_by_role("row", name="2 items left out")).to_contain_text("not decided yet: screening")
    facts = json.loads((folder / "data" / "campaign.json").read_text())
    assert (facts["title"], facts["authors"], facts["licence"]) == ("Stars", ["Ada", "Bo"], "CC0-1.0")
    for link in (card.get_by_role("link", name="Download as a zip"), page.get_by_role("link", name="paper.zip")):
        with page.expect_download() as download:
            link.click()
        assert download.value.suggested_filename == "paper.zip"
        assert "paper/catalogue.csv" in zipfile.ZipFile(download.value.path()).namelist()
    # The name is taken.
    dialog_of(page, "Catalogue …").get_by_label("Name of the folder").fill("paper")
    dialog.locator("[name=task]").select_option("cv")
    dialog.get_by_label("Items").select_option("the first")
    make.click()
    expect(dialog.get_by_role("alert")).to_contain_text("found a catalogue, expected a new name")
    dialog.get_by_text("More", exact=True).click()
    dialog.get_by_label("Replace a catalogue of this name").check()
    make.click()
    expect(card).to_contain_text("1 object with 1 spectrum", timeout=60_000)


@pytest.mark.smoke
def test_a_batch_is_taken_back_and_restored(store: Store, address: str, page: Page) -> None:
    store.leases.take("BB", 3)
    open_data(page, address)
    page.get_by_role("row", name="mis<take>").get_by_role("button", name="Take back").click()
    dialog = page.locator("dialog.panel")
    expect(dialog).to_contain_text("2 items, 1 of them touched by people. These stay: #3 (open now).")
    dialog.get_by_label("Only these items").fill("none")
    expect(dialog).to_contain_text("found 'none', expected one item number")
    dialog.get_by_label("Only these items").fill("")
    expect(dialog.get_by_role("button", name="Withdraw 1 item")).to_be_visible()
    previews = held(page, "/api/v1/withdrawals$")
    dialog.get_by_label("Only these items").fill("all")
    dialog.get_by_label("Only these items").fill("")
    wait_for(page, previews, 2)
    answered(page, *reversed(previews))  # the refusal of the earlier text comes last
    expect(dialog).not_to_contain_text("found 'all'")
    let_go(page, [])
    dialog.get_by_role("button", name="Withdraw 1 item").click()
    expect(dialog).to_contain_text("1 item withdrawn.")
    assert [store.items.standing(item).state for item in (3, 4)] == ["screening", "withdrawn"]
    dialog.get_by_role("button", name="Restore 1 item").click()
    expect(dialog).to_contain_text("1 item restored: in screening again.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("row", name="mis<take>")).to_contain_text("screening 2")
    page.get_by_role("row", name="mis<take>").get_by_role("link", name="Open").click()
    expect(page.get_by_role("tab", name=re.compile("^Review"))).to_have_attribute("aria-selected", "true")
    expect(page.locator(".so-review .queue .rows").get_by_role("option")).to_have_count(2)


def test_an_export_is_imported_as_a_zip_and_what_is_here_adds_nothing(
    store: Store, address: str, page: Page, tmp_path: Path
) -> None:
    made = exporting.export(store, "again", folder=tmp_path / "out").folder
    packed = tmp_path / "again.zip"
    with zipfile.ZipFile(packed, "w") as file:
        for path in made.rglob("*"):
            file.write(path, path.relative_to(made.parent))
    open_data(page, address)
    dialog = dialog_of(page, "Import …")
    dialog.get_by_label("Files", exact=True).set_input_files(packed)
    dialog.get_by_role("button", name="Import", exact=True).click()
    job = page.get_by_role("region", name="Import")
    expect(job).to_contain_text("Nothing new. 2 are already approved here (#1, #2).")
    spectrum = a_spectrum("a.fits")
    other = json.dumps(own_row(a_trace(spectrum, "NO"), spectrum))
    # A drop of rows is an import.
    page.evaluate(DROP, [["other.jsonl", other]])
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(job).to_contain_text("1 row of spectra that are here already for the same task")
    expect(job.get_by_role("row", name="other.jsonl 1 a.fits")).to_contain_text("here with another text: #1")
    expect(job.locator(".details .sparkline path")).to_have_attribute("d", re.compile("^M"))
    assert store.queue.page(QueueFilter(), "AA").total == 4
    # The files are still in the dialog.
    dialog_of(page, "Import …").get_by_label("import them all the same").check()
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(job).to_contain_text("1 new item in the queue. 1 row of spectra")
    job.get_by_role("link", name="Open this batch in Review").click()
    expect(page.locator(".so-review .queue .rows").get_by_role("option")).to_have_count(1)
    expect(page).to_have_url(f"{address}/#item=5")


def test_logs_of_another_agent_become_items_and_a_missing_spectrum_is_named(
    store: Store, address: str, page: Page, tmp_path: Path
) -> None:
    files = []
    for name in ("stored", "missing"):
        (tmp_path / name).mkdir()
        spectrum = a_spectrum(f"{name}.fits")
        log = logs_atif.examples(a_trace(spectrum), spectrum, tmp_path / name)
        files.append(log.rename(log.with_name(f"{name}.json")))
    store.spectra.add(a_spectrum("stored.fits"))
    pictures = sorted((tmp_path / "stored").glob("*.png"))
    open_data(page, address)
    dialog = dialog_of(page, "Import …")
    expect(dialog).to_contain_text("logs of other agents (ATIF, Inspect, OpenTelemetry, Claude Code)")
    dialog.get_by_label("Files", exact=True).set_input_files([*files, *pictures])
    dialog.get_by_role("button", name="Import", exact=True).click()
    job = page.get_by_role("region", name="Import")
    expect(job).to_contain_text("Nothing was imported: 1 row cannot be used.")
    problem = job.get_by_role("row", name="logs.jsonl 1 missing.json")
    expect(problem).to_contain_text("found no spectrum 'missing.fits' in the database")
    # The files are still in the dialog.
    dialog_of(page, "Import …").get_by_label("Skip bad rows, import the rest").check()
    dialog.get_by_role("button", name="Import", exact=True).click()
    expect(job).to_contain_text("1 new item in the queue. 1 row skipped.")
    expect(problem).to_contain_text("found no spectrum 'missing.fits' in the database")
    expect(page.get_by_role("row", name="2 logs")).to_contain_text("screening 1")
    job.get_by_role("link", name="Open this batch in Review").click()
    expect(page).to_have_url(f"{address}/#item=5")
    trajectory = store.items.get(5).version.trajectory
    expected = [step for step in a_trace(a_spectrum("stored.fits")).steps if isinstance(step, Zoom)]
    assert [(zoom.picture, zoom.window) for zoom in trajectory.zooms] == [(z.picture, z.window) for z in expected]
    assert (trajectory.drafter.name, trajectory.faults) == ("model-x", ("after its answer the agent wrote: Done.",))


@pytest.mark.smoke
def test_a_reviewer_sees_batches_and_exports_and_drops_add_nothing(store: Store, address: str, page: Page) -> None:
    exporting.export(store, "past", person="AA")
    enter(page, address, "RE")
    for tab in ("Review", "Live", "Blind", "Progress", "People", "Data"):
        page.get_by_role("tab", name=re.compile(f"^{tab}")).click()
        assert page.evaluate(DROP, [["star.txt", "1 2"]]) == [True, True], "the browser does not open the file"
        expect(page.locator(".so-drop-hint")).to_contain_text("Only coordinators add spectra.")
    expect(page.get_by_text("Only coordinators can import and export")).to_be_visible()
    expect(page.get_by_role("row", name="mis<take>")).to_contain_text("screening 2")
    expect(page.get_by_role("row", name="past").get_by_role("link")).to_have_text(["manifest"])
    for name in ("Add spectra …", "Import …", "Export …", "Catalogue …", "Take back", "Back up now"):
        expect(page.get_by_role("button", name=name)).to_be_hidden()
    text = """() => {
      const text = new DataTransfer()
      text.setData('text/plain', 'broad')
      const drop = { dataTransfer: text, bubbles: true, cancelable: true }
      return !document.body.dispatchEvent(new DragEvent('drop', drop))
    }"""
    assert page.evaluate(text) is False


@pytest.mark.smoke
def test_a_coordinator_who_lost_the_role_is_refused_although_the_dialog_is_still_open(
    store: Store, address: str, page: Page
) -> None:
    store.accounts.set_roles("AA", "RE", ["coordinator"])
    open_data(page, address, "RE")
    dialog = dialog_of(page, "Export …")
    store.accounts.set_roles("AA", "RE", ["reviewer"])
    # The page only shows the rule; the route has to hold without it.
    dialog.get_by_role("button", name="Export", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("Only a coordinator can do this; RE is reviewer.")
    assert store.settings.exports() == []


CUT_OFF = """() => [...document.querySelectorAll('dialog.panel, dialog.panel *')]
  .filter((e) => e.checkVisibility() && e.getClientRects().length)
  .filter((e) => e.getBoundingClientRect().right > innerWidth ||
    (e.matches('button, p, dialog') && e.scrollWidth > e.clientWidth + 1))
  .map((e) => e.outerHTML.slice(0, 100))"""


def test_the_dialogs_fit_a_phone_and_axe_finds_nothing_in_them(address: str, page: Page) -> None:
    open_data(page, address)
    add_axe(page)
    for button in ("Add spectra …", "Import …", "Annotations …", "Export …", "Catalogue …", "Take back"):
        page.get_by_role("button", name=button).first.click()
        expect(page.locator("dialog.panel .fields").first).to_be_visible()
        assert violations(page) == [], button
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate(CUT_OFF) == [], button
        page.set_viewport_size({"width": 1366, "height": 768})
        page.keyboard.press("Escape")
