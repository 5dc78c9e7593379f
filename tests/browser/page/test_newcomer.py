"""The tasks of a newcomer: each in few clicks, and everything that is clicked in sight without scrolling.

The tasks are those that two people tried on an earlier page, where seven of them were not found.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.tasks import load
from reviewer.drafting import demo
from reviewer.store import Draft, QueueFilter, Store
from tests.browser.support.live_app import write_csv
from tests.browser.support.review_app import PASSWORD, comes_true, drag, serving_here, settled
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved

pytestmark = pytest.mark.browser
WIDTH, HEIGHT = 1366, 768
OBJECT = 8  # the item with coordinates


class Newcomer:
    """Clicks only what is in sight at once, and counts."""

    def __init__(self, page: Page, store: Store, folder: Path) -> None:
        self.page, self.store, self.folder = page, store, folder
        self.clicks = 0

    def sees(self, what: Locator) -> Locator:
        """Require that it is in the window and that nothing lies over it."""
        expect(what).to_be_in_viewport(ratio=0.95)
        reached = """(e) => {
          const { x, y, width, height } = e.getBoundingClientRect()
          return e.contains(document.elementFromPoint(x + width / 2, y + height / 2))
        }"""
        comes_true(what, reached)
        return what

    def clicks_on(self, what: Locator) -> None:
        self.sees(what).click()
        self.clicks += 1

    def presses(self, name: str, within: Locator | Page | None = None, role: str = "button") -> None:
        self.clicks_on((within or self.page).get_by_role(role, name=re.compile(f"^{name}")))

    def opens(self, tab: str) -> None:
        self.presses(tab, role="tab")

    def chooses_more(self, entry: str) -> None:
        self.clicks_on(self.page.locator(".so-review .so-more"))
        self.clicks_on(self.page.locator(".so-review .so-menu:popover-open .entry", has_text=entry))

    def dialog(self) -> Locator:
        dialog = self.page.locator("dialog.panel")
        expect(dialog).to_be_visible()
        return dialog


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six items of the demo, an approved one, and one with coordinates; AA coordinates, RE reviews."""
    path = tmp_path_factory.mktemp("newcomer") / "campaign.db"
    with a_store(path) as store:
        store.accounts.set_password("AA", "AA", PASSWORD)
        store.accounts.add_person("RE", "Rosa Eder", ["reviewer"], PASSWORD)
        store.items.add_all(Draft(t, s, batch="demo") for s, t in islice(demo.demo_items(), 6))
        spectrum = a_spectrum("approved.fits")
        add_approved(store, (a_trace(spectrum), spectrum))
        ids = {"plate-mjd-fiber": "332-52367-639"}
        about = {
            "name": "spec-0332-52367-0639.fits",
            "survey": "SDSS",
            "ids": ids,
            "ra": 184.03,
            "dec": -2.24,
            "meta": {},
        }
        seen = replace(simulate("qso", "SDSS", 35, 3, 0.1), **about)
        store.items.add_all([Draft(run(seen, load()["cv"], Baseline()), seen, batch="plate 332")])
    return path


@pytest.fixture
def newcomer(prepared: Path, tmp_path: Path, page: Page) -> Iterator[Newcomer]:
    with Store.open(Path(shutil.copy(prepared, tmp_path))) as store, serving_here(store) as address:
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.goto(address)
        page.get_by_label("Initials").fill("AA")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button").click()
        page.wait_for_function("window.specO3?.review?.current?.place")
        page.get_by_role("button", name="Skip the tour").click()
        settled(page)
        yield Newcomer(page, store, tmp_path)


def keep_reject_undo_next(new: Newcomer) -> None:
    item = new.page.locator(".so-review header.item .name")
    expect(item).to_have_text("demo-0001")
    new.presses("Keep")
    expect(item).to_have_text("demo-0002")
    new.presses("Undo")
    expect(item).to_have_text("demo-0001")
    new.presses("Next")
    expect(item).to_have_text("demo-0002")
    new.presses("Reject")
    new.sees(new.dialog().get_by_role("radio").first)


def enlarge_the_picture_of_the_agent(new: Newcomer) -> None:
    new.presses("as the agent saw it")
    picture = new.page.locator(".so-review .so-agent img")
    new.sees(picture)
    large = "(e) => e.naturalWidth > 0 && e.clientWidth > 0.4 * innerWidth"
    comes_true(picture, large)


def zoom_and_back(new: Newcomer) -> None:
    shown = "window.specO3.review.spectrum.full.geometry.range"
    before = new.page.evaluate(shown)
    drag(new.page, "full", 5000, 6000)
    new.page.wait_for_function(f"([lo]) => {shown}[0] > lo + 500", arg=before)
    new.chooses_more("zoom out")
    new.page.wait_for_function(f"([lo]) => {shown}[0] === lo", arg=before)


def revise_an_item_that_i_kept(new: Newcomer) -> None:
    new.presses("Keep")
    expect(new.page.locator(".so-review header.item .name")).to_have_text("demo-0002")
    new.clicks_on(new.page.locator(".so-review .queue [role=option]", has_text="revision"))
    expect(new.page.locator(".so-review header.item .name")).to_have_text("demo-0001")
    new.clicks_on(new.page.locator(".so-review .card.think .number").first)
    new.page.keyboard.press("Enter")
    expect(new.page.locator(".so-review .card.think textarea").first).to_be_focused()


def find_the_object_in_other_archives(new: Newcomer) -> None:
    new.clicks_on(new.page.locator(".so-review .queue [role=option]").last)
    expect(new.page.locator(".so-review header.item .name")).to_have_text("spec-0332-52367-0639")
    header = new.page.locator(".so-review header.item")
    expect(new.sees(header.locator(".place"))).to_contain_text("12 16")
    for archive in ("Gaia", "SDSS"):
        expect(new.sees(header.get_by_role("link", name=archive))).to_have_attribute(
            "href", re.compile("=184.03|plate=332")
        )


def add(new: Newcomer, policy: str, *names: str) -> None:
    new.opens("Data")
    new.presses("Add spectra")
    for seed, name in enumerate(names, 20):
        write_csv(new.folder / name, seed)
    dialog = new.dialog()
    with new.page.expect_file_chooser() as chooser:
        new.presses("Choose files", dialog)
    chooser.value.set_files([new.folder / name for name in names])
    new.sees(dialog.get_by_label("Question: is it a …")).select_option("cv")
    new.sees(dialog.get_by_label("Drafted by")).select_option(policy)
    new.presses("Draft$", dialog)
    expect(new.page.locator(".so-review header.item .name")).to_have_text(Path(names[0]).stem)


def add_own_spectra(new: Newcomer) -> None:
    add(new, "baseline", "mine.csv")


def draft_many_files_by_a_model(new: Newcomer) -> None:
    add(new, "nano", "one.csv", "two.csv", "three.csv")
    drafted = [new.store.items.get(OBJECT + number).row.drafter_name for number in (1, 2, 3)]
    assert all(name.startswith("nano") for name in drafted)


def export(new: Newcomer) -> None:
    new.opens("Data")
    new.presses("Export …")
    new.presses("Export", new.dialog())
    new.sees(new.page.get_by_role("row", name=re.compile("approved-")))


def train_on_the_export(new: Newcomer) -> None:
    export(new)
    new.presses("Train, share", new.page.get_by_role("row", name=re.compile("approved-")))
    expect(new.sees(new.dialog().locator(".command").first)).to_contain_text("spec-o3 sft")


def add_a_colleague(new: Newcomer) -> None:
    new.opens("People")
    new.presses("Add a person")
    dialog = new.dialog()
    new.sees(dialog.get_by_label("Initials")).fill("NC")
    new.sees(dialog.get_by_label("Full name")).fill("New Colleague")
    new.presses("Generate a password", dialog)
    new.presses("Add$", dialog)
    new.sees(new.page.get_by_role("row", name="New Colleague"))


def see_who_decided_what(new: Newcomer) -> None:
    new.presses("Keep")
    new.clicks_on(new.page.locator(".so-review .queue [role=option]", has_text="revision"))
    new.presses("history")
    expect(new.sees(new.dialog())).to_contain_text(re.compile("AA.*keep", re.DOTALL))


def assign_an_item(new: Newcomer) -> None:
    new.chooses_more("assign")
    dialog = new.dialog()
    new.clicks_on(dialog.get_by_label(re.compile("Rosa Eder")))
    new.presses("Assign 1 item", dialog)
    expect(dialog).to_be_hidden()
    expect(new.page.locator(".toast")).to_contain_text("Assigned")
    assert new.store.queue.page(QueueFilter(assigned="RE"), "AA").total == 1


def compare_two_policies(new: Newcomer) -> None:
    new.opens("Live")
    new.presses("Try one from the library")
    new.presses("Run", new.page.get_by_role("toolbar", name="Run"))
    done = new.page.locator(".so-live .run-tab", has_text="YES")
    expect(done).to_have_count(1)
    new.sees(new.page.locator(".so-live .policy select")).select_option("nano")
    new.presses("(Run|Again)", new.page.get_by_role("toolbar", name="Run"))
    new.presses("Compare")
    new.clicks_on(new.page.locator(".others-sheet:popover-open li button").first)
    expect(new.sees(new.page.locator(".so-live .second .differences"))).to_contain_text("in both")


def save_the_plot_and_the_spectrum(new: Newcomer) -> None:
    for entry, suffix in (("Figure (PNG)", ".png"), ("Spectrum (CSV)", ".csv")):
        with new.page.expect_download() as saved:
            new.chooses_more(entry)
        assert saved.value.suggested_filename.endswith(suffix)
        assert saved.value.path().stat().st_size > 1000


def what_the_five_rounds_are(new: Newcomer) -> None:
    new.presses("Help")
    new.presses("The five rounds", role="menuitem")
    expect(new.sees(new.dialog())).to_contain_text(
        re.compile("screening.*revision.*audit.*vote", re.DOTALL | re.IGNORECASE)
    )


def chinese(new: Newcomer) -> None:
    new.presses("Help")
    new.presses("中文", role="menuitemradio")
    new.page.wait_for_function("document.documentElement.lang.startsWith('zh')")
    new.page.wait_for_function("window.specO3?.review?.current?.place")


TASKS: tuple[tuple[Callable[[Newcomer], None], int], ...] = (
    (keep_reject_undo_next, 4),
    (enlarge_the_picture_of_the_agent, 1),
    (zoom_and_back, 2),
    (revise_an_item_that_i_kept, 3),
    (find_the_object_in_other_archives, 1),
    (add_own_spectra, 4),
    (draft_many_files_by_a_model, 4),
    (export, 3),
    (train_on_the_export, 4),
    (add_a_colleague, 4),
    (see_who_decided_what, 3),
    (assign_an_item, 4),
    (compare_two_policies, 6),
    (save_the_plot_and_the_spectrum, 4),
    (what_the_five_rounds_are, 2),
    (chinese, 2),
)


@pytest.mark.parametrize(("task", "clicks"), TASKS, ids=lambda value: getattr(value, "__name__", ""))
def test_it_is_found_in_few_clicks(newcomer: Newcomer, task: Callable[[Newcomer], None], clicks: int) -> None:
    task(newcomer)
    assert newcomer.clicks == clicks
