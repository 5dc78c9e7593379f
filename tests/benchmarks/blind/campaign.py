"""A campaign with known true values through the real pages in Chromium, and what its report finds; Markdown.

    python -m tests.benchmarks.blind.campaign --output FOLDER [--spectra 50] [--seed 2026] [--screenshots]

The session of the paper: six people score 50 + 50 traces of two sources on the same spectra from 0 to 5 in two
dimensions, compare 50 pairs, and two model judges do the same. A coordinator sets the session up in the form; each
person signs in and answers by keyboard; the judges answer ``spec-o3 blind judge`` over HTTP. People and judges are
simulated: their answers come from the model below, whose true values are in the table beside those of the report.
The database and the report's files stay in FOLDER, which must be new.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from agent import tool
from agent.plot import pixels_sha256
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Verdict, Zoom
from reviewer.blind.power import CENTRE, DEFAULT, Spread
from reviewer.blind.report.names import report_names
from reviewer.store import Draft, Store
from tests.benchmarks.blind.coverage import expected, true_icc
from tests.benchmarks.results import Results
from tests.browser.support.blind_app import blind, in_front
from tests.browser.support.review_app import serving, spec_o3
from tests.support.blind_campaign import PASSWORD
from tests.support.chromium import launch
from tests.support.model_server import BadServer, Say

SOURCES = ("model-east", "model-west")
SURVEYS = ("LAMOST", "SDSS")
SCORERS = ("AA", "BB", "CC", "DD", "EE", "FF")
DIMENSIONS = ("coherence", "consistency")
TASK = "cv"
LEAD = {"coherence": 0.0, "consistency": 0.5}
"""True difference of the sources before rounding, the first less the second."""
SPREAD = replace(DEFAULT, taste=0.1)
PREFERENCE_LEAD, TIE = 0.8, 1.0
"""Log odds that the first source is preferred among decided answers, for a pair of equal luck; Davidson's parameter."""
CANNOT_TELL = 0.03
JUDGES = {"judge-sees": 0.6, "judge-reads": 1.2}
"""Standard deviation of the error of each judge, in points of the scale."""
WINDOWS = ((6450.0, 6680.0, "Hα"), (4780.0, 4940.0, "Hβ"), (5800.0, 5960.0, "He I"))


@dataclass(frozen=True)
class Quality:
    """The true level of a trace in each dimension, without any scorer."""

    spectrum: int
    source: int
    levels: Mapping[str, float]


class People:
    """The simulated scorers: what each answers about a trace or a pair."""

    def __init__(self, rng: np.random.Generator, spread: Spread = SPREAD) -> None:
        self.spread = spread
        self.severity = {one: {d: rng.normal(0, spread.scorer) for d in DIMENSIONS} for one in SCORERS}
        self.taste = {(one, s): {d: rng.normal(0, spread.taste) for d in DIMENSIONS} for one in SCORERS for s in (0, 1)}
        self._rng = rng

    def score(self, who: str, trace: Quality, dimension: str) -> str:
        """Return the key to press: a digit, or t for "cannot tell"."""
        if self._rng.random() < CANNOT_TELL:
            return "t"
        level = trace.levels[dimension] + self.severity[who][dimension] + self.taste[who, trace.source][dimension]
        return str(int(np.clip(np.rint(level + self._rng.normal(0, self.spread.rest)), 0, 5)))

    def preference(self, left: Quality, right: Quality) -> str:
        """Return the key to press: 1 left, 2 right, 3 equal, 4 both bad. By Davidson's model."""
        first, second = exp(PREFERENCE_LEAD / 2), exp(-PREFERENCE_LEAD / 2)
        tie = TIE * (first * second) ** 0.5
        chance = self._rng.random() * (first + second + tie)
        if chance >= first + second:
            return "3" if self._rng.random() < 0.7 else "4"
        better = 0 if chance < first else 1
        return "1" if left.source == better else "2"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.blind.campaign", description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="a new folder")
    parser.add_argument("--spectra", type=int, default=50, help="spectra with a trace of each source (50)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all answers (2026)")
    parser.add_argument("--screenshots", action="store_true", help="screenshots of the report at four widths")
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True)
    db = chosen.output / "annotations.db"
    rng = np.random.default_rng(chosen.seed)
    traces = fill(db, chosen.spectra, rng)
    people = People(rng)
    begun = time.perf_counter()
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright, serving(db) as url:
        browser = launch(playwright)
        with blind(browser, url, "CO") as page:
            set_up(page, repeats=min(5, chosen.spectra // 4))
        for who in SCORERS:
            with blind(browser, url, who) as page:
                answer_all(page, who, people, traces)
            print(f"{who} has answered, {time.perf_counter() - begun:.0f} s", flush=True)
        for name, error in JUDGES.items():
            judge(db, name, error, traces, np.random.default_rng([chosen.seed, len(name)]))
        with blind(browser, url, "CO") as page:
            close(page)
        spec_o3("blind", "report", "1", "--db", str(db), "--out", chosen.output / "report")
        if chosen.screenshots:
            screenshots(browser, chosen.output)
        browser.close()
    with Store.open(db) as store:
        names = report_names(store.blind.results.of_session(None, 1), {}).scorers
    compare(chosen.output / "report", dict(true_values(people, names)))


def fill(db: Path, spectra: int, rng: np.random.Generator) -> dict[str, Quality]:
    """Make the database; return the true quality of each trace by the text of its first thought."""
    found: dict[str, Quality] = {}
    with Store.open(db) as store:
        for initials in SCORERS:
            store.accounts.add_person(initials, f"Scorer {initials}", ["reviewer"], password=PASSWORD)
        store.accounts.add_person("CO", "Cora", ["coordinator"], password=PASSWORD)
        drafts = []
        for number in range(spectra):
            spectrum = simulate(TASK, SURVEYS[number % 2], 20.0, number)
            hard = {d: rng.normal(0, SPREAD.spectrum) for d in DIMENSIONS}
            for source, name in enumerate(SOURCES):
                made = trace(spectrum, name, "YES" if rng.random() < 0.7 else "NO", rng)
                lead = {d: LEAD[d] * (source == 0) for d in DIMENSIONS}
                levels = {d: CENTRE + lead[d] + hard[d] + rng.normal(0, SPREAD.trace) for d in DIMENSIONS}
                found[made.steps[0].text] = Quality(number, source, levels)  # type: ignore[union-attr]
                drafts.append(Draft(made, spectrum))
        store.items.add_all(drafts)
    return found


def trace(spectrum: Spectrum, source: str, verdict: Verdict, rng: np.random.Generator) -> Trajectory:
    """Return a trace of the same form for each source, with pictures as the tool draws them."""
    frame, z = tool.frame_of(spectrum)
    width = -abs(rng.normal(20, 8))
    steps: list[Think | Zoom | Answer] = [
        Think("s1", f"The continuum rises to the blue; Hα seems to have an equivalent width near {width:.2f} Å.")
    ]
    for low, high, name in WINDOWS:
        arguments = {"wavelength_range": [low, high], "label": name}
        seen = tool.call(spectrum, arguments)
        at = len(steps)
        steps.append(Zoom(f"s{at + 1}", arguments, frame, z, spectrum.medium, seen.text, seen.ok, seen.picture))
        steps.append(Think(f"s{at + 2}", f"{name} is {'in emission' if rng.random() < 0.8 else 'weak'} here."))
    steps.append(Answer(f"s{len(steps) + 1}", verdict, "Judged by the Balmer lines."))
    return Trajectory(
        task=TASK,
        prompt="Is this a cataclysmic variable?",
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=tuple(steps),
        drafter=Drafter("model", source),
        redshift=spectrum.redshift,
        medium=spectrum.medium,
        overview=pixels_sha256(tool.overview(spectrum)),
        label="YES",
        simulated=True,
    )


def set_up(page: Page, repeats: int) -> None:
    """Fill in the form as a coordinator would, and open the session."""
    page.get_by_label("Name").fill("East against West")
    page.get_by_label("both", exact=True).check()
    for scorer in SCORERS:
        page.locator(f"[name=scorers][value={scorer}]").check()
    page.get_by_label("Scorers per").fill(str(len(SCORERS)))
    page.get_by_label("Hidden repeats per scorer").fill(str(repeats))
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("AA")
    page.get_by_role("button", name="Create session").click()
    expect(page.locator(".session")).to_be_visible()
    page.get_by_role("button", name="Open for scoring").click()
    expect(page.locator(".session header .pill")).to_have_text("open")


SHEET = """() => {
  const { sheet } = window.specO3.blind.scoring.current
  return { kind: sheet.kind, texts: sheet.traces.map((trace) => trace.steps[0].text) }
}"""


def answer_all(page: Page, who: str, people: People, traces: Mapping[str, Quality]) -> None:
    count = page.locator(".blind .place").count()
    for place in range(1, count + 1):
        in_front(page, place)
        sheet = page.evaluate(SHEET)
        shown = [traces[text] for text in sheet["texts"]]
        if sheet["kind"] == "pair":
            page.keyboard.press(people.preference(*shown))
        else:
            for dimension in DIMENSIONS:
                page.keyboard.press(people.score(who, shown[0], dimension))
        page.keyboard.press("Enter")
    expect(page.locator(".blind .notice.done")).to_contain_text(f"All {count} are answered")


def judge(db: Path, name: str, error: float, traces: Mapping[str, Quality], rng: np.random.Generator) -> None:
    """Let a simulated judge answer over HTTP."""

    def answer(body: Mapping[str, Any]) -> Say:
        content = body["messages"][1]["content"]
        text = content if isinstance(content, str) else "".join(b["text"] for b in content if b["type"] == "text")
        known = sorted((text.find(words), quality) for words, quality in traces.items() if words in text)
        if len(known) == 2:
            apart = sum(known[0][1].levels.values()) - sum(known[1][1].levels.values()) + rng.normal(0, 2 * error)
            better = "equal" if abs(apart) < 0.5 else "left" if apart > 0 else "right"
            return Say(json.dumps({"justification": "Truer.", "preference": better}))
        levels = known[0][1].levels
        scores = {d: int(np.clip(np.rint(levels[d] + rng.normal(0, error)), 0, 5)) for d in DIMENSIONS}
        return Say(json.dumps({"justification": "Sound.", **scores, "wrong_steps": []}))

    with BadServer(answer, models=(name,)) as server:
        arguments = ["blind", "judge", "1", "--db", str(db), "--server", server.url, "--concurrency", "1"]
        spec_o3(*arguments, *(["--text-only"] if name == "judge-reads" else []))


def close(page: Page) -> None:
    page.get_by_role("button", name="Close…").click()
    page.get_by_role("button", name="Close session").click()
    expect(page.locator(".session header .pill")).to_have_text("closed")


def screenshots(browser: Any, output: Path) -> None:
    for width in (390, 820, 1366, 1920):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto((output / "report" / "report.html").resolve().as_uri())
        page.screenshot(path=output / f"report-{width}.png", full_page=width == 1366)
        page.close()


Key = tuple[str, str, str, str]
"""Section, subject, dimension and name of a number in statistics.csv."""


def compare(report: Path, true: Mapping[Key, float]) -> None:
    """Print the true values beside those of the report, and whether the interval holds the true one."""
    with (report / "statistics.csv").open(encoding="utf-8") as opened:
        rows = {
            tuple(row[name] for name in ("section", "of", "dimension", "statistic")): row
            for row in csv.DictReader(opened)
        }
    results = Results()
    columns = dict.fromkeys(("true", "report", "from", "to"), "{:.2f}")
    table = results.table({"number": "", **columns, "within": ""})
    holds = 0
    for key, value in true.items():
        found, low, high = (float(rows[key][name]) if rows[key][name] else None for name in ("value", "low", "high"))
        inside = low is not None and high is not None and low <= value <= high
        holds += inside
        _, of, dimension, statistic = key
        table.row(
            ", ".join(filter(None, (statistic, of, dimension))), value, found, low, high, "yes" if inside else "no"
        )
    results.text(f"{holds} of {len(true)} intervals hold the true value; 95 % of them should.")


def true_values(people: People, names: Mapping[str, str]) -> Iterator[tuple[Key, float]]:
    """Yield the true values of numbers in the report: after rounding to the scale, for the stated population."""
    spread = people.spread
    within = sqrt(spread.spectrum**2 + spread.trace**2 + spread.rest**2)
    whole = sqrt(within**2 + spread.scorer**2 + spread.taste**2)
    less, over = f"{SOURCES[0]} less {SOURCES[1]}", f"{SOURCES[0]} over {SOURCES[1]}"
    for dimension in DIMENSIONS:
        levels = (CENTRE + LEAD[dimension], CENTRE)
        means = [expected(level, whole) for level in levels]
        for source, mean in zip(SOURCES, means, strict=True):
            yield ("scores", source, dimension, "mean"), mean
            yield ("agreement", source, dimension, "ICC(A,1)"), true_icc(spread, levels[SOURCES.index(source)] - CENTRE)
        yield ("differences", less, dimension, "difference"), means[0] - means[1]
        own = {
            who: [
                expected(level + people.severity[who][dimension] + people.taste[who, s][dimension], within)
                for s, level in enumerate(levels)
            ]
            for who in SCORERS
        }
        every = sum(sum(both) for both in own.values()) / (2 * len(own))
        yield (
            ("differences", less, dimension, "difference, these scorers"),
            sum(one - other for one, other in own.values()) / len(own),
        )
        for who, (one, other) in own.items():
            yield ("severity", names[who], dimension, "severity"), (one + other) / 2 - every
            yield ("by scorer", names[who], dimension, less), one - other
    first, second = exp(PREFERENCE_LEAD / 2), exp(-PREFERENCE_LEAD / 2)
    tie = TIE * sqrt(first * second)
    yield ("preference", over, "", "preferred, of decided"), first / (first + second)
    yield ("preference", over, "", "first better"), first / (first + second + tie)
    yield ("preference", over, "", "second better"), second / (first + second + tie)
    yield ("strength", SOURCES[0], "", "Davidson strength"), PREFERENCE_LEAD / 2
    yield ("bias", "all pairs", "", "left chosen"), 0.5


if __name__ == "__main__":
    main()
